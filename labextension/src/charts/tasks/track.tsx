/** Tasks over time, a row for each thread: a track of lanes. */
import { Seen } from '../../lib/seen';
import { trans } from '../../lib/translate';
import type { KnownPath } from '../../wire';
import type { Command } from '../timeline/commands';
import { rangeCommands } from '../timeline/commands';
import type { Box, Brush, Room } from '../timeline/drawing';
import type { ShownTime } from '../timeline/time';
import type { Drawn, Tip, Track, TrackContext } from '../timeline/track';
import { TextFitter } from '../ui/canvas';
import type { CanvasPoint } from '../ui/dom';
import type { LegendEntry } from '../ui/export';
import type { RevealCell } from '../ui/keeping';
import type { ComponentChildren } from '../ui/render';
import type { TextTable } from '../ui/text-table';
import { LanePainter } from './bars';
import type { Found, FoundOpen } from './find-task';
import { findTask } from './find-task';
import type { PrefixSummary } from './legend';
import { Emphasis, Legend, summarise } from './legend';
import { outlineOf, paintBarTexts, paintFlags, paintGutter, paintSelected } from './marks';
import { SelectedRange } from './range';
import type { Row } from './rows';
import { Folding, LaneList, isFolded } from './rows';
import type { LaneLayer, LaneLayout, MakeLaneLayer, Scene } from './scene';
import { gutterPx, lanesHeightPx, layoutLanes, sceneOf } from './scene';
import { FindBar, TaskSearch } from './search';
import { Card, SelectedTask, WorkerButtons, colourOf, paintRelations } from './selected';
import { Locator, Picker, Steps, openWhere, placeOfBar } from './steps';
import type { Findings, MakeFindings } from './why/findings';
import { beforeTables, emptyText, labelText, laneTable, prefixTable, stateText, taskTable, tipOf } from './words';

const MAX_LEGEND = 60;
const PAGE_ROWS = 12;
const ROWS: Readonly<Record<string, number>> = { ArrowUp: -3, ArrowDown: 3, PageUp: -PAGE_ROWS, PageDown: PAGE_ROWS };

export interface TasksOptions {
  /** Prefixes that are hidden at first. */
  readonly hidden?: readonly string[];
  /** The person hid some prefixes, or showed them again. */
  readonly onHidden?: (hidden: readonly string[]) => void;
  /** Leads to the cells of computes; left out: nowhere. */
  readonly reveal?: RevealCell;
  /** What is drawn over the bars; left out: nothing. */
  readonly layer?: MakeLaneLayer;
  /** Shows why what is shown took so long; left out: nobody knows. */
  readonly findings?: MakeFindings;
  /** The critical path where nobody has findings, or why it is not known; left out: nobody knows. */
  readonly path?: KnownPath;
  /** Whether progress stands above, which says what a compute raised. */
  readonly joined?: boolean;
}

export class TasksTrack implements Track {
  readonly name = 'gantt';
  readonly label: string;
  readonly classes = ['tsk-gantt'] as const;
  readonly inBrief = 'all';
  readonly tellsRange = true;
  readonly #folding = new Folding();
  readonly #lanes: LaneList;
  readonly #emphasis: Emphasis;
  readonly #picker: Picker;
  readonly #layer: LaneLayer | null;
  readonly #plot: LanePainter;
  readonly #texts = new TextFitter();
  readonly #locator: Locator;
  readonly #steps: Steps;
  readonly #selected: SelectedTask;
  readonly #range: SelectedRange;
  readonly #findBar: FindBar;
  readonly #findings: Findings | null;
  #scene: Scene | null = null;
  #layout: LaneLayout | null = null;
  #boxing = false;
  #found: Found | null = null;
  #cursor = '';
  #prefixes: readonly PrefixSummary[] = [];
  #state = '';
  #nLost = 0;
  readonly #news = new Seen();
  /** The computes among which tasks are looked for. */
  readonly #searched = new Seen();
  readonly #described = new Seen();
  /** Of the emphasis, when the host and the search last heard of it. */
  #hidden: readonly string[];
  readonly #tabled = new Seen();
  #tables: readonly TextTable[] = [];

  constructor(private readonly context: TrackContext, private readonly options: TasksOptions) {
    const { store, runRange, signal } = context;
    const request = (): void => { context.request(); };
    this.label = trans.__('Tasks');
    this.#lanes = new LaneList(store, this.#folding);
    this.#emphasis = new Emphasis(() => { this.#onEmphasis(); }, options.hidden);
    this.#hidden = this.#emphasis.hidden;
    this.#picker = new Picker(store);
    this.#layer = options.layer?.({ store, runRange, request }) ?? null;
    this.#plot = new LanePainter(this.#layer);
    this.#locator = new Locator(store, signal);
    this.#selected = new SelectedTask(store, this.#picker, options.reveal);
    this.#range = new SelectedRange(context, this.#layer, () => this.#findings, options.path ?? null);
    this.#steps = new Steps({
      store, context, emphasis: this.#emphasis, picker: this.#picker, folding: this.#folding,
      scene: () => this.#scene, layout: () => this.#layout, rows: () => this.#refreshRows()
    });
    this.#findBar = new FindBar(
      {
        search: query => new TaskSearch(store, query, this.#scene?.runs ?? null, this.#emphasis.filter(store.tables)),
        inFlight: search => this.#openMatches(search),
        selected: () => store.selection.current,
        goTo: match => { this.#steps.goTo(match); },
        changed: () => {
          if (this.#findBar.matches !== null) {
            this.#findings?.clear();
          }
          context.render();
          context.request();
        },
        closed: () => { context.focus(); }
      },
      signal
    );
    this.#findings = options.findings?.({ store, reveal: options.reveal, isSeen: () => context.isSeen(), changed: request }, signal) ?? null;
  }

  get css(): string { return TASKS_CSS + (this.#layer?.css ?? '') + (this.#findings?.css ?? ''); }

  update(time: ShownTime | null): string | null {
    const { store, runRange, axis } = this.context;
    this.#scene = time === null ? null : sceneOf(store, runRange, time, (...of) => this.#lanes.refresh(...of));
    if (this.#searched.isNew(runRange.id)) {
      this.#findBar.refresh('others');
    }
    if (this.#news.isNew(store.version)) {
      this.#findBar.refresh('more');
    }
    this.#findings?.update(runRange);
    this.#describe();
    if (this.#scene !== null && this.#scene.rows.length > 0) {
      this.#locator.refresh(this.#scene);
      this.#selected.update(this.#scene);
      this.#range.update(this.#scene);
      return null;
    }
    this.#selected.clear();
    return emptyText(store, this.#scene, axis.sinceRun !== null, this.#layer);
  }

  shown(): readonly unknown[] {
    return [
      this.#prefixes, ...(this.#layer?.shown() ?? []), this.#folding.version, this.#emphasis.focused, this.#boxing, this.#selected.isRelating, this.#selected.relations.length, this.#selected.neighbours, this.#range.text,
      this.#findBar.isOpen, this.#findBar.matches, this.#findBar.said(), this.#findings?.version, this.#selected.said, JSON.stringify(this.#selected.card)
    ];
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
    const { store } = this.context;
    const layout = this.#lay(scene, room);
    // Bars move under a pointer that rests, so what it is on is found again for each painting.
    const found = point === null ? null : findTask(store, scene, layout, point, this.#emphasis.filter(store.tables));
    const above = point === null ? null : (this.#layer?.hit(scene, layout, point, found !== null) ?? null);
    this.#found = above === null && found?.kind !== 'worker' ? found : null;
    this.#cursor = this.#boxing ? 'crosshair' : found === null ? 'default' : 'pointer';
    return above ?? (found === null ? null : { kind: 'facts', facts: tipOf(found, scene, store.tables), colour: colourOf(store, found) });
  }

  draw(brush: Brush): Drawn {
    const scene = this.#scene;
    if (scene === null) {
      return 'exact';
    }
    const { context, room, theme, ratio } = brush;
    const { store } = this.context;
    const selected = this.#picker.selected(scene);
    const painting = {
      layout: this.#lay(scene, room),
      scene,
      theme,
      filter: this.#emphasis.filter(store.tables),
      matches: (this.#findings?.evidence ?? this.#findBar).matches,
      prefixColour: (prefix: number) => store.colour(prefix),
      relations: this.#selected.relations,
      selected: selected === null ? null : placeOfBar(selected, scene.nowS)
    };
    const measured = this.#plot.paint(context, store, painting, room.ticks, ratio);
    paintBarTexts(context, store, painting, this.#texts);
    paintFlags(context, painting, measured, ratio);
    this.#findings?.paint(context, painting);
    paintRelations(context, painting);
    paintSelected(context, painting);
    paintGutter(context, painting, this.#texts);
    return this.#plot.drawn;
  }

  hovered(room: Room): Box | null {
    const [scene, found] = [this.#scene, this.#found];
    return scene === null || found === null || found.kind === 'worker' ? null : outlineOf({ layout: this.#lay(scene, room), scene }, placeOfBar(found, scene.nowS));
  }

  title(): string {
    return this.#state;
  }

  description(): string {
    return this.#scene === null ? '' : labelText(this.#scene, this.#prefixes);
  }

  legend(): readonly LegendEntry[] {
    return this.#prefixes
      .filter(({ prefix }) => !this.#emphasis.isHidden(prefix))
      .slice(0, MAX_LEGEND)
      .map(({ prefix }) => ({ name: prefix, colour: this.#colourOf(prefix) }));
  }

  /** Lanes are measured for them over all of their time, so what a person only points at changes none. */
  tables(): readonly TextTable[] {
    if (this.#tabled.isNew(this.#prefixes, ...(this.#layer?.shown() ?? []))) {
      this.#tables = [...this.#ownTables(), ...(this.#layer?.tables() ?? [])];
    }
    return this.#tables;
  }

  commands(): readonly Command[] {
    const { store, exporter } = this.context;
    const [scene, steps, findings, findBar] = [this.#scene, this.#steps, this.#findings, this.#findBar];
    const rows = scene?.rows ?? [];
    const copyVisible = (): void => {
      if (scene !== null) {
        exporter.copy([taskTable(store, scene, this.#emphasis.filter(store.tables))]);
      }
    };
    return [
      {
        keys: Object.keys(ROWS), shown: trans.__('↑ ↓, Page Up, Page Down'), does: trans.__('scroll the threads'),
        run: key => { this.context.scrollTo((this.#layout?.scrollPx ?? 0) + (ROWS[key] ?? 0) * (this.#layout?.rowPx ?? 0)); }
      },
      ...(findings === null ? [] : [findings.command()]),
      { keys: ['n', 'N', 'p', 'P'], shown: 'N P', does: trans.__('select the next or previous task of the thread'), run: key => { steps.stepTask(/n/i.test(key) ? 1 : -1); } },
      { keys: ['j', 'J', 'k', 'K'], shown: 'J K', does: trans.__('select in the thread below or above'), run: key => { steps.stepLane(/j/i.test(key) ? 1 : -1); } },
      { keys: ['z', 'Z'], shown: 'Z', does: trans.__('zoom to the selected task, or time'), run: () => { this.#zoomToSelected(); } },
      { keys: ['r', 'R'], shown: 'R', does: trans.__('draw the dependencies and dependents of the selected task'), run: () => { this.#toggleRelations(); } },
      { text: trans.__('Find'), label: trans.__('Find tasks (/)'), at: 'bar', keys: ['/'], shown: '/', does: trans.__('find tasks'), run: () => { findBar.open(); } },
      { keys: ['g', 'G'], shown: trans.__('G, Shift+G'), does: trans.__('next or previous match'), run: () => { findBar.go(1); } },
      { keys: ['Shift+g', 'Shift+G'], run: () => { findBar.go(-1); } },
      { text: this.#boxing ? trans.__('Drag moves the chart') : trans.__('Drag selects a time range (Shift+drag)'), at: 'view', run: () => { this.#toggleBox(); } },
      {
        text: isFolded(rows) ? trans.__('Show the threads of workers (Shift+C)') : trans.__('Collapse workers (Shift+C)'), at: 'view', hidden: !rows.some(row => row.kind === 'worker'),
        keys: ['Shift+c', 'Shift+C'], shown: trans.__('Shift+C'), does: trans.__('collapse or show the threads of workers'), run: () => { this.#toggleLanes(); }
      },
      ...rangeCommands(this.context),
      { keys: ['Escape'], shown: trans.__('Esc'), does: trans.__('light up nothing, then select no time, then no task'), run: () => { this.#clearSelection(); } },
      { text: trans.__('Copy task types and threads as a table'), at: 'save', run: () => { exporter.copy(this.#ownTables()); } },
      { text: trans.__('Copy visible tasks as a table'), at: 'save', run: copyVisible }
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
        layout={this.#lay(this.#scene, room)}
        toggle={(worker, collapsed) => {
          this.#folding.set(worker, collapsed);
          this.context.request();
        }}
      />
    );
  }

  foot(): ComponentChildren {
    return (
      <>
        <Legend prefixes={this.#prefixes} nLost={this.#nLost} emphasis={this.#emphasis} colourOf={prefix => this.#colourOf(prefix)} />
        {this.#layer?.legend(this.context.theme())}
        {this.#range.panel()}
        {this.#findings?.below()}
        <Card
          selection={this.#selected.card} story={this.#findings?.story} neighbours={this.#selected.neighbours} relating={this.#selected.isRelating}
          goTo={task => {
            this.#steps.goToFound(task);
            this.context.focus();
          }}
          toggleRelations={() => { this.#toggleRelations(); }}
          zoom={() => { this.#zoomToSelected(); }}
          close={() => {
            this.#picker.select(null);
            this.context.focus();
          }}
        />
      </>
    );
  }

  said(): string {
    return [this.#findings?.said() ?? '', this.#selected.said, this.#range.said()].filter(said => said !== '').join('. ');
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

  #zoomToSelected(): void {
    if (this.context.store.selection.current !== null || !this.#range.zoom()) {
      this.#steps.zoomToSelected();
    }
  }

  #toggleRelations(): void {
    this.#selected.isRelating = !this.#selected.isRelating;
    this.context.request();
  }

  #toggleLanes(): void {
    this.#folding.setAll(!isFolded(this.#scene?.rows ?? []));
    this.context.request();
  }

  #clearSelection(): void {
    if (this.#findings?.clear() !== true && !this.#range.clear()) {
      this.#picker.select(null);
    }
  }

  #toggleBox(): void {
    this.#boxing = !this.#boxing;
    this.context.focus();
    this.context.request();
  }

  #openMatches(search: TaskSearch): FoundOpen[] {
    const { hidden } = this.#emphasis.filter(this.context.store.tables);
    return this.#scene === null ? [] : openWhere(this.#scene, ({ prefix, task }) => hidden?.[prefix] !== 1 && search.hasOpen(task));
  }

  #onEmphasis(): void {
    if (this.#hidden !== this.#emphasis.hidden) {
      this.#hidden = this.#emphasis.hidden;
      this.options.onHidden?.(this.#emphasis.hidden);
      this.#findBar.refresh('others');
    }
    this.context.request();
  }

  #lay(scene: Scene, room: Room): LaneLayout {
    this.#layout = layoutLanes(scene.rows, room);
    return this.#layout;
  }

  #refreshRows(): readonly Row[] {
    const { store, runRange, navigator } = this.context;
    const time = navigator.refresh();
    this.#scene = time === null ? null : sceneOf(store, runRange, time, (...of) => this.#lanes.refresh(...of));
    return this.#scene?.rows ?? [];
  }

  #ownTables(): readonly TextTable[] {
    const { store, runRange } = this.context;
    const lanes = this.#scene === null ? [] : [laneTable(store, this.#scene)];
    return [prefixTable(this.#prefixes), ...lanes, ...beforeTables(store, runRange)];
  }

  /** Say what changed since the last time. */
  #describe(): void {
    const { store, runRange } = this.context;
    const scene = this.#scene;
    if (!this.#described.isNew(store.version, this.#emphasis.hidden, scene?.paused, runRange.id)) {
      return;
    }
    const rows = store.tables.progressIn(runRange);
    const runs = store.tables.runsIn(runRange);
    this.#prefixes = summarise(rows);
    this.#state = scene === null ? '' : stateText(store, scene, { runs, rows }, this.#emphasis.nHidden, this.options.joined !== true);
    this.#nLost = store.failures(runRange).reduce((n, kind) => n + (kind.status === 'lost' ? kind.n : 0), 0);
  }

  #colourOf(prefix: string): string {
    const { store } = this.context;
    return store.colour(store.tables.prefixId(prefix));
  }
}

const TASKS_CSS = `
.tsk-gantt-top { min-height: 30px; }
.tsk-gantt-state { flex: 1 1 180px; min-width: 0; color: var(--tsk-faint); overflow-wrap: anywhere; }
.tsk-gantt-workers { position: absolute; left: 0; top: 0; overflow: hidden; pointer-events: none; }
.tsk-gantt-worker {
  position: absolute; left: 0; width: 100%; padding: 0; border: 0; border-radius: 3px;
  background: transparent; pointer-events: auto; cursor: pointer;
}
.tsk-gantt-worker:hover { background: color-mix(in srgb, var(--tsk-ink) 10%, transparent); }
.tsk-gantt-worker:focus-visible { outline: 2px solid var(--tsk-accent); outline-offset: -2px; }
.tsk-gantt-find { padding: 0 12px 6px; }
.tsk-gantt-find > span { color: var(--tsk-faint); }
:is(.tsk-gantt-card, .tsk-gantt-range) { margin: 8px 12px 0; padding: 8px 10px; border: 1px solid var(--tsk-line); border-inline-start: 3px solid var(--tsk-accent); border-radius: 4px; }
:is(.tsk-gantt-card, .tsk-gantt-range) .tsk-bar { margin-top: 6px; }
.tsk-gantt-card dl {
  display: grid; grid-template-columns: repeat(auto-fill, minmax(min(230px, 100%), 1fr)); gap: 2px 16px; margin: 0;
}
.tsk-gantt-card dl > div { display: flex; gap: 8px; min-width: 0; }
.tsk-gantt-card dt { flex: none; min-width: 5.8em; }
.tsk-gantt-range p { margin: 0; }
.tsk-gantt-range .tsk-gantt-range-title { font-weight: 600; }
.tsk-gantt-range caption { white-space: nowrap; }
.tsk-chart .tsk-gantt-range .tsk-text-table { max-height: 180px; margin: 6px 0 0; }
.tsk-gantt-links { margin-top: 4px; }
.tsk-gantt-links > span { color: var(--tsk-faint); }
.tsk-gantt-links ul { max-height: 190px; margin: 0; padding: 0; overflow: auto; list-style: none; }
.tsk-gantt-links li { display: inline-block; max-width: 100%; margin-inline-end: 10px; overflow-wrap: anywhere; font: 11.5px/1.5 var(--tsk-code); color: var(--tsk-faint); }
.tsk-gantt-links button {
  display: block; height: auto; padding: 0; border: 0; background: none; color: var(--tsk-ink); font: inherit; text-align: start; text-decoration: underline; overflow-wrap: anywhere; cursor: pointer;
}
.tsk-gantt-links button:focus-visible { outline: 2px solid var(--tsk-accent); outline-offset: 1px; }
@media (max-width: 480px) {
  .tsk-gantt-legend { padding-inline: 1px; }
}
`;
