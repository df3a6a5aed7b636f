/** Lanes of tasks as a test writes them down, and what is measured of them. */
import { type CoverageQuery, type LaneInSight, Coverage, LaneTasks } from '../../src/store';

export interface Bar {
  start: number;
  stop: number;
  prefix?: number;
  status?: number;
  run?: number;
}

export function laneOf(bars: readonly Bar[]): LaneTasks {
  const lane = new LaneTasks();
  bars.forEach(({ start, stop, prefix = 0, status = 0, run = 0 }, row) => {
    lane.push(start, stop, 0, prefix, status, run, row);
  });
  lane.settle();
  return lane;
}

/** Everything of `columns` seconds, in as many columns. */
export function lookAt(columns: number, more: Partial<CoverageQuery> = {}): CoverageQuery {
  return {
    span: { startS: 0, stopS: columns }, columns, nPrefixes: 10, runs: null, filter: { hidden: null, focus: -1 },
    nowS: 0, untilS: Infinity, ...more
  };
}

export function measured(lanes: readonly (LaneTasks | LaneInSight | undefined)[], query: CoverageQuery): Coverage {
  const coverage = new Coverage();
  // Measured twice: what is left of an earlier frame must not count.
  const wider = { ...query, columns: query.columns + 1 };
  for (const each of [wider, query]) {
    coverage.measure(lanes.map(lane => (lane === undefined || lane instanceof LaneTasks ? { tasks: lane, open: [] } : lane)), each);
  }
  return coverage;
}
