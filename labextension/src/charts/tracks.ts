/** All tracks by their names: adding one is a file of its own, and a line here. */
import type { Measure, TaskStore } from '../store';
import { CacheTrack } from './values/cache';
import { ResourcesTrack } from './values/resources';
import type { MakeLaneLayer } from './tasks/scene';
import type { TasksOptions } from './tasks/track';
import { TasksTrack } from './tasks/track';
import type { TimelineChart, TimelineOptions } from './timeline/timeline';
import { mountTimeline } from './timeline/timeline';
import type { MakeTrack } from './timeline/track';

/** What only clusters have; pages without one need no more than this type. */
export interface ClusterCharts {
  /** What workers did besides computing, over the bars of tasks. */
  readonly layer: MakeLaneLayer;
  /** CPU and memory of the workers, in the page once something was heard of them. */
  readonly workers: MakeTrack;
}

export interface TracksOptions extends TimelineOptions, Omit<TasksOptions, 'layer'> {
  /** Left out: what only clusters have is not shown. */
  readonly clusters?: ClusterCharts;
  /** What the cache shows at first; left out: the user's metric where there is one, else bytes. */
  readonly measure?: Measure;
}

const TRACKS = {
  tasks: ({ clusters, ...options }) => context => new TasksTrack(context, { ...options, ...(clusters === undefined ? {} : { layer: clusters.layer }) }),
  workers: ({ clusters }) => context => clusters?.workers(context) ?? null,
  resources: () => context => new ResourcesTrack(context),
  cache: ({ measure }) => context => new CacheTrack(context, measure ?? null)
} satisfies Record<string, (options: TracksOptions) => MakeTrack>;

export type TrackName = keyof typeof TRACKS;

/** Those of a dashboard and of a result, top to bottom. */
export const DASHBOARD_TRACKS: readonly TrackName[] = ['tasks', 'workers', 'resources', 'cache'];

/** Put a timeline of the tracks of these names into `el`, until the signal aborts. */
export function mountTracks(el: HTMLElement, store: TaskStore, names: readonly TrackName[], options: TracksOptions): TimelineChart {
  return mountTimeline(el, store, names.map(name => TRACKS[name](options)), options);
}
