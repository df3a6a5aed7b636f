/** What the workers of a cluster did in a range of time besides tasks, and the memory they had. */
import { formatBytes, formatCount, formatDuration } from '../../lib/format';
import type { Span } from '../../lib/span';
import { trans } from '../../lib/translate';
import type { ActivitySum, ClusterStore, RunRange } from '../../store';
import { ACTIVITIES } from '../../wire';
import { isIn, isOf, secondsIn } from '../tasks/range/numbers';
import { nameOf } from './activity-legend';

/** Sums by kind, cut at both ends of the range; bytes are all of those that moved some of them then. */
export function activitiesIn({ activities }: ClusterStore, runs: RunRange, span: Span): ActivitySum[] {
  const sums = ACTIVITIES.map(kind => ({ kind, n: 0, seconds: 0, nbytes: 0 }));
  for (const id of activities.laneIds) {
    const lane = activities.lane(id);
    const last = lane?.firstStarting(span.stopS) ?? 0;
    for (let i = lane?.firstReaching(span.startS) ?? 0; lane !== undefined && i < last; i += 1) {
      const sum = sums[lane.prefix[i] as number];
      const [fromS, toS] = [lane.startS[i] as number, lane.stopS[i] as number];
      if (sum !== undefined && isOf(lane.run[i] as number, runs) && isIn(fromS, toS, span)) {
        sum.n += 1;
        sum.seconds += secondsIn(fromS, toS, span);
        sum.nbytes += activities.detail(id, i)?.nbytes ?? 0;
      }
    }
  }
  return sums.filter(({ n }) => n > 0);
}

/** The largest sum over the workers that was sampled; null: there is no sample in the range. */
export function residentIn({ workers }: ClusterStore, { startS, stopS }: Span): number | null {
  const series = workers.series(null);
  let bytes = -1;
  for (let i = 0; i < series.n; i += 1) {
    const timeS = series.timeS[i] as number;
    const sample = series.rssBytes[i] as number;
    bytes = timeS >= startS && timeS <= stopS && sample > bytes ? sample : bytes;
  }
  return bytes < 0 ? null : bytes;
}

export function rangeLines(cluster: ClusterStore, runs: RunRange, span: Span): string[] {
  const sums = activitiesIn(cluster, runs, span);
  const resident = residentIn(cluster, span);
  const { missing } = cluster.activities;
  return [
    ...sums.map(({ kind, n, seconds, nbytes }) => {
      const took = trans.__('%1: %2 in %3', nameOf(kind), formatDuration(seconds), formatCount(n));
      return nbytes > 0 ? trans.__('%1, of %2 with what was moved before and after.', took, formatBytes(nbytes)) : `${took}.`;
    }),
    ...(missing > 0 ? [trans.__('%1 shorter activities are no longer kept, in no sum here.', formatCount(missing))] : []),
    ...(cluster.workers.n === 0 ? [] : [
      resident === null ? trans.__('Memory of the workers: not sampled in this time.') : trans.__('Memory of all workers: %1 in the largest sample.', formatBytes(resident))
    ])
  ];
}
