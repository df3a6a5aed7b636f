/** Which charts a panel can show. */
import type { TranslationBundle } from '@jupyterlab/translation';
import type { LabIcon } from '@jupyterlab/ui-components';

import type { RevealCell } from '../../../charts/ui/cell-link';
import type { TimeAxis } from '../../../charts/timeline';
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
}

const SHOWN: Record<ChartName, Chart> = {
  dashboard: { icon: dashboardIcon, label: trans => trans.__('Dask Dashboard') },
  progress: { icon: progressIcon, label: trans => trans.__('Dask Progress') },
  'task-stream': { icon: taskStreamIcon, label: trans => trans.__('Dask Task Stream') },
  resources: { icon: resourcesIcon, label: trans => trans.__('Dask Resources') },
  cache: { icon: cacheIcon, label: trans => trans.__('Dask Cache') }
};

export function chartOf(name: ChartName): Chart {
  return SHOWN[name];
}

/** Mount a chart as soon as its script is here, unless the place's signal has aborted by then. */
export async function mountChart(name: ChartName, place: ChartPlace): Promise<void> {
  try {
    const { MOUNTS } = await import('./mounts');
    if (!place.signal.aborted) {
      MOUNTS[name](place);
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const { el, trans } = place;
    el.replaceChildren(trans.__('The chart could not be loaded: %1', reason));
  }
}

export function isChartName(value: unknown): value is ChartName {
  return CHARTS.some(name => name === value);
}
