/** Tasks over time, a row for each thread: a track of lanes. */
import { formatDuration, printable } from '../../lib/format';
import type { PrefixColours } from '../../store';
import { runsOfOthers } from '../../wire';
import type { Brush } from '../timeline/brush';
import { bind } from '../timeline/keys';
import type { LegendEntry } from '../timeline/picture';
import type { Room } from '../timeline/room';
import type { TimeFrame } from '../timeline/time/time-frame';
import type { Drawn, Tip, Track, TrackContext } from '../timeline/track';
import { TextFitter } from '../ui/canvas';
import type { RevealCell } from '../ui/cell-link';
import type { CanvasPoint } from '../ui/dom';
import type { ComponentChildren } from '../ui/render';
import type { TextTable } from '../ui/tables';
import type { ButtonSpec } from '../ui/toolbar';
import type { Selection } from './card';
import { Card, WorkerButtons } from './card';
import { paintBarTexts, paintFlags, paintGutter, paintOutlines } from './drawing/marks';
import { Plot } from './drawing/plot';
import { Emphasis } from './legend';
import { FindBar } from './finding/find-bar';
import type { Found, FoundOpen, FoundTask } from './finding/find-task';
import { findTask } from './finding/find-task';
import type { TaskKeys } from './keys';
import { taskKeys, taskMoves } from './keys';
import type { LaneLayer, MakeLaneLayer } from './lane-layer';
import type { LaneLayout } from './layout';
import { gutterPx, lanesHeightPx, layoutLanes } from './layout';
import type { PrefixSummary } from './legend';
import { Legend, summarise } from './legend';
import { paintRelations, relationsOf, relationsText } from './relations';
import type { Row } from './rows';
import { Folding, LaneList, isFolded } from './rows';
import type { Relation, Scene } from './scene';
import { sceneOf } from './scene';
import { TaskSearch } from './finding/search';
import { Locator, Picker, placeOfBar } from './finding/selection';
import { Steps } from './finding/steps';
import { TASKS_CSS } from './style';
import { laneTable, prefixTable, taskTable } from './tables';
import { emptyText, labelText, stateText, statusWord, tipOf } from './words';

const MAX_LEGEND = 60;

export interface TasksOptions {
  /** Prefixes that are hidden at first. */
  readonly hidden?: readonly string[];
  /** The person hid some prefixes, or showed them again. */
  readonly onHidden?: (hidden: readonly string[]) => void;
  /** Leads to the cells of computes; left out: nowhere. */
  readonly reveal?: RevealCell;
  /** What is drawn over the bars; left out: nothing. */
  readonly layer?: MakeLaneLayer;
}

export class TasksTrack implements Track, TaskKeys {
  readonly name = 'gantt';
  readonly label: string;
  readonly classes = ['tsk-gantt'] as const;
  readonly inBrief = 'all';
  readonly css = TASKS_CSS;
  readonly keys;
  readonly #folding = new Folding();
  readonly #lanes: LaneList;
  readonly #emphasis: Emphasis;
  readonly #picker: Picker;
  readonly #layer: LaneLayer | null;
  readonly #plot: Plot;
  readonly #texts = new TextFitter();
  readonly #locator: Locator;
  readonly #steps: Steps;
  readonly #findBar: FindBar;
  #scene: Scene | null = null;
  #layout: LaneLayout | null = null;
  #boxing = false;
  #relating = false;
  #found: Found | null = null;
  #cursor = '';
  #prefixes: readonly PrefixSummary[] = [];
  #state = '';
  #nLost = 0;
  #seen = '';
  #news = -1;
  #hiddenVersion = 0;
  #tables: { readonly of: string; readonly tables: readonly TextTable[] } = { of: '', tables: [] };
  #selection: Selection | null = null;
  #relations: readonly Relation[] = [];
  #said = '';

  constructor(private readonly context: TrackContext, private readonly options: TasksOptions) {
    const { store, window, trans, signal } = context;
    const request = (): void => { context.request(); };
    this.label = trans.__('Tasks');
    this.keys = { moves: bind(taskMoves(trans), this), others: bind(taskKeys(trans), this) };
    this.#lanes = new LaneList(store, this.#folding);
    this.#emphasis = new Emphasis(() => { this.#onEmphasis(); }, options.hidden);
    this.#picker = new Picker(store);
    this.#layer = options.layer?.({ store, window, trans, request }) ?? null;
    this.#plot = new Plot(this.#layer);
    this.#locator = new Locator(store, signal);
    this.#steps = new Steps({
      store, context, emphasis: this.#emphasis, picker: this.#picker, folding: this.#folding,
      scene: () => this.#scene, layout: () => this.#layout, rows: () => this.#refreshRows()
    });
    this.#findBar = new FindBar(
      {
        search: query => new TaskSearch(store, query, this.#scene?.runs ?? null, this.#emphasis.filter(store.tables)),
        selected: () => store.selection.current?.ref ?? null,
        goTo: ref => { this.#steps.goTo(ref); },
        changed: () => { context.render(); },
        closed: () => { context.focus(); }
      },
      trans,
      signal
    );
  }

  update(frame: TimeFrame | null): string | null {
    const { store, window, axis, trans } = this.context;
    this.#scene = frame === null ? null : sceneOf(store, window, frame, (...of) => this.#lanes.refresh(...of));
    if (this.#news !== store.version) {
      this.#news = store.version;
      this.#findBar.refresh('more');
    }
    this.#describe();
    if (this.#scene !== null && this.#scene.rows.length > 0) {
      this.#locator.refresh(this.#scene);
      this.#select(this.#scene);
      return null;
    }
    this.#selection = null;
    return emptyText(store, this.#scene, axis.sinceRun !== null, trans);
  }

  version(): string {
    return [
      this.#seen, this.#layer?.version(), this.#folding.version, this.#emphasis.focused, this.#boxing, this.#relating, this.#relations.length,
      this.#findBar.isOpen, this.#findBar.said(), this.#said, JSON.stringify(this.#selection)
    ].join('\n');
  }

  gutterPx(widthPx: number): number {
    return gutterPx(this.#scene?.rows ?? [], widthPx);
  }

  heightPx(isBrief: boolean): number {
    return lanesHeightPx(this.#scene?.rows ?? [], isBrief);
  }

  hit(point: CanvasPoint | null, _timeS: number | null, room: Room): Tip | null {
    const scene = this.#scene;
    if (scene === null) {
      return null;
    }
    const { store, trans } = this.context;
    const layout = this.#lay(scene, room);
    // Bars move under a pointer that rests, so what it is on is found again for each painting.
    const found = point === null ? null : findTask(store, scene, layout, point, this.#emphasis.filter(store.tables));
    const above = point === null ? null : (this.#layer?.hit(scene, layout, point, found !== null) ?? null);
    this.#found = above === null && found?.kind !== 'worker' ? found : null;
    this.#cursor = this.#boxing ? 'crosshair' : found === null ? 'default' : 'pointer';
    return above ?? (found === null ? null : { kind: 'facts', facts: tipOf(found, scene, store.tables, trans), colour: this.#colourOfFound(found) });
  }

  draw(brush: Brush): Drawn {
    const scene = this.#scene;
    if (scene === null) {
      return 'exact';
    }
    const { context, room, theme, ratio } = brush;
    const { store } = this.context;
    const colours = this.#colours();
    const hovered = this.#found;
    const selected = this.#picker.selected(scene);
    const picture = {
      layout: this.#lay(scene, room),
      scene,
      theme,
      filter: this.#emphasis.filter(store.tables),
      prefixColour: (prefix: number) => colours.colour(prefix),
      relations: this.#relations,
      hovered: hovered === null || hovered.kind === 'worker' ? null : placeOfBar(hovered, scene.nowS),
      selected: selected === null ? null : placeOfBar(selected, scene.nowS)
    };
    const measured = this.#plot.paint(context, store, picture, room.ticks, ratio);
    paintBarTexts(context, store, picture, this.#texts);
    paintFlags(context, picture, measured, ratio);
    paintRelations(context, picture);
    paintOutlines(context, picture);
    paintGutter(context, picture, this.#texts);
    return this.#plot.drawn;
  }

  title(): string {
    return this.#state;
  }

  description(): string {
    return this.#scene === null ? '' : labelText(this.#scene, this.#prefixes, this.context.trans);
  }

  legend(): readonly LegendEntry[] {
    return this.#prefixes
      .filter(({ prefix }) => !this.#emphasis.isHidden(prefix))
      .slice(0, MAX_LEGEND)
      .map(({ prefix }) => ({ name: prefix, colour: this.#colourOf(prefix) }));
  }

  /** Lanes are measured for them over all of their time, so what a person only points at changes none. */
  tables(): readonly TextTable[] {
    const of = `${this.#seen} ${this.#layer?.version() ?? ''}`;
    if (this.#tables.of !== of) {
      this.#tables = { of, tables: [...this.#ownTables(), ...(this.#layer?.tables() ?? [])] };
    }
    return this.#tables.tables;
  }

  copies(): readonly ButtonSpec[] {
    const { store, exporter, trans } = this.context;
    const scene = this.#scene;
    return [
      { text: trans.__('Copy prefixes and lanes as a table'), act: () => { exporter.copy(this.#ownTables()); } },
      {
        text: trans.__('Copy visible tasks as a table'),
        act: () => {
          if (scene !== null) {
            exporter.copy([taskTable(store, scene, this.#emphasis.filter(store.tables), trans)]);
          }
        }
      }
    ];
  }

  buttons(): readonly ButtonSpec[] {
    const { trans } = this.context;
    return [{ text: trans.__('Find'), label: trans.__('Find tasks (/)'), act: () => { this.find(); } }];
  }

  items(): readonly ButtonSpec[] {
    const { trans } = this.context;
    const rows = this.#scene?.rows ?? [];
    return [
      { text: this.#boxing ? trans.__('Drag moves the chart') : trans.__('Drag zooms to a box (Shift+drag)'), act: () => { this.#toggleBox(); } },
      {
        text: isFolded(rows) ? trans.__('Show the lanes of workers (C)') : trans.__('Collapse workers (C)'), act: () => { this.toggleLanes(); },
        hidden: !rows.some(row => row.kind === 'worker')
      }
    ];
  }

  head(): ComponentChildren {
    return <div class="tsk-gantt-state">{this.#state}</div>;
  }

  bar(): ComponentChildren {
    return this.#findBar.render();
  }

  overlay(room: Room): ComponentChildren {
    return this.#scene !== null && (
      <WorkerButtons
        layout={this.#lay(this.#scene, room)} trans={this.context.trans}
        toggle={(worker, collapsed) => {
          this.#folding.set(worker, collapsed);
          this.context.request();
        }}
      />
    );
  }

  foot(): ComponentChildren {
    const { trans } = this.context;
    return (
      <>
        <Legend prefixes={this.#prefixes} nLost={this.#nLost} emphasis={this.#emphasis} colourOf={prefix => this.#colourOf(prefix)} trans={trans} />
        {this.#layer?.legend(this.context.theme())}
        <Card
          selection={this.#selection} relating={this.#relating} trans={trans}
          toggleRelations={() => { this.toggleRelations(); }}
          zoom={() => { this.zoomToSelected(); }}
          close={() => {
            this.clearSelection();
            this.context.focus();
          }}
        />
      </>
    );
  }

  said(): string {
    return this.#said;
  }

  cursor(): string {
    return this.#cursor;
  }

  isBoxing(): boolean {
    return this.#boxing;
  }

  click(point: CanvasPoint): void {
    const { store } = this.context;
    if (this.#scene !== null && this.#layout !== null) {
      this.#picker.select(findTask(store, this.#scene, this.#layout, point, this.#emphasis.filter(store.tables)));
    }
  }

  scrollRows(rows: number): void {
    if (this.#layout !== null) {
      this.context.scrollTo(this.#layout.scrollPx + rows * this.#layout.rowPx);
    }
  }

  stepTask(direction: 1 | -1): void {
    this.#steps.stepTask(direction);
  }

  stepLane(direction: 1 | -1): void {
    this.#steps.stepLane(direction);
  }

  zoomToSelected(): void {
    this.#steps.zoomToSelected();
  }

  toggleRelations(): void {
    this.#relating = !this.#relating;
    this.context.request();
  }

  find(): void {
    this.#findBar.open();
  }

  nextMatch(direction: 1 | -1): void {
    this.#findBar.go(direction);
  }

  toggleLanes(): void {
    this.#folding.setAll(!isFolded(this.#scene?.rows ?? []));
    this.context.request();
  }

  clearSelection(): void {
    this.#picker.select(null);
  }

  #toggleBox(): void {
    this.#boxing = !this.#boxing;
    this.context.focus();
    this.context.request();
  }

  #onEmphasis(): void {
    if (this.#emphasis.version !== this.#hiddenVersion) {
      this.#hiddenVersion = this.#emphasis.version;
      this.options.onHidden?.(this.#emphasis.hidden);
    }
    this.#findBar.refresh('others');
    this.context.request();
  }

  #lay(scene: Scene, room: Room): LaneLayout {
    this.#layout = layoutLanes(scene.rows, room);
    return this.#layout;
  }

  #refreshRows(): readonly Row[] {
    const { store, window, navigator } = this.context;
    const frame = navigator.refresh();
    this.#scene = frame === null ? null : sceneOf(store, window, frame, (...of) => this.#lanes.refresh(...of));
    return this.#scene?.rows ?? [];
  }

  #ownTables(): readonly TextTable[] {
    const { store, trans } = this.context;
    return [prefixTable(this.#prefixes, trans), ...(this.#scene === null ? [] : [laneTable(store, this.#scene, trans)])];
  }

  /** Say what changed since the last time. */
  #describe(): void {
    const { store, window, trans } = this.context;
    const scene = this.#scene;
    const seen = `${store.version} ${this.#emphasis.version} ${String(scene?.paused)} ${window.id}`;
    if (this.#seen === seen) {
      return;
    }
    this.#seen = seen;
    const { tables } = store;
    const rows = tables.progressIn(window);
    const runs = tables.runsIn(window);
    this.#prefixes = summarise(rows, runsOfOthers(runs));
    this.#state = scene === null ? '' : stateText(store, scene, { runs, rows }, this.#emphasis.nHidden, trans);
    this.#nLost = store.failures(window).reduce((n, kind) => n + (kind.status === 'lost' ? kind.n : 0), 0);
  }

  /** Say what is selected, with the lines to what it needs and to what needs it. */
  #select(scene: Scene): void {
    const { store, trans } = this.context;
    const selected = this.#picker.selected(scene);
    if (selected === null) {
      const { current } = store.selection;
      this.#selection = null;
      this.#relations = [];
      this.#said = current === null ? '' : trans.__('%1 is not among these tasks', current.key.slice(0, 80));
      return;
    }
    const links = this.#relating && selected.kind === 'ended' ? store.links(selected.ref.row) : null;
    this.#relations = links === null || selected.kind === 'open' ? [] : relationsOf(store, selected, links);
    const note = links === null ? '' : relationsText(links, this.#relations, trans);
    const run = store.tables.runs.get(selected.kind === 'ended' ? selected.detail.run : selected.bar.task.run);
    this.#selection = {
      facts: tipOf(selected, scene, store.tables, trans),
      colour: this.#colourOfFound(selected) ?? '',
      note,
      isOpen: selected.kind === 'open',
      showCell: run === undefined ? null : (this.options.reveal?.(run) ?? null)
    };
    this.#said = `${this.#selectionText(selected)} ${note}`.trim();
  }

  /** The selected task in one sentence. */
  #selectionText(found: FoundTask | FoundOpen): string {
    const { trans } = this.context;
    if (found.kind === 'open') {
      return trans.__('selected %1 on %2: running', printable(found.bar.task.key, 80), found.label);
    }
    const { key, status, startS, stopS } = found.detail;
    return trans.__('selected %1 on %2: %3 after %4', printable(key, 80), found.label, statusWord(status, trans), formatDuration(stopS - startS));
  }

  #colours(): PrefixColours {
    return this.context.store.colours(this.context.window.whole);
  }

  #colourOf(prefix: string): string {
    return this.#colours().colour(this.context.store.tables.prefixId(prefix));
  }

  #colourOfFound(found: Found): string | null {
    const { groups } = this.context.store.tables;
    switch (found.kind) {
      case 'ended':
        return this.#colourOf(found.detail.prefix);
      case 'open':
        return this.#colourOf(groups[found.bar.task.group]?.prefix ?? '');
      case 'worker':
        return null;
    }
  }
}
