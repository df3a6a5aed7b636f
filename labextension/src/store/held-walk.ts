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
  readonly byGroup: ReadonlyMap<number, number>;
}

interface Part {
  amount: number;
  unknown: number;
  nKeys: number;
}

const GROUPS = 65536;
const NOTHING: Part = { amount: 0, unknown: 0, nKeys: 0 };

/** Call `visit` at every moment of these computes, in order of time; `changed` are the groups that changed then. */
export function walkHeld(
  held: HeldStore,
  window: RunWindow,
  measure: Measure,
  visit: (moment: Moment, changed: ReadonlySet<number>) => void
): void {
  const amounts = amountColumn(held, measure);
  const unknowns = unknownColumn(held, measure);
  const parts = new Map<number, Part>();
  const byGroup = new Map<number, number>();
  const moment = { timeS: 0, total: 0, unknown: 0, nKeys: 0, byGroup };
  const changed = new Set<number>();
  for (let i = 0; i < held.n; i += 1) {
    const run = held.run[i] as number;
    if (!inWindow(run, window)) {
      continue;
    }
    const timeS = held.timeS[i] as number;
    if (changed.size > 0 && timeS !== moment.timeS) {
      visit(moment, changed);
      changed.clear();
    }
    const group = held.group[i] as number;
    const part = parts.get(run * GROUPS + group) ?? { ...NOTHING };
    const now = { amount: amounts[i] as number, unknown: unknowns?.[i] ?? 0, nKeys: held.nKeys[i] as number };
    const sum = (byGroup.get(group) ?? 0) + now.amount - part.amount;
    byGroup.set(group, now.nKeys === 0 && sum < 1e-9 ? 0 : sum);
    moment.timeS = timeS;
    moment.total += now.amount - part.amount;
    moment.unknown += now.unknown - part.unknown;
    moment.nKeys += now.nKeys - part.nKeys;
    if (moment.nKeys === 0) {
      moment.total = 0;
    }
    parts.set(run * GROUPS + group, now);
    changed.add(group);
  }
  if (changed.size > 0) {
    visit(moment, changed);
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
