/** Where in the lanes tasks are that are known by the recorder's numbers. */
import type { LaneTasks } from './lane-tasks';
import type { RowNumbers } from './row-numbers';
import type { TaskRef } from './selection';

/** The places of those that are here, by number. */
export function placesOf(
  numbers: readonly number[],
  known: RowNumbers,
  lanes: readonly (LaneTasks | undefined)[]
): Map<number, TaskRef> {
  const byRow = new Map(numbers.flatMap(number => {
    const row = known.rowOf(number);
    return row === null ? [] : [[row, number] as const];
  }));
  const places = new Map<number, TaskRef>();
  lanes.forEach((lane, id) => {
    for (let i = 0; lane !== undefined && i < lane.n && places.size < byRow.size; i += 1) {
      const row = lane.row[i] as number;
      const number = byRow.get(row);
      if (number !== undefined) {
        places.set(number, { lane: id, row, startS: lane.startS[i] as number });
      }
    }
  });
  return places;
}
