/** The charts of JupyterLab's panels, widgets, cells and documents: what they are made of, and how each is mounted; loaded with the first of them. */
import { CLUSTER_CHARTS } from '../charts/cluster/layer';
import type { Dashboard, DashboardOptions } from '../charts/dashboard';
import { mount as mountDashboard } from '../charts/dashboard';
import { type FlameData, decodeFlame } from '../charts/flame/data';
import { mountFlame } from '../charts/flame/track';
import { stopWith } from '../charts/progress/stopper';
import { mount as mountProgress } from '../charts/progress/view';
import { findingsOf } from '../charts/tasks/why/findings';
import { TimeAxis, headline } from '../charts/timeline/time';
import type { TimelineChart } from '../charts/timeline/timeline';
import { type TrackName, mountTracks } from '../charts/tracks';
import { Keeping } from '../charts/ui/keeping';
import { savePicture } from '../charts/ui/picture';
import { messageOf } from '../lib/error-message';
import { trans } from '../lib/translate';
import { ALL_RUNS, type TaskStore } from '../store';
import { isRecord } from '../wire/check';
import type { Feed } from './lab/feed/feed';
import type { ChartName } from './lab/panels/charts';
import { unpack } from './report/data';

const PAUSE_MS = 1_000;

/** What charts show, and what they offer. */
export interface Charts {
  readonly store: TaskStore;
  readonly options: DashboardOptions;
}

/** What a kernel has of a recorder, used until `signal` aborts; the kernel stops, saves and explains computes. */
export function liveCharts(feed: Feed, recorder: string, signal: AbortSignal): Charts {
  const { value: store, release } = feed.use(recorder);
  signal.addEventListener('abort', release, { once: true });
  const { keeper } = feed;
  const stop = stopWith((run, way) => feed.stop(run, way));
  return { store, options: { signal, clusters: CLUSTER_CHARTS, savePicture, keeping: new Keeping(keeper), findings: findingsOf(keeper), stop } };
}

/** A recording, to which nothing can come any more. */
export function recordedCharts(store: TaskStore, signal: AbortSignal): Charts {
  return { store, options: { signal, clusters: CLUSTER_CHARTS, savePicture, follow: false, isOver: true } };
}

const tracks = (...names: readonly TrackName[]) => (el: HTMLElement, { store, options }: Charts): TimelineChart => mountTracks(el, store, names, options);

/** Put a chart into `el`, until its signal aborts. */
export const MOUNTS = {
  dashboard: (el: HTMLElement, { store, options }: Charts): Dashboard => mountDashboard(el, store, options),
  progress: (el: HTMLElement, { store, options }: Charts): unknown => mountProgress(el, store, options),
  'task-stream': tracks('tasks'),
  resources: tracks('workers', 'resources'),
  cache: tracks('cache')
};

export interface PanelOptions extends Pick<DashboardOptions, 'compact' | 'hidden' | 'onHidden' | 'reveal'> {
  /** The recorder's axis, which outlives its charts. */
  readonly axis: (newAxis: () => TimeAxis) => TimeAxis;
  /** Aborts once the panel is closed or looks at another kernel; meanwhile it may be hidden, without charts. */
  readonly until: AbortSignal;
}

/** Put a chart of what runs now into a panel. */
export function mountPanel(name: ChartName, el: HTMLElement, feed: Feed, recorder: string, signal: AbortSignal, { axis, until, ...more }: PanelOptions): void {
  const { store, options } = liveCharts(feed, recorder, signal);
  const cell = {
    current: () => feed.cell,
    subscribe: (listener: () => void): void => {
      feed.cellChanged.connect(listener);
      signal.addEventListener('abort', () => { feed.cellChanged.disconnect(listener); }, { once: true });
    }
  };
  const charts: Charts = { store, options: { ...options, ...more, cell, axis: axis(() => new TimeAxis(true)), shows: 'now' } };
  if (name === 'flame') {
    mountLiveFlame(el, charts, feed, until);
  } else {
    MOUNTS[name](el, charts);
  }
}

/** The flame graph of what a kernel computed last: while it computes, requested a second after the last answer. */
function mountLiveFlame(el: HTMLElement, { store, options }: Charts, feed: Feed, until: AbortSignal): void {
  const { signal } = options;
  const nothing = trans.__('No samples yet: sampling of call stacks begins with this panel, and ends when it is closed. Run a cell that computes with Dask, or run it again.');
  const chart = mountFlame(el, store, { ...options, nothing });
  let timer: ReturnType<typeof setTimeout> | undefined;
  let hasNews = false;
  let data: FlameData | null = null;
  const request = async (): Promise<void> => {
    try {
      const runs = headline(store.tables.runsIn(ALL_RUNS)).map(({ run }) => run);
      const packed = await feed.profile({ firstRun: runs.length === 0 ? 0 : Math.min(...runs), lastRun: null }, until);
      data = isRecord(packed) ? decodeFlame({ ...packed, columns: await unpack(packed.data, packed.bytes, 'profile') }) : null;
      if (!signal.aborted) {
        chart.show(data, null);
      }
    } catch (error) {
      if (!signal.aborted) {
        chart.show(data, messageOf(error));
      }
    }
  };
  const later = (pauseMs = PAUSE_MS): void => {
    hasNews = true;
    timer ??= setTimeout(() => {
      hasNews = false;
      void request().then(() => {
        timer = undefined;
        if (hasNews && !signal.aborted) {
          later();
        }
      });
    }, pauseMs);
  };
  store.subscribe(() => { later(); }, signal);
  signal.addEventListener('abort', () => { clearTimeout(timer); }, { once: true });
  later(0);
}
