/** The keys of the lanes, what a person reads about them, and what they do. */
import type { Span } from '../../lib/span';
import { trans } from '../../lib/translate';
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
  togglePath(): void;
  /** Select the time in sight. */
  selectInSight(): void;
  /** Move an end of the selected time. */
  moveEdge(edge: keyof Span, direction: 1 | -1): void;
  /** Light up nothing; else select no time, else no task. */
  clearSelection(): void;
}

const ROWS: Readonly<Record<string, number>> = { ArrowUp: -3, ArrowDown: 3, PageUp: -PAGE_ROWS, PageDown: PAGE_ROWS };

export const taskMoves = (): readonly KeyBinding<TaskKeys>[] => [
  { keys: Object.keys(ROWS), shown: trans.__('↑ ↓, Page Up, Page Down'), does: trans.__('scroll the threads'), act: (to, key) => { to.scrollRows(ROWS[key] ?? 0); } }
];

/** @param isExplained whether there is a kernel that knows the critical path */
export const taskKeys = (isExplained: boolean): readonly KeyBinding<TaskKeys>[] => [
  { keys: ['n', 'N', 'p', 'P'], shown: 'N P', does: trans.__('select the next or previous task of the thread'), act: (to, key) => { to.stepTask(/n/i.test(key) ? 1 : -1); } },
  { keys: ['j', 'J', 'k', 'K'], shown: 'J K', does: trans.__('select in the thread below or above'), act: (to, key) => { to.stepLane(/j/i.test(key) ? 1 : -1); } },
  { keys: ['z', 'Z'], shown: 'Z', does: trans.__('zoom to the selected task, or time'), act: to => { to.zoomToSelected(); } },
  { keys: ['r', 'R'], shown: 'R', does: trans.__('draw the dependencies and dependents of the selected task'), act: to => { to.toggleRelations(); } },
  { keys: ['/'], shown: '/', does: trans.__('find tasks'), act: to => { to.find(); } },
  { keys: ['g', 'G'], shown: trans.__('G, Shift+G'), does: trans.__('next or previous match'), act: (to, key) => { to.nextMatch(key === 'g' ? 1 : -1); } },
  ...(isExplained ? [{ keys: ['c', 'C'], shown: 'C', does: trans.__('light up the critical path'), act: (to: TaskKeys) => { to.togglePath(); } }] : []),
  { keys: ['Shift+c', 'Shift+C'], shown: trans.__('Shift+C'), does: trans.__('collapse or show the threads of workers'), act: to => { to.toggleLanes(); } },
  { keys: ['x', 'X'], shown: 'X', does: trans.__('select the time in sight: what ran there'), act: to => { to.selectInSight(); } },
  { keys: ['Shift+ArrowLeft', 'Shift+ArrowRight'], shown: trans.__('Shift+← →'), does: trans.__('move the end of the selected time'), act: (to, key) => { to.moveEdge('stopS', key === 'ArrowLeft' ? -1 : 1); } },
  { keys: ['Shift+a', 'Shift+A', 'Shift+d', 'Shift+D'], shown: trans.__('Shift+A D'), does: trans.__('move its beginning'), act: (to, key) => { to.moveEdge('startS', /a/i.test(key) ? -1 : 1); } },
  { keys: ['Escape'], shown: trans.__('Esc'), does: trans.__('light up nothing, then select no time, then no task'), act: to => { to.clearSelection(); } }
];
