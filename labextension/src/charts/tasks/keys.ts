/** The keys of the lanes, what a person reads about them, and what they do. */
import type { KeyBinding } from '../timeline/keys';

const PAGE_ROWS = 12;

/** What the keys of this track ask for. */
export interface TaskKeys {
  scrollRows(rows: number): void;
  stepTask(direction: 1 | -1): void;
  stepLane(direction: 1 | -1): void;
  zoomToSelected(): void;
  toggleRelations(): void;
  find(): void;
  nextMatch(direction: 1 | -1): void;
  toggleLanes(): void;
  clearSelection(): void;
}

const ROWS: Readonly<Record<string, number>> = { ArrowUp: -3, ArrowDown: 3, PageUp: -PAGE_ROWS, PageDown: PAGE_ROWS };

export const TASK_MOVES: readonly KeyBinding<TaskKeys>[] = [
  { keys: Object.keys(ROWS), shown: '↑ ↓, Page Up, Page Down', does: 'scroll the lanes', act: (to, key) => { to.scrollRows(ROWS[key] ?? 0); } }
];

export const TASK_KEYS: readonly KeyBinding<TaskKeys>[] = [
  { keys: ['n', 'N', 'p', 'P'], shown: 'N P', does: 'select the next or previous task of the lane', act: (to, key) => { to.stepTask(/n/i.test(key) ? 1 : -1); } },
  { keys: ['j', 'J', 'k', 'K'], shown: 'J K', does: 'select in the lane below or above', act: (to, key) => { to.stepLane(/j/i.test(key) ? 1 : -1); } },
  { keys: ['z', 'Z'], shown: 'Z', does: 'zoom to the selected task', act: to => { to.zoomToSelected(); } },
  { keys: ['r', 'R'], shown: 'R', does: 'draw the dependencies and dependents of the selected task', act: to => { to.toggleRelations(); } },
  { keys: ['/'], shown: '/', does: 'find tasks', act: to => { to.find(); } },
  { keys: ['g', 'G'], shown: 'G, Shift+G', does: 'next or previous match', act: (to, key) => { to.nextMatch(key === 'g' ? 1 : -1); } },
  { keys: ['c', 'C'], shown: 'C', does: 'collapse or show the lanes of workers', act: to => { to.toggleLanes(); } },
  { keys: ['Escape'], shown: 'Esc', does: 'select nothing', act: to => { to.clearSelection(); } }
];
