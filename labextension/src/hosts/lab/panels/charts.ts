/** Which charts a panel can show. */
import type { LabIcon } from '@jupyterlab/ui-components';

import { trans } from '../../../lib/translate';
import { cacheIcon, dashboardIcon, flameIcon, progressIcon, resourcesIcon, taskStreamIcon } from './icons';

export const CHARTS = ['dashboard', 'progress', 'task-stream', 'resources', 'cache', 'flame'] as const;
export type ChartName = (typeof CHARTS)[number];

interface Chart {
  readonly icon: LabIcon;
  label(): string;
}

const SHOWN: Record<ChartName, Chart> = {
  dashboard: { icon: dashboardIcon, label: () => trans.__('Dask Dashboard') },
  progress: { icon: progressIcon, label: () => trans.__('Dask Progress') },
  'task-stream': { icon: taskStreamIcon, label: () => trans.__('Dask Tasks') },
  resources: { icon: resourcesIcon, label: () => trans.__('Dask CPU and Memory') },
  cache: { icon: cacheIcon, label: () => trans.__('Dask Results in Memory') },
  flame: { icon: flameIcon, label: () => trans.__('Dask Profile') }
};

export function chartOf(name: ChartName): Chart {
  return SHOWN[name];
}

export function isChartName(value: unknown): value is ChartName {
  return CHARTS.some(name => name === value);
}
