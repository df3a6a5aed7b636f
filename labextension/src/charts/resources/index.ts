/** CPU and memory over time. */
import type { TaskStore } from '../../store';
import type { SeriesOptions } from '../series/options';
import type { SeriesChart } from '../series/view';
import { mountSeries } from '../series/view';
import { ResourcesContent } from './content';

export type { SeriesOptions } from '../series/options';
export type { SeriesChart } from '../series/view';

/** Put a chart of CPU and memory of some computes into `el`, until the signal aborts; that of a cluster's workers above it. */
export function mount(el: HTMLElement, store: TaskStore, options: SeriesOptions): SeriesChart {
  options.clusters?.mountWorkers(el, store, options);
  return mountSeries(el, store, options, (...of) => new ResourcesContent(...of));
}
