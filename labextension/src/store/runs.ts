import type { Run } from '../wire';

/** How many computes rows stand for; the oldest of very many are added up in one. */
export function countRuns(runs: readonly Run[]): number {
  return runs.reduce((sum, { nRuns }) => sum + (nRuns ?? 1), 0);
}
