/** Activities without those that were done for tasks of hidden prefixes. */
import type { TaskStore } from '../../store';
import { LaneTasks } from '../../store';
import type { PrefixFilter } from '../tasks/scene';

export class ShownActivities {
  #lanes = new WeakMap<LaneTasks, LaneTasks>();
  #hidden: PrefixFilter['hidden'] = null;

  constructor(private readonly store: Pick<TaskStore, 'tables'>) {}

  /** Hide what was done for these prefixes; returns whether these are others than before. */
  hide({ hidden }: PrefixFilter): boolean {
    if (hidden?.join() === this.#hidden?.join()) {
      return false;
    }
    this.#hidden = hidden;
    this.#lanes = new WeakMap();
    return true;
  }

  /** What is shown of a lane; its places are others than the lane's, its rows the same. */
  of(lane: LaneTasks | undefined): LaneTasks | undefined {
    if (lane === undefined || this.#hidden === null) {
      return lane;
    }
    const known = this.#lanes.get(lane);
    if (known?.version === lane.version) {
      return known;
    }
    const shown = this.#without(lane, this.#hidden);
    this.#lanes.set(lane, shown);
    return shown;
  }

  #without(lane: LaneTasks, hidden: Uint8Array): LaneTasks {
    const shown = new LaneTasks();
    const { startS, stopS, group, prefix, flags, run, row } = lane;
    for (let i = 0; i < lane.n; i += 1) {
      if (hidden[this.store.tables.prefixOfGroup(group[i] as number) ?? -1] !== 1) {
        shown.push(
          startS[i] as number, stopS[i] as number, group[i] as number, prefix[i] as number, flags[i] as number, run[i] as number, row[i] as number
        );
      }
    }
    shown.settle();
    shown.version = lane.version;
    return shown;
  }
}
