/** Which charts a panel can show, and how each is mounted. */
import type { TranslationBundle } from '@jupyterlab/translation';
import type { LabIcon } from '@jupyterlab/ui-components';

import { mount as mountCache } from '../../../charts/cache';
import { CLUSTER_CHARTS } from '../../../charts/cluster';
import { mount as mountDashboard } from '../../../charts/dashboard';
import { mount as mountGantt } from '../../../charts/gantt';
import { mount as mountProgress } from '../../../charts/progress';
import { mount as mountResources } from '../../../charts/resources';
import type { RevealCell } from '../../../charts/ui/cell-link';
import type { TimeAxis } from '../../../charts/ui/time-axis';
import type { TaskStore } from '../../../store';
import { cacheIcon, dashboardIcon, progressIcon, resourcesIcon, taskStreamIcon } from './icons';

export const CHARTS = ['dashboard', 'progress', 'task-stream', 'resources', 'cache'] as const;
export type ChartName = (typeof CHARTS)[number];

export interface ChartPlace {
  readonly el: HTMLElement;
  readonly store: TaskStore;
  readonly signal: AbortSignal;
  readonly axis: TimeAxis;
  readonly compact: boolean;
  /** Prefixes that are hidden at first. */
  readonly hidden: readonly string[];
  readonly onHidden: (hidden: readonly string[]) => void;
  readonly stop: () => Promise<string | null>;
  readonly reveal: RevealCell;
  readonly trans: TranslationBundle;
}

interface Chart {
  readonly icon: LabIcon;
  label(trans: TranslationBundle): string;
  mount(place: ChartPlace): void;
}

const MOUNTED: Record<ChartName, Chart> = {
  dashboard: {
    icon: dashboardIcon,
    label: trans => trans.__('Dask Dashboard'),
    mount: ({ el, store, ...place }) => {
      mountDashboard(el, store, { ...place, clusters: CLUSTER_CHARTS, translate: place.trans.__.bind(place.trans) });
    }
  },
  progress: {
    icon: progressIcon,
    label: trans => trans.__('Dask Progress'),
    mount: ({ el, store, ...place }) => {
      mountProgress(el, store, { ...place, translate: place.trans.__.bind(place.trans) });
    }
  },
  'task-stream': {
    icon: taskStreamIcon,
    label: trans => trans.__('Dask Task Stream'),
    mount: ({ el, store, ...place }) => {
      mountGantt(el, store, { ...place, clusters: CLUSTER_CHARTS, translate: place.trans.__.bind(place.trans) });
    }
  },
  resources: {
    icon: resourcesIcon,
    label: trans => trans.__('Dask Resources'),
    mount: ({ el, store, ...place }) => {
      mountResources(el, store, { ...place, clusters: CLUSTER_CHARTS, translate: place.trans.__.bind(place.trans) });
    }
  },
  cache: {
    icon: cacheIcon,
    label: trans => trans.__('Dask Cache'),
    mount: ({ el, store, ...place }) => {
      mountCache(el, store, { ...place, translate: place.trans.__.bind(place.trans) });
    }
  }
};

export function chartOf(name: ChartName): Chart {
  return MOUNTED[name];
}

export function isChartName(value: unknown): value is ChartName {
  return CHARTS.some(name => name === value);
}
