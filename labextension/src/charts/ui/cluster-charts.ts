/** What charts have more of where there is a cluster: only its type is known here, so that pages without one need no more. */
import type { TaskStore } from '../../store';
import type { MakeBarLayer } from '../gantt/bar-layer';
import type { SeriesOptions } from '../series/options';
import type { SeriesChart } from '../series/view';

export interface ClusterCharts {
  /** Draws what workers did besides computing over the bars of the Gantt chart. */
  readonly layer: MakeBarLayer;
  /** Puts a chart of the workers' CPU and memory into `el`, seen once something was heard of workers. */
  mountWorkers(el: HTMLElement, store: TaskStore, options: SeriesOptions): SeriesChart;
}
