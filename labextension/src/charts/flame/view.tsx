/** The flame graph in a page: bars, search, timeline, and the same as text. */
import { formatCount } from '../../lib/format';
import type { Theme } from '../../lib/theme';
import { trans } from '../../lib/translate';
import type { Command } from '../timeline/commands';
import { KeyHelp, buttonsAt, press } from '../timeline/commands';
import { TIMELINE_CSS } from '../timeline/style';
import { TextFitter, fitCanvas, pixelRatio } from '../ui/canvas';
import { element, keepKeys, pointOf } from '../ui/dom';
import { Exporter, Notice, maySaveFiles, pictureOf } from '../ui/export';
import type { Painted } from '../ui/frame-loop';
import { FrameLoop } from '../ui/frame-loop';
import type { ComponentChildren } from '../ui/render';
import { render } from '../ui/render';
import type { TextTable } from '../ui/tables';
import { Table } from '../ui/tables';
import { SHARED_CSS, adoptStyles, followTheme, readTheme, watchSizes } from '../ui/theme';
import { Button, TOOLBAR_CSS, Toolbar } from '../ui/toolbar';
import type { FlameData, FlameFunction } from './data';
import type { Direction, FlameLayout } from './layout';
import { barAt, drawFlame, layoutFlame, neighbour } from './layout';
import type { Bins } from './timeline';
import { Timeline, keptBins } from './timeline';
import type { FlameNode } from './tree';
import { describeAll, describeNode, findSame, growTree, nameOf, ownTimes, walk } from './tree';

const GROUND = '#8b949e';

const ARROWS: Readonly<Record<string, Direction>> = { ArrowUp: 'up', ArrowDown: 'down', ArrowLeft: 'left', ArrowRight: 'right' };

/** Says which colours prefixes have: those of the charts beside this one. */
export interface FlameColours {
  /** What gives a prefix its colour now; asked for once per painting. */
  current(): (prefix: string) => string;
  /** Have `changed` called when they may be others. */
  subscribe(changed: () => void, signal: AbortSignal): void;
}

export interface FlameOptions {
  /** Unmounts the chart. */
  readonly signal: AbortSignal;
  /** The person chose a call; null: none of a function. Left out: there is nobody who has sources. */
  readonly onFunction?: (chosen: FlameFunction | null) => void;
}

export interface FlameChart {
  /** Show other samples; `note` says why there are none, or fewer than was run. */
  show(data: FlameData | null, note: string | null): void;
  /** Show this below the graph: the source of the function that was chosen. */
  showSource(source: ComponentChildren): void;
}

/** Put a flame graph into `el`, until the signal aborts. */
export function mount(el: HTMLElement, colours: FlameColours, options: FlameOptions): FlameChart {
  const view = new FlameView(colours, options);
  if (!options.signal.aborted) {
    [SHARED_CSS, TOOLBAR_CSS, TIMELINE_CSS, FLAME_CSS].forEach(css => { adoptStyles(el, css); });
    el.append(view.el);
    view.start();
  }
  return view;
}

class FlameView implements FlameChart {
  readonly el = element('div', { class: 'tsk-chart tsk-flame', role: 'group' });
  readonly #signal: AbortSignal;
  readonly #frames: FrameLoop;
  readonly #texts = new TextFitter();
  readonly #timeline: Timeline;
  #canvas: HTMLCanvasElement | null = null;
  #input: HTMLInputElement | null = null;
  #theme: Theme;
  #note: string | null = null;
  #data: FlameData | null = null;
  #root: FlameNode | null = null;
  #focus: FlameNode | null = null;
  #cursor: FlameNode | null = null;
  #layout: FlameLayout | null = null;
  #prefix: string | null = null;
  #bins: Bins | null = null;
  /** What was searched for; empty: nothing. */
  #wanted = '';
  /** Whether the line under the graph says what was found, not where the cursor is. */
  #saysFound = false;
  #helping = false;
  #finding = false;
  #tabling = false;
  #text: TextTable | null = null;
  /** As long as it is the same one, none of its rows is looked at. */
  #table: ComponentChildren = null;
  readonly #notice: Notice;
  readonly #exporter: Exporter;
  #source: ComponentChildren = null;
  readonly #onFunction: FlameOptions['onFunction'];

  constructor(
    private readonly colours: FlameColours,
    { signal, onFunction }: FlameOptions
  ) {
    this.#onFunction = onFunction;
    this.#signal = signal;
    this.#theme = readTheme(document.body);
    this.#frames = new FrameLoop(() => this.#paint(), signal);
    this.#notice = new Notice(() => { this.#render(); }, signal);
    this.#exporter = new Exporter(this.#notice);
    this.#timeline = new Timeline(bins => {
      this.#bins = bins;
      this.#grow();
    });
    this.el.setAttribute('aria-label', trans.__('Profile'));
  }

  start(): void {
    const signal = this.#signal;
    followTheme(() => this.el, theme => {
      this.#theme = theme;
      this.el.classList.toggle('tsk-dark', theme.dark);
      this.#frames.request();
    }, signal);
    keepKeys(this.el, signal);
    this.colours.subscribe(() => { this.#frames.request(); }, signal);
    watchSizes([this.el], () => { this.#frames.request(); }, signal);
    signal.addEventListener('abort', () => {
      render(null, this.el);
      this.el.remove();
    }, { once: true });
    this.show(this.#data, null);
  }

  show(data: FlameData | null, note: string | null): void {
    const isEmpty = data === null || data.bin.length === 0;
    this.#bins = data === null || this.#data === null ? null : keptBins(this.#data, data, this.#bins);
    this.#data = isEmpty ? null : data;
    this.#note = note ?? (isEmpty ? trans.__('no samples yet') : null);
    if (isEmpty) {
      this.#render();
    } else {
      this.#grow();
    }
  }

  showSource(source: ComponentChildren): void {
    this.#source = source;
    this.#render();
  }

  #move(direction: Direction): void {
    const [at, layout] = [this.#cursor ?? this.#focus, this.#laidOut()];
    if (layout !== null && at !== null) {
      this.#point(neighbour(layout, at, direction));
    }
  }

  #find(): void {
    this.#finding = true;
    this.#render();
    this.#input?.focus();
    this.#input?.select();
  }

  #help(): void {
    this.#helping = !this.#helping;
    this.#render();
  }

  #render(): void {
    if (this.#signal.aborted) {
      return;
    }
    const [data, root] = [this.#data, this.#root];
    const sum = data === null || root === null ? '' : describeAll(data, root);
    const commands = this.#commands();
    render(
      <>
        <div class="tsk-track-top">
          <span class="tsk-track-title" aria-hidden="true">{trans.__('Profile')}</span>
          <div class="tsk-flame-sum">{sum}</div>
          {data !== null && this.#picker(data)}
          <Toolbar
            label={trans.__('View')} hidden={data === null} buttons={buttonsAt(commands, 'bar')}
            menu={{ text: trans.__('More'), label: trans.__('More actions'), items: buttonsAt(commands, 'menu') }}
          />
        </div>
        <div class="tsk-notice" role="status">{this.#notice.text}</div>
        {this.#findBar()}
        <div class={data === null ? 'tsk-track-empty' : 'tsk-flame-note'} hidden={this.#note === null}>{this.#note}</div>
        <div class="tsk-flame-body" hidden={data === null}>
          <div class="tsk-flame-plot">
            <canvas
              tabIndex={0} role="application" aria-label={trans.__('Flame graph: %1. Arrows move, Enter zooms in, Escape out', sum)}
              ref={el => { this.#canvas = el; }} onClick={this.#onClick} onKeyDown={this.#onKey}
              onPointerMove={event => { this.#point(this.#nodeAt(event)); }}
            />
          </div>
          <p class="tsk-flame-said" role="status">{this.#said()}</p>
          {this.#source}
          {this.#timeline.render()}
          <KeyHelp commands={commands} class="tsk-track-help" hidden={!this.#helping} />
          <div class="tsk-text-table" tabIndex={0} role="group" aria-label={trans.__('Tables')} hidden={!this.#tabling}>{this.#table}</div>
        </div>
      </>,
      this.el
    );
    this.#frames.request();
  }

  #picker({ prefixes }: FlameData): ComponentChildren {
    return (
      <select
        aria-label={trans.__('Tasks shown')} value={this.#prefix ?? ''}
        onChange={({ currentTarget: { value } }) => {
          this.#prefix = value === '' ? null : value;
          this.#grow();
        }}
      >
        <option value="">{trans.__('all task types')}</option>
        {prefixes.map(name => <option value={name}>{name}</option>)}
      </select>
    );
  }

  #findBar(): ComponentChildren {
    const close = (): void => {
      this.#finding = false;
      this.#search('');
      this.#canvas?.focus();
    };
    return this.#finding && (
      <div class="tsk-bar tsk-flame-find" role="search" onKeyDown={event => { if (event.key === 'Escape') { event.preventDefault(); close(); } }}>
        <input
          type="search" placeholder={trans.__('Find a function')} aria-label={trans.__('Find a function')} value={this.#wanted} ref={el => { this.#input = el; }}
          onInput={({ currentTarget }) => { this.#search(currentTarget.value); }}
        />
        <Button text="×" label={trans.__('Close (Escape)')} act={close} />
      </div>
    );
  }

  #commands(): readonly Command[] {
    const text = this.#text;
    const toggleTable = (): void => {
      this.#tabling = !this.#tabling;
      this.#render();
    };
    return [
      { keys: Object.keys(ARROWS), shown: '← → ↑ ↓', does: trans.__('move to the next call'), run: key => { this.#move(ARROWS[key] ?? 'up'); } },
      { keys: ['Enter', ' '], shown: trans.__('Enter'), does: trans.__('zoom in to the call'), run: () => { this.#zoom(this.#cursor ?? this.#focus); } },
      { keys: ['Escape'], shown: trans.__('Esc'), does: trans.__('zoom out by one call'), run: () => { this.#zoom(this.#focus?.parent ?? this.#root); } },
      { text: trans.__('Fit'), label: trans.__('Fit: show everything (Home)'), at: 'bar', keys: ['Home'], shown: trans.__('Home'), does: trans.__('show everything'), run: () => { this.#zoom(this.#root); } },
      { text: trans.__('Find'), label: trans.__('Find a function (/)'), at: 'bar', keys: ['/'], shown: '/', does: trans.__('find a function'), run: () => { this.#find(); } },
      { text: this.#tabling ? trans.__('Hide the table') : trans.__('Show as a table'), at: 'menu', run: toggleTable },
      { text: trans.__('Copy as a table'), at: 'menu', run: () => { this.#exporter.copy(text === null ? [] : [text]); } },
      { text: trans.__('Save as PNG'), at: 'menu', run: () => { this.#savePicture(); }, hidden: !maySaveFiles() },
      { text: trans.__('Keyboard shortcuts'), at: 'menu', keys: ['?'], shown: '?', does: trans.__('this list'), run: () => { this.#help(); } }
    ];
  }

  #savePicture(): void {
    const [canvas, data, root] = [this.#canvas, this.#data, this.#root];
    if (canvas !== null && data !== null && root !== null) {
      const colour = this.colours.current();
      const title = `${trans.__('Profile')}: ${describeAll(data, root)}`;
      this.#exporter.save(pictureOf(canvas, title, data.prefixes.map(name => ({ name, colour: colour(name) })), this.#theme), 'taskscope-profile.png');
    }
  }

  #said(): string {
    const [data, root, node] = [this.#data, this.#root, this.#cursor ?? this.#focus];
    const found = this.#saysFound ? this.#found() : null;
    if (found !== null) {
      return trans._n('%2 call found', '%2 calls found', found.size, formatCount(found.size));
    }
    return data === null || root === null || node === null ? '' : describeNode(data, node, root);
  }

  #grow(): void {
    const data = this.#data;
    if (data === null) {
      return;
    }
    const place = this.#prefix === null ? -1 : data.prefixes.indexOf(this.#prefix);
    const prefix = place < 0 ? null : place;
    const root = growTree(data, { prefix, bins: this.#bins });
    this.#root = root;
    this.#focus = this.#focus === null ? root : findSame(root, this.#focus);
    this.#cursor = this.#cursor === null ? null : findSame(root, this.#cursor);
    this.#timeline.show(data, prefix, this.#bins);
    this.#text = ownTimes(data, root);
    this.#table = <Table {...this.#text} />;
    this.#saysFound = false;
    this.#render();
  }

  #zoom(node: FlameNode | null): void {
    this.#focus = node;
    this.#saysFound = false;
    this.#onFunction?.(node?.kind === 'function' ? (this.#data?.functions[node.place] ?? null) : null);
    this.#render();
  }

  #point(node: FlameNode | null): void {
    if (node !== this.#cursor) {
      this.#cursor = node;
      this.#saysFound = false;
      this.#render();
    }
  }

  #search(text: string): void {
    this.#wanted = text.trim().toLowerCase();
    this.#saysFound = true;
    this.#render();
  }

  #found(): ReadonlySet<FlameNode> | null {
    const [wanted, data] = [this.#wanted, this.#data];
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

  readonly #onKey = (event: KeyboardEvent): void => {
    if (press(this.#commands(), event.key)) {
      event.preventDefault();
    }
  };

  readonly #onClick = (event: MouseEvent): void => {
    const node = this.#nodeAt(event);
    if (node !== null) {
      this.#zoom(node);
    }
  };

  #nodeAt(event: MouseEvent): FlameNode | null {
    const { xPx, yPx } = pointOf(event.currentTarget as Element, event);
    const layout = this.#laidOut();
    return layout === null ? null : (barAt(layout, xPx, yPx)?.node ?? null);
  }

  /** Where calls stand; between new samples and the next painting, too. */
  #laidOut(): FlameLayout | null {
    const [root, focus, widthPx] = [this.#root, this.#focus, this.#canvas?.parentElement?.clientWidth ?? 0];
    if (root === null || focus === null || widthPx === 0) {
      return null;
    }
    if (this.#layout?.root !== root || this.#layout.focus !== focus || this.#layout.widthPx !== widthPx) {
      this.#layout = layoutFlame(root, focus, widthPx);
    }
    return this.#layout;
  }

  #paint(): Painted {
    const [data, canvas, layout] = [this.#data, this.#canvas, this.#laidOut()];
    const context = canvas?.getContext('2d') ?? null;
    if (canvas === null || data === null || layout === null || context === null) {
      return 'still';
    }
    const ratio = pixelRatio();
    fitCanvas(canvas, layout.widthPx, layout.heightPx, ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const colour = this.colours.current();
    drawFlame(context, {
      layout,
      theme: this.#theme,
      cursor: this.#cursor,
      found: this.#found(),
      texts: this.#texts,
      colourOf: node => (node.kind === 'all' ? GROUND : colour(data.prefixes[node.prefix] ?? '')),
      nameOf: node => nameOf(data, node)
    });
    this.#timeline.paint(this.#theme, layout.widthPx, ratio);
    return 'still';
  }
}

/** Which functions the tasks' time goes to. */

const FLAME_CSS = `
.tsk-flame { padding: 6px 0 8px; container-type: inline-size; overflow-wrap: anywhere; }
.tsk-flame select { height: 24px; max-width: 24ch; border: 1px solid var(--tsk-line); border-radius: 3px; background: var(--tsk-paper); color: var(--tsk-ink); font: inherit; }
.tsk-flame :focus-visible { outline: 2px solid var(--tsk-accent); outline-offset: 1px; }
.tsk-flame-sum { flex: 1 1 16ch; min-width: 0; color: var(--tsk-faint); }
.tsk-flame-find { padding: 0 12px 6px; }
.tsk-flame-body { padding: 0 12px; }
.tsk-flame-body > :is(.tsk-track-help, .tsk-text-table) { margin-inline: 0; }
.tsk-flame-plot { max-height: 420px; overflow-y: auto; overflow-x: hidden; }
.tsk-flame [hidden] { display: none !important; }
.tsk-flame canvas { display: block; }
.tsk-flame-plot canvas { cursor: pointer; }
.tsk-flame-said { min-height: 1.45em; margin: 4px 0; }
.tsk-flame-time canvas { cursor: col-resize; touch-action: none; }
.tsk-flame-chosen, .tsk-flame-note { color: var(--tsk-faint); }
.tsk-flame > .tsk-flame-note { padding: 0 12px 6px; }
.tsk-flame-time { margin-top: 6px; }
.tsk-flame table { border-collapse: collapse; }
.tsk-flame-table { max-height: 300px; overflow: auto; }
.tsk-flame :is(th, td, caption) { padding: 1px 12px 1px 0; text-align: left; color: var(--tsk-ink); }
.tsk-flame-source { margin: 4px 0 8px; }
.tsk-flame pre { margin: 0; font: 11.5px/1.5 var(--tsk-code); color: inherit; background: none; padding: 0; }
`;
