/** The flame graph: a track whose width is seconds of samples, not time; the time that is selected below it is its time. */
import { formatCount, formatDuration } from '../../lib/format';
import { lowerBound, upperBound } from '../../lib/search';
import { valueAxis } from '../../lib/ticks';
import { trans } from '../../lib/translate';
import type { TaskStore } from '../../store';
import type { Command } from '../timeline/commands';
import { rangeCommands } from '../timeline/commands';
import type { Box, Brush, Room } from '../timeline/drawing';
import type { ShownTime } from '../timeline/time';
import type { TimelineOptions } from '../timeline/timeline';
import { mountTimeline } from '../timeline/timeline';
import type { Drawn, Track, TrackContext } from '../timeline/track';
import type { ValuePlot, Values } from '../timeline/value-track';
import { ValueTrack } from '../timeline/value-track';
import { TextFitter, clipped } from '../ui/canvas';
import type { CanvasPoint } from '../ui/dom';
import type { LegendEntry } from '../ui/export';
import { savePicture } from '../ui/picture';
import type { ComponentChildren } from '../ui/render';
import type { TextTable } from '../ui/text-table';
import { Button } from '../ui/toolbar';
import type { FlameData, FlameFunction } from './data';
import type { Direction, FlameBar, FlameLayout } from './layout';
import { ROW_PX, barAt, drawFlame, layoutFlame, neighbour } from './layout';
import type { FlameNode } from './tree';
import { describeAll, describeNode, findSame, growTree, nameOf, ownTimes, walk } from './tree';

const GROUND = '#8b949e';
const STRIP_PX = 36;
/** The part of the last bin from which on its threads are told apart from chance. */
const MIN_PART = 0.1;
/** How wide it is taken to be before it was painted. */
const WIDTH_PX = 600;

const ARROWS: Readonly<Record<string, Direction>> = { ArrowUp: 'up', ArrowDown: 'down', ArrowLeft: 'left', ArrowRight: 'right' };

export interface FlameOptions extends TimelineOptions {
  /** Called when a call is chosen, with null for one without a function; absent where no source text is there. */
  readonly onFunction?: (chosen: FlameFunction | null) => void;
  /** What stands there while there are no samples. */
  readonly nothing?: string;
}

export interface FlameChart {
  /** Show other samples; `note` says why there are none, or fewer than was run. */
  show(data: FlameData | null, note: string | null): void;
  /** Show this below the graph: the source of the function that was chosen. */
  showSource(source: ComponentChildren): void;
}

/** Put a flame graph, and its samples over time, into `el`, until the signal aborts. */
export function mountFlame(el: HTMLElement, store: TaskStore, options: FlameOptions): FlameChart {
  const made: FlameTrack[] = [];
  mountTimeline(el, store, [
    context => {
      made.push(new FlameTrack(context, options));
      return made[0] ?? null;
    },
    context => new SamplesTrack(context, made[0] as FlameTrack)
  ], { savePicture, ...options });
  return made[0] as FlameTrack;
}

export type Bins = readonly [first: number, end: number];

/** The bins of which a part lies in a time; null: all of them. */
export function binsIn({ startS, binS }: FlameData, range: { readonly startS: number; readonly stopS: number } | null): Bins | null {
  return range && [upperBound(startS, startS.length, range.startS - binS), lowerBound(startS, startS.length, range.stopS)];
}

/** How many threads were in tasks in each bin, on average over the part of it before `endS`. */
export function threadsByBin({ startS, binS, ...rows }: FlameData, prefix: number | null, endS: number): Float64Array {
  const sums = new Float64Array(startS.length);
  for (let row = 0; row < rows.bin.length; row += 1) {
    if (prefix === null || rows.prefix[row] === prefix) {
      const bin = rows.bin[row] as number;
      sums[bin] = (sums[bin] as number) + (rows.seconds[row] as number);
    }
  }
  return sums.map((seconds, bin) => seconds / Math.max(Math.min(endS - (startS[bin] as number), binS), MIN_PART * binS));
}

class FlameTrack implements Track, FlameChart {
  readonly name = 'profile';
  readonly label = trans.__('Profile');
  readonly classes = ['tsk-flame', 'tsk-series'] as const;
  readonly css = FLAME_CSS;
  readonly isTimeless = true;
  data: FlameData | null = null;
  /** The prefix that is shown alone, by its number; null: all. */
  prefix: number | null = null;
  /** Grows when other samples or prefixes are shown. */
  news = 0;
  #version = 0;
  readonly #texts = new TextFitter();
  #input: HTMLInputElement | null = null;
  #note: string | null = null;
  #source: ComponentChildren = null;
  #prefixName: string | null = null;
  #bins = '';
  #root: FlameNode | null = null;
  #focus: FlameNode | null = null;
  #cursor: FlameNode | null = null;
  #layout: FlameLayout | null = null;
  /** What was searched for; empty: nothing. */
  #wanted = '';
  /** Whether the line under the graph says what was found, not where the cursor is. */
  #saysFound = false;
  #isFinding = false;
  #tables: readonly TextTable[] = [];

  constructor(private readonly context: TrackContext, private readonly options: FlameOptions) {}

  show(data: FlameData | null, note: string | null): void {
    const isEmpty = data === null || data.bin.length === 0;
    this.data = isEmpty ? null : data;
    this.#note = note ?? (isEmpty ? (this.options.nothing ?? trans.__('no samples yet')) : null);
    this.#grow();
  }

  showSource(source: ComponentChildren): void {
    this.#source = source;
    this.#changed();
  }

  update(): string | null {
    const bins = this.data === null ? '' : String(binsIn(this.data, this.context.axis.range));
    if (bins !== this.#bins) {
      this.#bins = bins;
      this.#grow();
    }
    return this.data === null ? (this.#note ?? '') : null;
  }

  shown(): readonly unknown[] {
    return [this.#version];
  }

  gutterPx(): number {
    return 0;
  }

  heightPx(): number {
    return this.#laidOut(this.context.room()?.plotWidthPx ?? WIDTH_PX)?.heightPx ?? 0;
  }

  draw({ context, room, theme }: Brush): Drawn {
    const [data, layout] = [this.data, this.#laidOut(room.plotWidthPx)];
    if (data !== null && layout !== null) {
      clipped(context, [room.plotLeftPx, 0, room.plotWidthPx, room.heightPx], () => {
        context.translate(room.plotLeftPx, -room.scrollPx);
        drawFlame(context, {
          layout, theme, found: this.#found(), texts: this.#texts,
          colourOf: node => (node.kind === 'all' ? GROUND : this.#colourOf(data.prefixes[node.prefix] ?? '')),
          nameOf: node => nameOf(data, node)
        });
      });
    }
    return 'exact';
  }

  hit(point: CanvasPoint | null, _timeS: number | null, room: Room): null {
    if (point !== null) {
      this.#point(this.#barAt(point, room)?.node ?? null);
    }
    return null;
  }

  hovered(room: Room): Box | null {
    const bar = this.#laidOut(room.plotWidthPx)?.bars.find(({ node }) => node === this.#cursor);
    return bar === undefined ? null : { leftPx: room.plotLeftPx + bar.xPx, topPx: bar.yPx - room.scrollPx, widthPx: Math.max(bar.widthPx - 1, 2), heightPx: ROW_PX - 1 };
  }

  click(point: CanvasPoint): void {
    const room = this.context.room();
    const bar = room === null ? null : this.#barAt(point, room);
    if (bar !== null) {
      this.#zoom(bar.node);
    }
  }

  cursor(): string {
    return 'pointer';
  }

  title(): string {
    return `${this.label}: ${this.#sum}`;
  }

  description(): string {
    return trans.__('Flame graph: %1. Arrows move, Enter zooms in, Escape out', this.#sum);
  }

  legend(): readonly LegendEntry[] {
    return (this.data?.prefixes ?? []).map(name => ({ name, colour: this.#colourOf(name) }));
  }

  tables(): readonly TextTable[] {
    return this.#tables;
  }

  commands(): readonly Command[] {
    return [
      { keys: Object.keys(ARROWS), shown: '← → ↑ ↓', does: trans.__('move to the next call'), run: key => { this.#move(ARROWS[key] ?? 'up'); } },
      { keys: ['Enter', ' '], shown: trans.__('Enter'), does: trans.__('zoom in to the call'), run: () => { this.#zoom(this.#cursor ?? this.#focus); } },
      { keys: ['Escape'], shown: trans.__('Esc'), does: trans.__('zoom out by one call'), run: () => { this.#zoom(this.#focus?.parent ?? this.#root); } },
      { text: trans.__('Fit'), label: trans.__('Fit: show everything (Home)'), at: 'bar', keys: ['Home'], shown: trans.__('Home'), does: trans.__('show everything'), run: () => { this.#zoom(this.#root); } },
      { text: trans.__('Find'), label: trans.__('Find a function (/)'), at: 'bar', keys: ['/'], shown: '/', does: trans.__('find a function'), run: () => { this.#find(); } },
      { text: trans.__('Copy as a table'), at: 'save', run: () => { this.context.exporter.copy(this.#tables); } }
    ];
  }

  head(): ComponentChildren {
    return (
      <>
        <div class="tsk-flame-sum">{this.#sum}</div>
        {this.data !== null && (
          <select
            aria-label={trans.__('Tasks shown')} value={this.#prefixName ?? ''}
            onChange={({ currentTarget: { value } }) => {
              this.#prefixName = value === '' ? null : value;
              this.#grow();
            }}
          >
            <option value="">{trans.__('all task types')}</option>
            {this.data.prefixes.map(name => <option value={name}>{name}</option>)}
          </select>
        )}
      </>
    );
  }

  bar(): ComponentChildren {
    const close = (): void => {
      this.#isFinding = false;
      this.#search('');
      this.context.focus();
    };
    return (
      <>
        {this.#isFinding && (
          <div class="tsk-bar tsk-flame-find" role="search" onKeyDown={event => { if (event.key === 'Escape') { event.preventDefault(); close(); } }}>
            <input
              type="search" placeholder={trans.__('Find a function')} aria-label={trans.__('Find a function')} value={this.#wanted} ref={el => { this.#input = el; }}
              onInput={({ currentTarget }) => { this.#search(currentTarget.value); }}
            />
            <Button text="×" label={trans.__('Close (Escape)')} act={close} />
          </div>
        )}
        <div class="tsk-flame-note" hidden={this.data === null || this.#note === null}>{this.#note}</div>
      </>
    );
  }

  foot(): ComponentChildren {
    return this.data !== null && <div class="tsk-flame-foot"><p class="tsk-flame-said" role="status">{this.#said()}</p>{this.#source}</div>;
  }

  get #sum(): string {
    return this.data === null || this.#root === null ? '' : describeAll(this.data, this.#root);
  }

  #colourOf(prefix: string): string {
    const { store } = this.context;
    return store.colour(store.tables.prefixId(prefix));
  }

  #changed(): void {
    this.#version += 1;
    this.context.request();
  }

  #grow(): void {
    const { data } = this;
    const place = this.#prefixName === null ? -1 : (data?.prefixes.indexOf(this.#prefixName) ?? -1);
    this.prefix = place < 0 ? null : place;
    this.news += 1;
    if (data !== null) {
      const root = growTree(data, { prefix: this.prefix, bins: binsIn(data, this.context.axis.range) });
      this.#root = root;
      this.#focus = this.#focus === null ? root : findSame(root, this.#focus);
      this.#cursor = this.#cursor === null ? null : findSame(root, this.#cursor);
      this.#tables = [ownTimes(data, root)];
      this.#saysFound = false;
    }
    this.#changed();
  }

  #move(direction: Direction): void {
    const [at, layout] = [this.#cursor ?? this.#focus, this.#laidOut(this.context.room()?.plotWidthPx ?? WIDTH_PX)];
    if (layout !== null && at !== null) {
      this.#point(neighbour(layout, at, direction));
      this.context.request();
    }
  }

  /** Have the line under the graph, and the outline, be of a call. */
  #point(node: FlameNode | null): void {
    if (node !== this.#cursor) {
      this.#cursor = node;
      this.#saysFound = false;
      this.#version += 1;
      this.context.render();
    }
  }

  #zoom(node: FlameNode | null): void {
    this.#focus = node;
    this.#saysFound = false;
    this.options.onFunction?.(node?.kind === 'function' ? (this.data?.functions[node.place] ?? null) : null);
    this.#changed();
  }

  #find(): void {
    this.#isFinding = true;
    this.#version += 1;
    this.context.render();
    this.#input?.focus();
    this.#input?.select();
  }

  #search(text: string): void {
    this.#wanted = text.trim().toLowerCase();
    this.#saysFound = true;
    this.#changed();
  }

  #found(): ReadonlySet<FlameNode> | null {
    const [wanted, { data }] = [this.#wanted, this];
    if (wanted === '' || this.#root === null || data === null) {
      return null;
    }
    const found = new Set<FlameNode>();
    walk(this.#root, node => {
      const file = node.kind === 'function' ? (data.functions[node.place]?.file ?? '') : '';
      if (node.kind !== 'all' && `${nameOf(data, node)} ${file}`.toLowerCase().includes(wanted)) {
        found.add(node);
      }
      return true;
    });
    return found;
  }

  #said(): string {
    const [{ data }, root, node] = [this, this.#root, this.#cursor ?? this.#focus];
    const found = this.#saysFound ? this.#found() : null;
    if (found !== null) {
      return trans._n('%2 call found', '%2 calls found', found.size, formatCount(found.size));
    }
    return data === null || root === null || node === null ? '' : describeNode(data, node, root);
  }

  #barAt({ xPx, yPx }: CanvasPoint, room: Room): FlameBar | null {
    const layout = this.#laidOut(room.plotWidthPx);
    return layout === null ? null : barAt(layout, xPx - room.plotLeftPx, yPx + room.scrollPx);
  }

  #laidOut(widthPx: number): FlameLayout | null {
    const [root, focus] = [this.#root, this.#focus];
    if (this.data === null || root === null || focus === null) {
      return null;
    }
    if (this.#layout?.root !== root || this.#layout.focus !== focus || this.#layout.widthPx !== widthPx) {
      this.#layout = layoutFlame(root, focus, widthPx);
    }
    return this.#layout;
  }
}

/** Seconds of samples over time: what is selected here is what the flame graph shows. */
class SamplesTrack extends ValueTrack {
  readonly name = 'samples';
  readonly label = trans.__('Samples over time');
  readonly tellsRange = true;

  constructor(context: TrackContext, private readonly flame: FlameTrack) {
    super(context);
  }

  isAbsent(): boolean {
    return (this.flame.data?.startS.length ?? 0) < 2;
  }

  protected sources(): readonly unknown[] {
    return [this.flame.news, this.context.axis.range];
  }

  protected read({ worked }: ShownTime): Values | string {
    const { data, prefix } = this.flame;
    if (data === null) {
      return trans.__('no samples yet');
    }
    const { startS, binS } = data;
    const { range } = this.context.axis;
    const threads = threadsByBin(data, prefix, worked.stopS);
    const format = (value: number): string => formatCount(Math.round(value * 100) / 100);
    const at = (timeS: number): string => formatDuration(timeS - this.zeroS);
    const paint: ValuePlot['paint'] = (brush, { topPx, heightPx, axis: { top } }) => {
      const { context } = brush;
      context.fillStyle = brush.theme.accent;
      threads.forEach((value, bin) => {
        const fromS = startS[bin] as number;
        const [leftPx, rightPx] = [brush.xAt(fromS), brush.xAt(Math.min(fromS + binS, worked.stopS))];
        const barPx = (value / top) * heightPx;
        context.fillRect(leftPx, topPx + heightPx - barPx, Math.max(rightPx - leftPx - 1, 0.5), barPx);
      });
    };
    const axis = valueAxis(threads.reduce((most, value) => Math.max(most, value), 0), 2, formatCount, true);
    return {
      plots: [{ title: trans.__('Threads in tasks, as sampled'), axis, heightPx: STRIP_PX, format, paint }],
      title: trans.__('Samples over time: a drag on the ruler, or X, selects the time of the flame graph; Escape selects all'),
      readings: timeS => {
        const bin = upperBound(startS, startS.length, timeS) - 1;
        return [bin < 0 || timeS >= (startS[bin] as number) + binS ? trans.__('no samples') : trans.__('%1 threads in tasks', format(threads[bin] as number))];
      },
      notes: [range === null ? trans.__('all of the time') : trans.__('from %1 to %2', at(range.startS), at(range.stopS))],
      tables: () => [{
        caption: this.label, columns: [trans.__('From'), trans.__('Threads in tasks')],
        rows: Array.from(threads, (value, bin) => [at(startS[bin] ?? 0), format(value)])
      }]
    };
  }

  /** Shift with arrows and Escape move the selected time here, not the cursor. */
  override commands(): readonly Command[] {
    const inherited = super.commands().filter(({ keys }) => keys === undefined);
    return [...rangeCommands(this.context), { keys: ['Escape'], shown: trans.__('Esc'), does: trans.__('select no time'), run: () => { this.context.axis.select(null); } }, ...inherited];
  }
}

const FLAME_CSS = `
.tsk-flame { overflow-wrap: anywhere; }
.tsk-flame select { height: 24px; max-width: 24ch; border: 1px solid var(--tsk-line); border-radius: 3px; background: var(--tsk-paper); color: var(--tsk-ink); font: inherit; }
.tsk-flame select:focus-visible { outline: 2px solid var(--tsk-accent); outline-offset: 1px; }
.tsk-flame-sum { flex: 1 1 16ch; min-width: 0; color: var(--tsk-faint); }
.tsk-flame-find { padding: 0 12px 6px; }
.tsk-flame-foot { padding: 0 12px; }
.tsk-flame-said { min-height: 1.45em; margin: 4px 0; }
.tsk-flame-note { padding: 0 12px 6px; color: var(--tsk-faint); }
.tsk-flame-source .tsk-flame-note { padding: 0; }
.tsk-flame-table { max-height: 300px; overflow: auto; }
.tsk-flame-table table { border-collapse: collapse; }
.tsk-flame-table td { padding: 1px 12px 1px 0; text-align: left; color: var(--tsk-ink); }
.tsk-flame-source { margin: 4px 0 8px; }
.tsk-flame pre { margin: 0; font: 11.5px/1.5 var(--tsk-code); color: inherit; background: none; padding: 0; }
`;
