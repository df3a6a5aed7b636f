/** The keys of the lanes, what a person reads about them, and what they do. */
import type { TranslationBundle } from '../../lib/translate';
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

export const taskMoves = (trans: TranslationBundle): readonly KeyBinding<TaskKeys>[] => [
  { keys: Object.keys(ROWS), shown: trans.__('↑ ↓, Page Up, Page Down'), does: trans.__('scroll the lanes'), act: (to, key) => { to.scrollRows(ROWS[key] ?? 0); } }
];

export const taskKeys = (trans: TranslationBundle): readonly KeyBinding<TaskKeys>[] => [
  { keys: ['n', 'N', 'p', 'P'], shown: 'N P', does: trans.__('select the next or previous task of the lane'), act: (to, key) => { to.stepTask(/n/i.test(key) ? 1 : -1); } },
  { keys: ['j', 'J', 'k', 'K'], shown: 'J K', does: trans.__('select in the lane below or above'), act: (to, key) => { to.stepLane(/j/i.test(key) ? 1 : -1); } },
  { keys: ['z', 'Z'], shown: 'Z', does: trans.__('zoom to the selected task'), act: to => { to.zoomToSelected(); } },
  { keys: ['r', 'R'], shown: 'R', does: trans.__('draw the dependencies and dependents of the selected task'), act: to => { to.toggleRelations(); } },
  { keys: ['/'], shown: '/', does: trans.__('find tasks'), act: to => { to.find(); } },
  { keys: ['g', 'G'], shown: trans.__('G, Shift+G'), does: trans.__('next or previous match'), act: (to, key) => { to.nextMatch(key === 'g' ? 1 : -1); } },
  { keys: ['c', 'C'], shown: 'C', does: trans.__('collapse or show the lanes of workers'), act: to => { to.toggleLanes(); } },
  { keys: ['Escape'], shown: trans.__('Esc'), does: trans.__('select nothing'), act: to => { to.clearSelection(); } }
];
