/** What charts over time are mounted with. */
import type { Translate } from '../../lib/translate';
import type { ClusterCharts } from '../ui/cluster-charts';
import type { TimeAxis } from '../ui/time-axis';

export interface SeriesOptions {
  /** Whether the buttons that concern all charts of a dashboard stand elsewhere. */
  readonly joined?: boolean;
  /** Unmounts the chart. */
  readonly signal: AbortSignal;
  readonly firstRun?: number;
  /** Null or left out: and all that come. */
  readonly lastRun?: number | null;
  /** Whether the chart starts by moving with the present; on where the window is open. */
  readonly follow?: boolean;
  /** Shared with other charts of the same computes; left out: its own. */
  readonly axis?: TimeAxis;
  readonly translate?: Translate;
  /** What only clusters have; left out: that is not shown. */
  readonly clusters?: ClusterCharts;
  /** The person switched following on or off. */
  readonly onFollow?: (follow: boolean) => void;
  /** The person chose a span, in seconds after the recorder's zero; null: no certain one. */
  readonly onTimeRange?: (range: [startS: number, stopS: number] | null) => void;
}
