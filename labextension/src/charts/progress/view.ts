/** The progress chart in a page: draws when the store changes, and lets time pass in between. */
import { english, type Translate } from '../../lib/translate';
import type { PrefixColours, RunWindow, TaskStore } from '../../store';
import { FrameLoop } from '../ui/frames';
import { readTheme, watchTheme } from '../ui/page-theme';
import { SHARED_CSS, adoptStyles } from '../ui/styles';
import { ProgressDrawing } from './draw';
import { layoutProgress, type ProgressInput, type ProgressLayout } from './layout';
import { PROGRESS_CSS } from './style';

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
}

export interface ProgressChart {
  readonly el: HTMLElement;
  /** What the chart shows at this moment. */
  layout(): ProgressLayout;
}

/** Put a progress chart of some computes into `el`, until `signal` aborts. */
export function mount(el: HTMLElement, store: TaskStore, options: ProgressOptions): ProgressChart {
  const { signal, firstRun = 0, lastRun = null, translate = english } = options;
  const window = { firstRun, lastRun };
  const drawing = new ProgressDrawing({ signal, translate, stop: options.stop ?? null });
  const read = reader(store, window);
  const layout = (): ProgressLayout => layoutProgress({ ...read(), nowS: store.clock.nowS() });
  const colourOf = (prefix: string): string => read().colours.colour(store.tables.prefixId(prefix));
  if (signal.aborted) {
    return { el: drawing.el, layout };
  }
  adoptStyles(el, SHARED_CSS);
  adoptStyles(el, PROGRESS_CSS);
  el.append(drawing.el);
  followTheme(drawing.el, signal);

  let ticking: ReturnType<typeof setInterval> | undefined;
  const draw = (): void => {
    const current = layout();
    const alive = store.clock.active && current.state === 'running';
    drawing.draw(current, colourOf, alive);
    if (!alive) {
      clearInterval(ticking);
      ticking = undefined;
    } else {
      ticking ??= setInterval(soon, TICK_MS);
    }
  };
  const frames = new FrameLoop(() => {
    draw();
    return 'still';
  }, signal);
  const soon = (): void => {
    frames.request();
  };
  draw();
  store.subscribe(soon, signal);
  signal.addEventListener(
    'abort',
    () => {
      clearInterval(ticking);
      drawing.el.remove();
    },
    { once: true }
  );
  return { el: drawing.el, layout };
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

type Tables = Omit<ProgressInput, 'nowS'> & { readonly colours: PrefixColours };

/** The tables change with messages only; time passes more often than that. */
function reader(store: TaskStore, window: RunWindow): () => Tables {
  let version = store.version;
  let tables = readTables(store, window);
  return () => {
    if (version !== store.version) {
      version = store.version;
      tables = readTables(store, window);
    }
    return tables;
  };
}

function readTables(store: TaskStore, window: RunWindow): Tables {
  const { tables } = store;
  return {
    rows: tables.progressIn(window),
    runs: tables.runsIn(window),
    estimates: tables.estimates,
    failures: store.failures(window),
    colours: store.colours(window)
  };
}
