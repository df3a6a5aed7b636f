/** How each chart of a panel is mounted; loaded with the first one, not when JupyterLab starts. */

import { CLUSTER_CHARTS } from '../../../../charts/cluster';
import { mount as mountDashboard } from '../../../../charts/dashboard';
import { mount as mountProgress } from '../../../../charts/progress/view';
import type { StopRun } from '../../../../charts/progress/stopper';
import { stopWith } from '../../../../charts/progress/stopper';
import { mountTracks } from '../../../../charts/tracks';
import { TimeAxis } from '../../../../charts/timeline/time';
import type { Keeper, RevealCell } from '../../../../charts/ui/keeping';
import { Keeping } from '../../../../charts/ui/keeping';
import { findingsOf } from '../../../../charts/tasks/why/findings';
import type { RunWindow, TaskStore } from '../../../../store';
import type { ChartName } from './charts';
import { mountLiveFlame } from './live-flame';

export interface ChartPlace {
  readonly el: HTMLElement;
  readonly store: TaskStore;
  readonly signal: AbortSignal;
  readonly axis: TimeAxis;
  readonly compact: boolean;
  /** Prefixes that are hidden at first. */
  readonly hidden: readonly string[];
  readonly onHidden: (hidden: readonly string[]) => void;
  readonly stop: StopRun;
  readonly keeper: Keeper;
  /** Resolves to the call stacks of computes. */
  readonly profile: (window: RunWindow) => Promise<unknown>;
  readonly reveal: RevealCell;
}

export const newAxis = (): TimeAxis => new TimeAxis(true);

export const MOUNTS: Record<ChartName, (place: ChartPlace) => void> = {
  dashboard: ({ el, store, stop, keeper, ...place }) => {
    mountDashboard(el, store, { ...place, keeping: new Keeping(keeper), shows: 'now', stop: stopWith(stop), clusters: CLUSTER_CHARTS, findings: findingsOf(keeper) });
  },
  progress: ({ el, store, stop, keeper, ...place }) => {
    mountProgress(el, store, { ...place, keeping: new Keeping(keeper), shows: 'now', stop: stopWith(stop) });
  },
  'task-stream': ({ el, store, keeper, ...place }) => {
    mountTracks(el, store, ['tasks'], { ...place, keeping: new Keeping(keeper), shows: 'now', clusters: CLUSTER_CHARTS, findings: findingsOf(keeper) });
  },
  resources: ({ el, store, keeper, ...place }) => {
    mountTracks(el, store, ['workers', 'resources'], { ...place, keeping: new Keeping(keeper), shows: 'now', clusters: CLUSTER_CHARTS });
  },
  flame: ({ el, store, profile, signal }) => {
    mountLiveFlame(el, store, profile, signal);
  },
  cache: ({ el, store, keeper, ...place }) => {
    mountTracks(el, store, ['cache'], { ...place, keeping: new Keeping(keeper), shows: 'now' });
  }
};
