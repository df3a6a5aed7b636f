/** What each key does in the chart, and the same as a list for people. */

/** What keys and pointers ask of the chart. */
export interface KeyIntents {
  /** Scale by `factor` around a place of the canvas; null: its middle. */
  zoom(factor: number, atPx: number | null): void;
  pan(px: number): void;
  scrollRows(rows: number): void;
  fit(): void;
  toggleFollow(): void;
  clearSelection(): void;
  /** Select the next or previous task of the same lane. */
  stepTask(direction: 1 | -1): void;
  /** Select the task at the same time in the next or previous lane. */
  stepLane(direction: 1 | -1): void;
  zoomToSelected(): void;
  /** Draw what the selected task needs and what needs it, or no longer. */
  toggleRelations(): void;
  find(): void;
  nextMatch(direction: 1 | -1): void;
  /** Collapse all workers, or show all lanes. */
  toggleLanes(): void;
  help(): void;
}

interface KeyAction {
  readonly keys: readonly string[];
  /** The keys as a person reads them, and what they do; null: said with the one before. */
  readonly said: readonly [keys: string, does: string] | null;
  run(intents: KeyIntents): void;
}

const PAN_PX = 80;
const ZOOM = 1.5;
const PAGE_ROWS = 12;

const ACTIONS: readonly KeyAction[] = [
  { keys: ['ArrowLeft', 'a', 'A'], said: ['← → or A D', 'move in time'], run: to => { to.pan(-PAN_PX); } },
  { keys: ['ArrowRight', 'd', 'D'], said: null, run: to => { to.pan(PAN_PX); } },
  { keys: ['w', 'W', '+', '='], said: ['+ − or W S', 'zoom'], run: to => { to.zoom(1 / ZOOM, null); } },
  { keys: ['s', 'S', '-', '_'], said: null, run: to => { to.zoom(ZOOM, null); } },
  { keys: ['ArrowUp'], said: ['↑ ↓, Page Up, Page Down', 'scroll the lanes'], run: to => { to.scrollRows(-3); } },
  { keys: ['ArrowDown'], said: null, run: to => { to.scrollRows(3); } },
  { keys: ['PageUp'], said: null, run: to => { to.scrollRows(-PAGE_ROWS); } },
  { keys: ['PageDown'], said: null, run: to => { to.scrollRows(PAGE_ROWS); } },
  { keys: ['Home', '0'], said: ['Home', 'show everything'], run: to => { to.fit(); } },
  { keys: ['f', 'F', 'End'], said: ['F', 'follow the present'], run: to => { to.toggleFollow(); } },
  { keys: ['n', 'N'], said: ['N P', 'select the next or previous task of the lane'], run: to => { to.stepTask(1); } },
  { keys: ['p', 'P'], said: null, run: to => { to.stepTask(-1); } },
  { keys: ['j', 'J'], said: ['J K', 'select in the lane below or above'], run: to => { to.stepLane(1); } },
  { keys: ['k', 'K'], said: null, run: to => { to.stepLane(-1); } },
  { keys: ['z', 'Z'], said: ['Z', 'zoom to the selected task'], run: to => { to.zoomToSelected(); } },
  { keys: ['r', 'R'], said: ['R', 'draw the dependencies and dependents of the selected task'], run: to => { to.toggleRelations(); } },
  { keys: ['/'], said: ['/', 'find tasks'], run: to => { to.find(); } },
  { keys: ['g'], said: ['G, Shift+G', 'next or previous match'], run: to => { to.nextMatch(1); } },
  { keys: ['G'], said: null, run: to => { to.nextMatch(-1); } },
  { keys: ['c', 'C'], said: ['C', 'collapse or show the lanes of workers'], run: to => { to.toggleLanes(); } },
  { keys: ['Escape'], said: ['Esc', 'select nothing'], run: to => { to.clearSelection(); } },
  { keys: ['?'], said: ['?', 'this list'], run: to => { to.help(); } }
];

const BY_KEY = new Map(ACTIONS.flatMap(action => action.keys.map(key => [key, action] as const)));

/** Keys and what they do, for people. */
export const KEY_HELP: readonly (readonly [keys: string, does: string])[] = ACTIONS.flatMap(({ said }) => (said === null ? [] : [said]));

/** Do what a key stands for; false if it stands for nothing. */
export function press(key: string, intents: KeyIntents): boolean {
  const action = BY_KEY.get(key);
  action?.run(intents);
  return action !== undefined;
}
