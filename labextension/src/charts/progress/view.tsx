/** The progress chart in a page: draws when the store changes, and lets time pass in between. */
import { english, type Translate } from '../../lib/translate';
import type { PrefixColours, TaskStore } from '../../store';
import { type Run, runsOfOthers } from '../../wire';
import type { RevealCell } from '../ui/cell-link';
import { FrameLoop } from '../ui/frames';
import { TimeAxis } from '../timeline/time/time-axis';
import { ShownWindow } from '../timeline/time/shown-window';
import { element, keepKeys, setText } from '../ui/dom';
import { Exporter, Notice, maySaveFiles } from '../ui/export';
import { readTheme, watchTheme } from '../ui/page-theme';
import { render } from '../ui/render';
import { SHARED_CSS, adoptStyles } from '../ui/styles';
import { TOOLBAR_CSS, Toolbar } from '../ui/toolbar';
import { ProgressDrawing } from './draw';
import { errorText } from './errors';
import { layoutProgress, type ProgressInput, type ProgressLayout } from './layout';
import { progressPicture } from './picture';
import { PROGRESS_CSS } from './style';
import { progressTables } from './tables';
import { describeProgress } from './words';

const TICK_MS = 200;

export interface ProgressOptions {
  /** Unmounts the chart. */
  readonly signal: AbortSignal;
  readonly firstRun?: number;
  /** Null or left out: and all that come. */
  readonly lastRun?: number | null;
  readonly translate?: Translate;
  /** Interrupts the compute that runs; resolves to why there is nothing to stop, or null. */
  readonly stop?: () => Promise<string | null>;
  /** Leads to the cells of computes; left out: nowhere. */
  readonly reveal?: RevealCell;
  /** Shared with other charts of the same computes, which are paused and cleared together; left out: its own. */
  readonly axis?: TimeAxis;
  /** Whether the buttons that concern all charts of a dashboard stand elsewhere. */
  readonly joined?: boolean;
}

export interface ProgressChart {
  readonly el: HTMLElement;
  /** What the chart shows at this moment. */
  layout(): ProgressLayout;
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

class ProgressView implements ProgressChart {
  readonly #axis: TimeAxis;
  readonly #window: ShownWindow;
  readonly #drawing: ProgressDrawing;
  readonly #tools = element('div', { class: 'tsk-progress-tools' });
  readonly #exporter: Exporter;
  readonly #joined: boolean;
  readonly #frames: FrameLoop;
  readonly #read: () => Tables;
  readonly #signal: AbortSignal;
  readonly #t: Translate;
  #ticking: ReturnType<typeof setInterval> | undefined;
  #wasLive = false;
  #drawn: ProgressLayout | null = null;

  constructor(private readonly store: TaskStore, options: ProgressOptions) {
    const { signal, firstRun = 0, lastRun = null, translate = english, stop = null, joined = false, reveal = () => null } = options;
    this.#signal = signal;
    this.#t = translate;
    this.#axis = options.axis ?? new TimeAxis(false);
    this.#window = new ShownWindow({ firstRun, lastRun }, this.#axis);
    this.#read = reader(store, this.#window);
    this.#joined = joined;
    const said = element('div', { class: 'tsk-notice', role: 'status' });
    const notice = new Notice(() => { setText(said, notice.text); }, signal);
    this.#exporter = new Exporter(notice, translate);
    this.#drawing = new ProgressDrawing({ signal, translate, stop, reveal, tools: this.#tools, notice: said });
    this.#frames = new FrameLoop(() => this.#draw(), signal);
  }

  get el(): HTMLElement {
    return this.#drawing.el;
  }

  start(): void {
    const signal = this.#signal;
    followTheme(this.el, signal);
    keepKeys(this.el, signal);
    this.#draw();
    this.store.subscribe(this.#soon, signal);
    this.#axis.subscribe(this.#soon, signal);
    signal.addEventListener(
      'abort',
      () => {
        clearInterval(this.#ticking);
        render(null, this.#tools);
        this.el.remove();
      },
      { once: true }
    );
  }

  layout(): ProgressLayout {
    return layoutProgress({ ...this.#read(), nowS: this.store.clock.nowS() });
  }

  #togglePause(): void {
    this.#axis.pauseAt(this.#axis.pausedAtS === null ? this.store.clock.nowS() : null);
  }

  #copy(): void {
    this.#exporter.copy(progressTables(this.#drawn ?? this.layout(), this.#t));
  }

  #savePicture(): void {
    const layout = this.#drawn ?? this.layout();
    const errors = layout.errors.map(kind => errorText(kind, this.#t));
    const picture = progressPicture(layout, describeProgress(layout, this.#t), errors, this.#colourOf, readTheme(this.el));
    this.#exporter.save(picture, 'taskscope-progress.png');
  }

  #renderTools(paused: boolean): void {
    const t = this.#t;
    const cleared = this.#axis.sinceRun !== null;
    const live = this.#wasLive;
    const pause = {
      text: t('Pause'), label: t('Pause: hold the picture; recording goes on'), act: () => { this.#togglePause(); },
      pressed: paused, hidden: !live && !paused
    };
    const clear = {
      text: cleared ? t('Show all computes again') : t('Clear: show only what comes'), act: () => { this.#window.toggleClear(this.store); },
      hidden: !live && !cleared
    };
    const items = [
      { text: t('Copy as a table'), act: () => { this.#copy(); } },
      { text: t('Save as PNG'), act: () => { this.#savePicture(); }, hidden: !maySaveFiles() },
      ...(this.#joined ? [] : [clear])
    ];
    const menu = { text: t('More'), label: t('More actions'), items };
    render(<Toolbar label={t('View')} buttons={this.#joined ? [] : [pause]} menu={menu} />, this.#tools);
  }

  readonly #soon = (): void => {
    this.#frames.request();
  };

  readonly #colourOf = (prefix: string): string => this.#read().colours.colour(this.store.tables.prefixId(prefix));

  #draw(): 'still' {
    const current = this.layout();
    const paused = this.#axis.pausedAtS !== null;
    const alive = this.store.clock.active && current.state === 'running';
    this.#wasLive ||= this.store.clock.active;
    this.#renderTools(paused);
    this.#drawing.setPaused(paused);
    this.#drawing.showStop(alive);
    if (!paused || this.#drawn === null) {
      this.#drawn = current;
      this.#drawing.draw(current, { runs: this.#read().runs, nowS: this.store.clock.nowS() }, this.#colourOf);
    }
    if (!alive) {
      clearInterval(this.#ticking);
      this.#ticking = undefined;
    } else {
      this.#ticking ??= setInterval(this.#soon, TICK_MS);
    }
    return 'still';
  }
}

function followTheme(chart: HTMLElement, signal: AbortSignal): void {
  const apply = (): void => {
    // An element that is not in the page yet has no style to read.
    const { dark } = readTheme(chart.isConnected ? chart : document.body);
    chart.classList.toggle('tsk-dark', dark);
  };
  apply();
  watchTheme(apply, signal);
}

type Tables = Omit<ProgressInput, 'nowS'> & { readonly runs: readonly Run[]; readonly colours: PrefixColours };

/** The tables change with messages only; time passes more often than that. */
function reader(store: TaskStore, window: ShownWindow): () => Tables {
  let seen = '';
  let tables: Tables | null = null;
  return () => {
    const now = `${store.version} ${window.firstRun}`;
    if (tables === null || seen !== now) {
      seen = now;
      tables = readTables(store, window);
    }
    return tables;
  };
}

function readTables(store: TaskStore, window: ShownWindow): Tables {
  const { tables } = store;
  const runs = tables.runsIn(window);
  return {
    rows: tables.progressIn(window),
    runs,
    estimates: tables.estimates,
    failures: store.failures(window, runsOfOthers(runs)),
    colours: store.colours(window.whole)
  };
}
