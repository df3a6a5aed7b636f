/** Go through what was held, moment by moment, adding up the groups. */
import type { HeldStore } from './held-store';
import type { RunWindow } from './tables';
import { inWindow } from './tables';

/** What is counted: keys, bytes, or what the user's metric gave. */
export type Measure = 'count' | 'bytes' | 'metric';

/** What is held at one moment. The same object at every moment: copy what is to be kept. */
export interface Moment {
  timeS: number;
  total: number;
  /** Keys of which the measure is not known; they are not in the total. */
  unknown: number;
  nKeys: number;
  /** The measure by group, over all computes. */
  readonly byGroup: Float64Array;
  /** The first `nChanged` of these are the groups that changed at this moment. */
  readonly changed: Uint16Array;
  nChanged: number;
}

/** Less of a group of which nothing is held is a rounding error. */
const NOTHING = 1e-9;

/** Call `visit` at every moment of these computes, in order of time. */
export function walkHeld(
  held: HeldStore,
  window: RunWindow,
  measure: Measure,
  visit: (moment: Moment) => void
): void {
  const amounts = amountColumn(held, measure);
  const unknowns = unknownColumn(held, measure);
  const { timeS: times, run, group: groups, nKeys, slot: slots, n } = held;
  const amountOf = new Float64Array(held.nSlots);
  const unknownOf = new Float64Array(held.nSlots);
  const nKeysOf = new Float64Array(held.nSlots);
  const byGroup = new Float64Array(held.nGroups);
  const changedAt = new Int32Array(held.nGroups).fill(-1);
  const changed = new Uint16Array(held.nGroups);
  const moment: Moment = { timeS: 0, total: 0, unknown: 0, nKeys: 0, byGroup, changed, nChanged: 0 };
  let nMoments = 0;
  for (let i = 0; i < n; i += 1) {
    if (!inWindow(run[i] as number, window)) {
      continue;
    }
    const timeS = times[i] as number;
    if (moment.nChanged > 0 && timeS !== moment.timeS) {
      visit(moment);
      moment.nChanged = 0;
      nMoments += 1;
    }
    const group = groups[i] as number;
    const slot = slots[i] as number;
    const amount = amounts[i] as number;
    const unknown = unknowns?.[i] ?? 0;
    const keys = nKeys[i] as number;
    const more = amount - (amountOf[slot] as number);
    const sum = (byGroup[group] as number) + more;
    byGroup[group] = keys === 0 && sum < NOTHING ? 0 : sum;
    moment.timeS = timeS;
    moment.total += more;
    moment.unknown += unknown - (unknownOf[slot] as number);
    moment.nKeys += keys - (nKeysOf[slot] as number);
    if (moment.nKeys === 0) {
      moment.total = 0;
    }
    amountOf[slot] = amount;
    unknownOf[slot] = unknown;
    nKeysOf[slot] = keys;
    if (changedAt[group] !== nMoments) {
      changedAt[group] = nMoments;
      changed[moment.nChanged] = group;
      moment.nChanged += 1;
    }
  }
  if (moment.nChanged > 0) {
    visit(moment);
  }
}

function amountColumn(held: HeldStore, measure: Measure): Float64Array | Uint32Array {
  switch (measure) {
    case 'count':
      return held.nKeys;
    case 'bytes':
      return held.nbytes;
    case 'metric':
      return held.value;
  }
}

function unknownColumn(held: HeldStore, measure: Measure): Uint32Array | null {
  switch (measure) {
    case 'count':
      return null;
    case 'bytes':
      return held.nUnsized;
    case 'metric':
      return held.nUnvalued;
  }
}
