/** What workers of a cluster were seen to hold, in a file. */
import { demand } from './errors';
import type { Packed } from './pack';
import { joined } from './pack';
import type { FileRecording, Holdings } from './recording';
import { MAX_S } from './records';
import { HOLDINGS } from './schema';

/** The rows of all frames, in order. */
export function holdingsOf(parts: readonly Packed[]): Holdings {
  for (const { columns } of parts) {
    demand(columns.size === Object.keys(HOLDINGS).length, 'what was held has all columns');
    demand(new Set([...columns.values()].map(c => c.length)).size === 1, 'columns of what was held must be equally long');
  }
  const whole = (name: string): Uint32Array =>
    joined(parts.map(({ columns }) => columns.get(name) as Uint32Array), new Uint32Array());
  const real = (name: string): Float64Array =>
    joined(parts.map(({ columns }) => columns.get(name) as Float64Array), new Float64Array());
  return {
    run: joined(parts.map(({ columns }) => columns.get('run') as Int32Array), new Int32Array()),
    group: whole('group'),
    time: real('time'),
    nKeys: whole('n_keys'),
    nbytes: real('nbytes'),
    nUnsized: whole('n_unsized')
  };
}

/** Throws DamagedFileError unless the runs and groups that rows refer to are there. */
export function checkHoldings({ runs, groups, holdings }: FileRecording): void {
  const known = new Set(runs.map(({ run }) => run));
  demand(holdings.run.every(run => known.has(run)), 'what was held is of a run');
  demand(holdings.group.every(group => group < groups.length), 'what was held is of a group');
  demand(holdings.time.every(timeS => Math.abs(timeS) < MAX_S), 'a time must be possible');
  demand(holdings.nbytes.every(nbytes => nbytes >= 0 && Number.isFinite(nbytes)), 'what was held has a size');
}
