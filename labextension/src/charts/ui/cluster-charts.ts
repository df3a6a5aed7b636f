/** What charts have more of where there is a cluster: only its type is known here, so that pages without one need no more. */
import type { MakeBarLayer } from '../gantt/bar-layer';

export interface ClusterCharts {
  /** Draws what workers did besides computing over the bars of the Gantt chart. */
  readonly layer: MakeBarLayer;
}
