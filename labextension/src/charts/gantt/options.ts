/** How a Gantt chart is mounted, and what its host can do with it. */
import type { Translate } from '../../lib/translate';
import type { RevealCell } from '../ui/cell-link';
import type { TimeAxis } from '../ui/time-axis';
import type { ClusterCharts } from '../ui/cluster-charts';

export interface GanttOptions {
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
  /** Prefixes that are hidden at first. */
  readonly hidden?: readonly string[];
  /** The person hid some prefixes, or showed them again. */
  readonly onHidden?: (hidden: readonly string[]) => void;
  /** The person switched following on or off. */
  readonly onFollow?: (follow: boolean) => void;
  /** The person chose a span, in seconds after the recorder's zero; null: no certain one. */
  readonly onTimeRange?: (range: [startS: number, stopS: number] | null) => void;
  /** A task was selected here or in another view of the recorder, or none. */
  readonly onSelectedKey?: (key: string | null) => void;
  /** Leads to the cells of computes; left out: nowhere. */
  readonly reveal?: RevealCell;
  /** What only clusters have; left out: that is not shown. */
  readonly clusters?: ClusterCharts;
}

export interface GanttChart {
  readonly el: HTMLElement;
  /** These three are not reported back. */
  setFollow(follow: boolean): void;
  setTimeRange(range: readonly [startS: number, stopS: number] | null): void;
  /** Select a task by its key, for all views of the recorder; null: none. */
  setSelectedKey(key: string | null): void;
  /** The span that is shown, null before the first compute. */
  timeRange(): [startS: number, stopS: number] | null;
}
