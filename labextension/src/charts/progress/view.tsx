/** The progress chart in a page: draws when the store changes, and lets time pass in between. */
import { Seen } from '../../lib/seen';
import { trans } from '../../lib/translate';
import type { RunRange, TaskStore } from '../../store';
import type { Run } from '../../wire';
import type { Command } from '../timeline/commands';
import { buttonsAt, commandsOf, menuOf } from '../timeline/commands';
import type { Shows } from '../timeline/time';
import { ShownRuns, TimeAxis, headline } from '../timeline/time';
import { element, keepKeys } from '../ui/dom';
import { Exporter, Notice } from '../ui/export';
import { FrameLoop } from '../ui/frame-loop';
import type { Keeping, RevealCell } from '../ui/keeping';
import type { ComponentChildren } from '../ui/render';
import { render } from '../ui/render';
import { SHARED_CSS, adoptStyles, dress, followTheme } from '../ui/theme';
import { TOOLBAR_CSS, Toolbar } from '../ui/toolbar';
import type { ProgressInput, ProgressLayout, RunningCell } from './layout';
import { isOver, layoutProgress, sharesOfTime } from './layout';
import { Errors, PROGRESS_CSS, PrefixRows, RunList, RunName, Segments, StateIcon, TimeShares, Times } from './parts';
import type { MakeStopper, Stopper } from './stopper';
import type { ProgressWords } from './words';
import { describeProgress, progressTables, shortEta } from './words';

const TICK_MS = 200;

/** A cell that computes sooner than this is not said to have computed nothing. */
const MIN_IDLE_S = 1;

/** What comes under the bar, in this order; a key shows the pattern of the segment it counts. */
const META = ['live', 'eta', 'stuck', 'erred', 'interrupted', 'released', 'lost', 'running', 'ahead', 'skipped'] as const;
const WITH_KEY: ReadonlySet<string> = new Set(['running', 'erred', 'interrupted', 'released', 'lost']);

export interface ProgressOptions {
  /** Unmounts the chart. */
  readonly signal: AbortSignal;
  readonly firstRun?: number;
  /** Null or left out: and all that come. */
  readonly lastRun?: number | null;
  /**
   * `now`: what runs, else what ran last, as the headline of a session; a person may select another. Left out: all
   * computes together, as of one cell.
   */
  readonly shows?: Shows;
  /** The cell that runs, where what runs now is shown; left out: that is not known. */
  readonly cell?: { readonly current: () => RunningCell | null; readonly subscribe: (listener: () => void) => void };
  /** Makes what stops computes; left out: nothing can be stopped. */
  readonly stop?: MakeStopper;
  /** Writes files of what is shown, and compares it; left out: nobody does. */
  readonly keeping?: Keeping;
  /** Leads to the cells of computes; left out: nowhere. */
  readonly reveal?: RevealCell;
  /** Shared with other charts of the same computes, which are paused and cleared together; left out: its own. */
  readonly axis?: TimeAxis;
  /** Whether the buttons that concern all charts of a dashboard stand elsewhere. */
  readonly joined?: boolean;
  /** Why it took so long, where there is little room and always the same: null before that is known. Left out, or undefined: that stands elsewhere. */
  readonly answer?: () => ComponentChildren | undefined;
}

export interface ProgressChart {
  readonly el: HTMLElement;
  /** What the chart shows at this moment. */
  layout(): ProgressLayout;
  /** Show other computes. */
  setRunRange(runRange: RunRange): void;
  /** There is another answer to show. */
  refresh(): void;
}

/** Put a progress chart of some computes into `el`, until `signal` aborts. */
export function mount(el: HTMLElement, store: TaskStore, options: ProgressOptions): ProgressChart {
  const view = new ProgressView(store, options);
  if (!options.signal.aborted) {
    [SHARED_CSS, TOOLBAR_CSS, PROGRESS_CSS].forEach(css => { adoptStyles(el, css); });
    el.append(view.el);
    view.start();
  }
  return view;
}

/** What the chart shows, of which computes, and when; it stays as it is while the chart is paused. */
interface Moment {
  readonly runs: string;
  readonly layout: ProgressLayout;
  /** Those from which one can be selected, and the numbers of those that are shown. */
  readonly all: readonly Run[];
  readonly shown: ReadonlySet<number>;
  readonly nowS: number;
}

class ProgressView implements ProgressChart {
  readonly el = element('section', { class: 'tsk-chart tsk-progress', role: 'group' });
  readonly #axis: TimeAxis;
  readonly #runRange: ShownRuns;
  readonly #notice: Notice;
  readonly #announcer: Announcer;
  readonly #stopper: Stopper | null;
  readonly #exporter: Exporter;
  readonly #keeping: Keeping | null;
  readonly #joined: boolean;
  readonly #choose: ((run: number | null) => void) | null;
  readonly #reveal: RevealCell;
  readonly #frames: FrameLoop;
  readonly #readAll: () => Tables;
  readonly #signal: AbortSignal;
  #ticking: ReturnType<typeof setInterval> | undefined;
  #wasLive = false;
  #isAlive = false;
  #moment: Moment | null = null;
  #isListing = false;

  constructor(private readonly store: TaskStore, private readonly options: ProgressOptions) {
    const { signal, firstRun = 0, lastRun = null, shows = 'all', stop, joined = false, reveal = () => null, keeping = null } = options;
    const changed = (): void => { this.#render(); };
    this.#signal = signal;
    this.#axis = options.axis ?? new TimeAxis(false);
    this.#runRange = new ShownRuns(store, { firstRun, lastRun }, this.#axis, shows);
    this.#readAll = reader(store, this.#runRange, this.#axis);
    this.#choose = shows === 'now' ? run => { this.#axis.choose(run); } : null;
    this.#joined = joined;
    this.#reveal = reveal;
    this.#notice = new Notice(changed, signal);
    this.#announcer = new Announcer(changed, signal);
    this.#stopper = stop?.({ store, signal, changed }) ?? null;
    this.#exporter = new Exporter(this.#notice);
    this.#keeping = keeping;
    this.#frames = new FrameLoop(() => this.#draw(), signal);
    this.el.setAttribute('aria-label', trans.__('Progress of Dask tasks'));
  }

  start(): void {
    const signal = this.#signal;
    followTheme(() => this.el, theme => { dress(this.el, theme); }, signal);
    keepKeys(this.el, signal);
    this.#draw();
    this.store.subscribe(this.#soon, signal);
    this.#axis.subscribe(this.#soon, signal);
    this.options.cell?.subscribe(this.#soon);
    signal.addEventListener(
      'abort',
      () => {
        clearInterval(this.#ticking);
        render(null, this.el);
        this.el.remove();
      },
      { once: true }
    );
  }

  layout(): ProgressLayout {
    const { clock, cluster } = this.store;
    const executing = cluster === null ? {} : { executingSince: (sinceS: number) => cluster.workers.executingSince(sinceS) };
    return layoutProgress({ ...this.#read(), ...executing, cell: this.#idleFor(), nowS: clock.nowS(), silentS: clock.silentS });
  }

  setRunRange(runRange: RunRange): void {
    this.#runRange.whole = runRange;
    this.#soon();
  }

  refresh(): void {
    this.#soon();
  }

  #read(): Tables {
    const tables = this.#readAll();
    return this.#idleFor() === null ? tables : { ...tables, rows: [], runs: [], all: [], failures: [] };
  }

  /** The cell that runs, if it has computed nothing and nothing else runs. */
  #idleCell(): RunningCell | null {
    const cell = this.options.cell?.current() ?? null;
    const computes = cell !== null && this.store.tables.runsIn({ firstRun: cell.firstRun, lastRun: null }).length > 0;
    return computes || !this.#runRange.isOfNow || this.#readAll().runs.some(({ status }) => status === 'running') ? null : cell;
  }

  #idleFor(): ProgressInput['cell'] {
    const cell = this.#idleCell();
    const forS = cell === null ? 0 : (performance.now() - cell.sinceMs) / 1000;
    return cell === null || forS < MIN_IDLE_S ? null : { count: cell.count, forS };
  }

  readonly #soon = (): void => {
    this.#frames.request();
  };

  readonly #colourOf = (prefix: string): string => this.store.colour(this.store.tables.prefixId(prefix));

  #draw(): 'still' {
    const { clock } = this.store;
    const layout = this.layout();
    this.#isAlive = clock.active && layout.state === 'running';
    this.#wasLive ||= clock.active;
    this.#stopper?.update(this.#isAlive ? this.#read().runs.filter(run => run.status === 'running') : []);
    const { id } = this.#runRange;
    if (this.#axis.pausedAtS === null || this.#moment?.runs !== id) {
      this.#announce(layout);
      const { all, runs } = this.#read();
      this.#moment = { runs: id, layout, all, shown: new Set(runs.map(({ run }) => run)), nowS: clock.nowS() };
    }
    this.#render();
    if (!this.#isAlive && this.#idleCell() === null) {
      clearInterval(this.#ticking);
      this.#ticking = undefined;
    } else {
      this.#ticking ??= setInterval(this.#soon, TICK_MS);
    }
    return 'still';
  }

  /** A compute that had ended before it was shown is not announced; an end is announced at once, and corrected. */
  #announce(layout: ProgressLayout): void {
    const hasChanged = this.#moment !== null && this.#moment.layout.state !== layout.state;
    if (hasChanged || layout.state === 'running' || this.#announcer.hasSaid) {
      this.#announcer.say(describeProgress(layout).sentence, hasChanged);
    }
  }

  #render(): void {
    if (this.#moment === null || this.#signal.aborted) {
      return;
    }
    const { layout, all, shown, nowS } = this.#moment;
    const { state } = layout;
    const words = describeProgress(layout);
    const answer = this.options.answer?.();
    const [isDense, isAnswered] = [answer !== undefined, isOver(state) && (answer ?? null) !== null];
    const hasTimes = state === 'finished' && sharesOfTime(layout).length > 0;
    const [reveal, colourOf] = [this.#reveal, this.#colourOf];
    this.el.dataset.state = state;
    this.el.toggleAttribute('data-dense', isDense);
    this.el.toggleAttribute('data-answered', isAnswered);
    const toggle = (): void => { this.#isListing = !this.#isListing; this.#render(); };
    render(
      <>
        <div class="tsk-progress-head">
          <span class="tsk-progress-state"><StateIcon state={state} /><span>{words.state}</span></span>
          <RunName runs={all} shown={shown} reveal={reveal} isOpen={this.#isListing} toggle={toggle} />
          <span class="tsk-progress-held" hidden={this.#axis.pausedAtS === null}>{trans.__('paused')}</span>
          <div class="tsk-progress-acts">{this.#stopper?.button()}{this.#tools()}</div>
        </div>
        <div class="tsk-notice" role="status">{this.#notice.text}</div>
        {this.#stopper?.below()}
        {this.#isListing && all.length > 1 && <RunList runs={all} shown={shown} nowS={nowS} reveal={reveal} chosen={this.#axis.chosen} choose={this.#choose} />}
        {bar(layout, words, hasTimes ? <TimeShares layout={layout} colourOf={colourOf} /> : <Segments counts={layout} />)}
        <div class="tsk-progress-lines" title={words.sentence}>
          <div class="tsk-progress-counts">
            <span class="tsk-progress-count">{words.count}</span>
            <span class="tsk-progress-elapsed">{words.elapsed}</span>
            <span class="tsk-progress-percent" hidden={state === 'finished'}>{words.percent}</span>
          </div>
          <div class="tsk-progress-meta">{meta(words, shortEta(layout), layout.executing !== null)}{hasTimes && <Times layout={layout} colourOf={colourOf} />}</div>
        </div>
        <div class="tsk-progress-answer" tabIndex={isDense && !isAnswered ? 0 : undefined} role="group" aria-label={trans.__('Task types and findings')}>
          <div class="tsk-progress-error" hidden={words.error === ''}>{words.error}</div>
          <Errors errors={layout.errors} />
          {isAnswered && answer}
          <PrefixRows prefixes={layout.prefixes} colourOf={colourOf} isOver={isOver(state)} folded={isDense ? 4 : 8} />
          <p class="tsk-progress-empty" hidden={state !== 'waiting' || layout.cell !== undefined || !isDense}>
            {this.#choose === null
              ? trans.__('This cell has not computed with Dask yet.')
              : trans.__('Run a cell that computes with Dask: its tasks appear here.')}
          </p>
        </div>
        <div class="tsk-hidden" role="status" aria-live="polite">{this.#announcer.text}</div>
      </>,
      this.el
    );
  }

  #tools(): ComponentChildren {
    const cleared = this.#axis.sinceRun !== null;
    const paused = this.#axis.pausedAtS !== null;
    const live = this.#wasLive;
    const { runs } = this.#read();
    const ofAll: Command[] = this.#joined ? [] : [
      {
        text: trans.__('Pause'), label: trans.__('Pause display (still recording)'), at: 'bar', run: () => { this.#runRange.togglePause(); },
        pressed: paused, hidden: !live && !paused
      },
      {
        text: cleared ? trans.__('Show all computes again') : trans.__('Clear, show new tasks only'), at: 'computes', run: () => { this.#runRange.toggleClear(); },
        hidden: !live && !cleared
      }
    ];
    const commands: Command[] = [
      { text: trans.__('Copy as a table'), at: 'save', run: () => { this.#exporter.copy(progressTables(this.#moment?.layout ?? this.layout())); } },
      ...(this.#keeping === null ? [] : [
        ...commandsOf(this.#keeping.files(this.#exporter, runs), 'save'),
        ...commandsOf([this.#keeping.comparison(this.#exporter, runs)], 'computes')
      ]),
      ...ofAll
    ];
    return <Toolbar label={trans.__('View')} buttons={buttonsAt(commands, 'bar')} menu={menuOf(commands)} hidden={this.#moment?.layout.state === 'waiting' && !cleared} />;
  }
}

function bar(layout: ProgressLayout, { sentence }: ProgressWords, segments: ComponentChildren): ComponentChildren {
  const { total, finished } = layout;
  return (
    <div
      class="tsk-progress-bar" role="progressbar" aria-label={trans.__('Finished tasks')} aria-valuetext={sentence} aria-valuemin={0}
      aria-valuemax={total > 0 ? total : undefined} aria-valuenow={total > 0 ? finished : undefined}
    >
      {segments}
    </div>
  );
}

function meta(words: ProgressWords, eta: string, isToldByWorkers: boolean): ComponentChildren {
  const titles: Partial<Record<(typeof META)[number], string>> = {
    stuck: trans.__('No worker has the resources or the address that they need.'),
    ...(isToldByWorkers ? { running: trans.__('As the workers counted last; the others wait on a worker.') } : {}),
    skipped: trans.__('Already computed, or not needed.')
  };
  return META.map(name => (
    <span class={`tsk-progress-${name}`} title={titles[name]} hidden={words[name] === ''}>
      {WITH_KEY.has(name) && <span class={`tsk-key tsk-segment tsk-${name}`} aria-hidden="true" />}
      {name === 'eta' && words.eta !== eta ? <><span class="tsk-wide">{words.eta}</span><span class="tsk-narrow">{eta}</span></> : <span>{words[name]}</span>}
    </span>
  ));
}

type Tables = Omit<ProgressInput, 'nowS' | 'runs'> & { readonly runs: readonly Run[]; readonly all: readonly Run[] };

/** The tables change with messages only; time passes more often than that. */
function reader(store: TaskStore, runRange: ShownRuns, axis: TimeAxis): () => Tables {
  const seen = new Seen();
  let tables: Tables | null = null;
  return () => {
    const { firstRun, lastRun } = runRange.all;
    if (seen.isNew(store.version, firstRun, lastRun, axis.chosen, axis.pausedAtS) || tables === null) {
      tables = readTables(store, runRange, axis.pausedAtS !== null);
    }
    return tables;
  };
}

/** What runs now is the headline, whatever time a person looks at; that alone, and not all that ran meanwhile. */
function readTables(store: TaskStore, runRange: ShownRuns, isPaused: boolean): Tables {
  const { tables } = store;
  runRange.refresh({ kind: 'fit' });
  const { all: of, isOfNow } = runRange;
  const all = tables.runsIn(of);
  const wanted = isOfNow && !isPaused ? of : runRange;
  const within = tables.runsIn(wanted);
  const runs = isOfNow ? headline(within) : within;
  const shown = new Set(runs.map(({ run }) => run));
  const except = new Set(within.flatMap(({ run }) => (shown.has(run) ? [] : [run])));
  return {
    rows: tables.progressIn(wanted).filter(({ run }) => shown.has(run)),
    runs,
    all,
    estimates: tables.estimates,
    liveStates: tables.liveStates,
    stops: tables.stops,
    failures: store.failures(wanted, except)
  };
}

const EVERY_MS = 5_000;
/** A screen reader has taken a text up by then; who moves through the page later would read old counts. */
const HEARD_MS = 2_000;

/** What is read aloud while tasks end: seldom, and in the page only for a moment. */
export class Announcer {
  /** Without changes the region stays silent. */
  text = '';
  #said = '';
  #saidMs = -Infinity;
  #due: string | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #emptying: ReturnType<typeof setTimeout> | undefined;

  /** @param changed is called when the text is another */
  constructor(private readonly changed: () => void, private readonly signal: AbortSignal) {
    signal.addEventListener('abort', () => {
      clearTimeout(this.#timer);
      clearTimeout(this.#emptying);
    }, { once: true });
  }

  /** Whether anything was announced. */
  get hasSaid(): boolean {
    return this.#said !== '';
  }

  /** Announce `text` `atOnce` or when it is time; of several texts within that time only the last is announced. */
  say(text: string, atOnce = false): void {
    if (this.signal.aborted || text === (this.#due ?? this.#said)) {
      return;
    }
    this.#due = text;
    if (atOnce) {
      clearTimeout(this.#timer);
      this.#sayDue();
    } else if (this.#timer === undefined) {
      const waitMs = this.#saidMs + EVERY_MS - performance.now();
      if (waitMs <= 0) {
        this.#sayDue();
      } else {
        this.#timer = setTimeout(() => { this.#sayDue(); }, waitMs);
      }
    }
  }

  #sayDue(): void {
    this.#timer = undefined;
    this.#saidMs = performance.now();
    this.#show(this.#due ?? '');
    this.#said = this.text;
    this.#due = null;
    clearTimeout(this.#emptying);
    this.#emptying = setTimeout(() => { this.#show(''); }, HEARD_MS);
  }

  #show(text: string): void {
    this.text = text;
    this.changed();
  }
}
