/** What is said and drawn of the selected task: its facts, its dependencies, and the cell that computed it. */
import { formatCount, formatDuration, printable } from '../../lib/format';
import { Seen } from '../../lib/seen';
import { pxAt } from '../../lib/span';
import { trans } from '../../lib/translate';
import type { LinkEnd, Links, TaskStore } from '../../store';
import { MAX_LINKS } from '../../wire';
import { FactList } from '../timeline/tip';
import type { Facts } from '../timeline/track';
import { clipped } from '../ui/canvas';
import type { RevealCell } from '../ui/keeping';
import type { ComponentChildren } from '../ui/render';
import { Button } from '../ui/toolbar';
import type { Found, FoundOpen, FoundTask } from './find-task';
import type { LaneLayout, Painting, Relation, Scene } from './scene';
import type { Picker } from './steps';
import { openOf, placeOfBar } from './steps';
import type { Story } from './story';
import { statusWord, tipOf } from './words';

export class SelectedTask {
  /** Null: no task of these computes is selected. */
  card: TaskCard | null = null;
  /** What it depends on, and what needs it; empty while that is not known; another list when they are others. */
  neighbours: readonly Neighbours[] = [];
  /** Lines to what it needs and from what needs it. */
  relations: readonly Relation[] = [];
  /** In one sentence, to be read aloud. */
  said = '';
  /** Whether the lines are wanted. */
  isRelating = false;
  readonly #seen = new Seen();

  constructor(
    private readonly store: TaskStore,
    private readonly picker: Picker,
    private readonly reveal: RevealCell | undefined
  ) {}

  update(scene: Scene): void {
    const { store } = this;
    const selected = this.picker.selected(scene);
    if (selected === null) {
      const { current } = store.selection;
      this.clear();
      this.said = current === null ? '' : trans.__('%1 is not among these tasks', current.key.slice(0, 80));
      return;
    }
    const links = selected.kind === 'ended' ? store.links(selected.ref.row) : null;
    this.#meet(links, scene);
    const isDrawn = this.isRelating && links !== null && selected.kind === 'ended';
    this.relations = isDrawn ? relationsOf(store, selected, links) : [];
    const note = links === null ? '' : links.kind !== 'known' ? unknownText(links) : isDrawn ? linesText(links, this.relations) : '';
    const number = (selected.kind === 'ended' ? selected.detail : selected.bar.task).run;
    const run = store.tables.runs.get(number);
    this.card = {
      run: number,
      facts: tipOf(selected, scene, store.tables),
      colour: colourOf(store, selected) ?? '',
      note,
      isOpen: selected.kind === 'open',
      showCell: run === undefined ? null : (this.reveal?.(run) ?? null)
    };
    this.said = `${this.#sentence(selected)} ${this.card.note}`.trim();
  }

  clear(): void {
    this.card = null;
    this.relations = [];
    this.#meet(null, null);
  }

  /** Bring the neighbours up to date, where links or tasks are others. */
  #meet(links: Links | null, scene: Scene | null): void {
    if (this.#seen.isNew(links, links !== null && this.store.version)) {
      this.neighbours = links === null || scene === null ? [] : neighboursOf(links, scene, this.picker);
    }
  }

  #sentence(found: FoundTask | FoundOpen): string {
    if (found.kind === 'open') {
      return trans.__('selected %1 on %2: running', printable(found.bar.task.keyText, 80), found.label);
    }
    const { key, status, startS, stopS } = found.detail;
    return trans.__('selected %1 on %2: %3 after %4', printable(key, 80), found.label, statusWord(status), formatDuration(stopS - startS));
  }
}

/** The colour of what was found; null: it has none. */
export function colourOf(store: TaskStore, found: Found): string | null {
  const { tables } = store;
  switch (found.kind) {
    case 'ended':
      return store.colour(tables.prefixId(found.detail.prefix));
    case 'open':
      return store.colour(tables.prefixId(tables.groups[found.bar.task.group]?.prefix ?? ''));
    case 'worker':
      return null;
  }
}

/** What is known of the selected task. */
export interface TaskCard {
  readonly run: number;
  readonly facts: Facts;
  readonly colour: string;
  /** What there is to say of its dependencies, besides which they are. */
  readonly note: string;
  readonly isOpen: boolean;
  /** Leads to the cell that computed it; null: this page has none. */
  readonly showCell: (() => void) | null;
}

interface CardProps {
  readonly selection: TaskCard | null;
  readonly story: Story | undefined;
  readonly neighbours: readonly Neighbours[];
  readonly goTo: (task: FoundTask | FoundOpen) => void;
  readonly relating: boolean;
  readonly toggleRelations: () => void;
  readonly zoom: () => void;
  readonly close: () => void;
}

export function Card({ selection, story, neighbours, goTo, relating, toggleRelations, zoom, close }: CardProps): ComponentChildren {
  return (
    <div class="tsk-gantt-card" role="region" aria-label={trans.__('Selected task')} hidden={selection === null}>
      {selection !== null && (
        <>
          <div class="tsk-gantt-details"><FactList facts={selection.facts} colour={selection.colour} /></div>
          {neighbours.map(of => <NeighbourList neighbours={of} goTo={goTo} />)}
          <p class="tsk-gantt-tip-note" hidden={selection.note === ''}>{selection.note}</p>
          <div class="tsk-bar">
            <Button
              text={trans.__('Draw dependencies')} label={trans.__('Draw dependencies: lines from what it needs and to what needs it (R)')} act={toggleRelations}
              pressed={relating} disabled={selection.isOpen}
            />
            <Button
              text={trans.__('Go to the cell')} label={trans.__('Go to the cell that computed it')} act={() => { selection.showCell?.(); }}
              hidden={selection.showCell === null}
            />
            <Button text={trans.__('Zoom to task')} label={trans.__('Zoom to task: the selected one fills the chart (Z)')} act={zoom} />
            <Button text={trans.__('Close')} label={trans.__('Close: select nothing (Escape)')} act={close} />
            {story?.of(selection.run)}
          </div>
        </>
      )}
    </div>
  );
}

interface WorkersProps {
  readonly layout: LaneLayout;
  readonly toggle: (worker: string, collapsed: boolean) => void;
}

/** Buttons over the labels of workers, which open and close them; only those in sight exist. */
export function WorkerButtons({ layout: { boxes, plotLeftPx, plotHeightPx, rowPx }, toggle }: WorkersProps): ComponentChildren {
  return (
    <div class="tsk-gantt-workers" style={{ width: `${plotLeftPx}px`, height: `${plotHeightPx}px` }}>
      {boxes.map(({ row, topPx }) => {
        if (row.kind === 'lane') {
          return null;
        }
        const { worker, collapsed } = row;
        const lanes = formatCount(row.lanes.length);
        const title = collapsed ? trans.__('%1: mean of %2 threads; show them', row.label, lanes) : trans.__('%1: collapse its %2 threads', row.label, lanes);
        return (
          <button
            key={worker} type="button" class="tsk-gantt-worker" title={title} aria-label={title} aria-expanded={!collapsed}
            style={{ top: `${topPx}px`, height: `${rowPx}px` }} onClick={() => { toggle(worker, !collapsed); }}
          />
        );
      })}
    </div>
  );
}

export type Side = 'dependency' | 'dependent';

/** The task at the other end of a dependency. */
export interface Neighbour {
  readonly key: string;
  /** Null: nothing of it can be selected, for it is data, has not begun, or is not held. */
  readonly task: FoundTask | FoundOpen | null;
}

/** Those of a task on one side; `total` are of all, of which not more are listed than fit. */
export interface Neighbours {
  readonly side: Side;
  readonly total: number;
  readonly listed: readonly Neighbour[];
}

/** What a task depends on, the last to end first, and what needs it, the first to begin first: who waited for whom. */
export function neighboursOf(links: Links, scene: Scene, picker: Picker): readonly Neighbours[] {
  if (links.kind !== 'known') {
    return [];
  }
  const listed = (list: readonly LinkEnd[], rank: (task: FoundTask | FoundOpen) => number): Neighbour[] => {
    const rankOf = ({ task }: Neighbour): number => (task === null ? Number.MAX_VALUE : rank(task));
    return list.map(({ key, place }) => {
      const ended = place === null ? null : picker.ended(place, scene);
      return { key: ended?.detail.key ?? key, task: ended ?? openOf(scene, key) };
    }).sort((a, b) => rankOf(a) - rankOf(b));
  };
  return [
    { side: 'dependency', total: links.nDependencies, listed: listed(links.dependencies, task => -placeOfBar(task, scene.nowS).stopS) },
    { side: 'dependent', total: links.nDependents, listed: listed(links.dependents, task => placeOfBar(task, scene.nowS).startS) }
  ];
}

function heading({ side, total }: Neighbours): string {
  const n = formatCount(total);
  return side === 'dependency' ? trans._n('Depends on %2 task', 'Depends on %2 tasks', total, n) : trans._n('Needed by %2 task', 'Needed by %2 tasks', total, n);
}

/** What became of those that are not listed; empty: all are. */
function unlistedText({ total, listed }: Neighbours): string {
  const n = total - listed.length;
  const text = listed.length >= MAX_LINKS
    ? trans.__('and %1 more: at most %2 are listed', formatCount(n), formatCount(MAX_LINKS))
    : trans.__('and %1 of which there is nothing to show: data, or tasks that did not run', formatCount(n));
  return n === 0 ? '' : text;
}

interface NeighbourListProps {
  readonly neighbours: Neighbours;
  readonly goTo: (task: FoundTask | FoundOpen) => void;
}

export function NeighbourList({ neighbours, goTo }: NeighbourListProps): ComponentChildren {
  const title = heading(neighbours);
  const unlisted = unlistedText(neighbours);
  return (
    <div class="tsk-gantt-links">
      <span>{title}</span>
      <ul aria-label={title} hidden={neighbours.listed.length === 0}>
        {neighbours.listed.map(({ key, task }) => (
          <li>
            {task === null
              ? <span title={trans.__('Data, not begun, or no longer kept: there is nothing to select')}>{printable(key, 60)}</span>
              : <button type="button" title={printable(key, 400)} onClick={() => { goTo(task); }}>{printable(key, 60)}</button>}
          </li>
        ))}
      </ul>
      {unlisted !== '' && <span>{unlisted}</span>}
    </div>
  );
}

/** Lines drawn at most, for what it needs and for what needs it each. */
export const MAX_LINES = 100;

/** The lines around a task, as far as both ends are here. */
export function relationsOf(store: TaskStore, { ref, detail }: FoundTask, links: Links): Relation[] {
  if (links.kind !== 'known') {
    return [];
  }
  const here = { lane: ref.lane, ...detail };
  const dependencies = endsOf(store, links.dependencies).map(end => between('dependency', end, here));
  return [...dependencies, ...endsOf(store, links.dependents).map(end => between('dependent', here, end))];
}

/** Why nothing is known of dependencies; empty while an answer may come at once. */
export function unknownText(links: Exclude<Links, { readonly kind: 'known' }>): string {
  if (links.kind === 'unknown') {
    return trans.__('Dependencies are not known here: the kernel that computed knows them, and recording.to_pandas("dependencies").');
  }
  return links.isLate ? trans.__('Dependencies: the kernel does not answer while it is busy; they come when it does.') : '';
}

export function linesText({ nDependencies, nDependents }: Extract<Links, { readonly kind: 'known' }>, drawn: readonly Relation[]): string {
  const text = trans.__('Solid lines come from what it depends on, dashed ones lead to what needs it.');
  const missing = nDependencies + nDependents - drawn.length;
  return missing === 0 ? text : `${text} ${trans.__('%1 not drawn: data, not ended, no longer kept, or beyond %2 lines.', formatCount(missing), String(MAX_LINES))}`;
}

export function paintRelations(context: CanvasRenderingContext2D, { layout, scene, theme, relations }: Painting): void {
  const rowOf = new Map<number, number>();
  scene.rows.forEach((row, i) => {
    for (const lane of row.kind === 'lane' ? [row.id] : row.collapsed ? row.lanes : []) {
      rowOf.set(lane, i);
    }
  });
  const at = (lane: number, timeS: number): [x: number, y: number] => [
    layout.plotLeftPx + pxAt(scene.span, layout.plotWidthPx, timeS),
    ((rowOf.get(lane) ?? -1) + 0.5) * layout.rowPx - layout.scrollPx
  ];
  clipped(context, [layout.plotLeftPx, 0, layout.plotWidthPx, layout.plotHeightPx], () => {
    for (const [colour, widthPx] of [[theme.paper, 3.5], [theme.ink, 1.5]] as const) {
      context.strokeStyle = colour;
      context.lineWidth = widthPx;
      for (const { kind, fromLane, fromS, toLane, toS } of relations) {
        context.setLineDash(kind === 'dependency' ? [] : [5, 3]);
        curve(context, at(fromLane, fromS), at(toLane, toS));
      }
    }
    context.setLineDash([]);
    context.lineWidth = 1;
  });
}

interface End {
  readonly lane: number;
  readonly startS: number;
  readonly stopS: number;
}

function endsOf(store: TaskStore, links: readonly LinkEnd[]): End[] {
  return links
    .flatMap(({ place }) => {
      const lane = place === null ? undefined : store.lane(place.lane);
      const i = place === null ? null : (lane?.find(place.startS, place.row) ?? null);
      return place === null || lane === undefined || i === null
        ? []
        : [{ lane: place.lane, startS: place.startS, stopS: lane.stopS[i] ?? place.startS }];
    })
    .slice(0, MAX_LINES);
}

function between(kind: Relation['kind'], from: End, to: End): Relation {
  return { kind, fromLane: from.lane, fromS: from.stopS, toLane: to.lane, toS: to.startS };
}

function curve(context: CanvasRenderingContext2D, [x0, y0]: [number, number], [x1, y1]: [number, number]): void {
  const bend = Math.max(Math.abs(x1 - x0) / 2, 12);
  context.beginPath();
  context.moveTo(x0, y0);
  context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
  context.stroke();
}
