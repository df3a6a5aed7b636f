/** What each key does in the chart; `help.ts` says it to people. */

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

type KeyAction = readonly [keys: readonly string[], run: (intents: KeyIntents) => void];

const PAN_PX = 80;
const ZOOM = 1.5;
const PAGE_ROWS = 12;

const ACTIONS: readonly KeyAction[] = [
  [['ArrowLeft', 'a', 'A'], to => { to.pan(-PAN_PX); }],
  [['ArrowRight', 'd', 'D'], to => { to.pan(PAN_PX); }],
  [['w', 'W', '+', '='], to => { to.zoom(1 / ZOOM, null); }],
  [['s', 'S', '-', '_'], to => { to.zoom(ZOOM, null); }],
  [['ArrowUp'], to => { to.scrollRows(-3); }],
  [['ArrowDown'], to => { to.scrollRows(3); }],
  [['PageUp'], to => { to.scrollRows(-PAGE_ROWS); }],
  [['PageDown'], to => { to.scrollRows(PAGE_ROWS); }],
  [['Home', '0'], to => { to.fit(); }],
  [['f', 'F', 'End'], to => { to.toggleFollow(); }],
  [['n', 'N'], to => { to.stepTask(1); }],
  [['p', 'P'], to => { to.stepTask(-1); }],
  [['j', 'J'], to => { to.stepLane(1); }],
  [['k', 'K'], to => { to.stepLane(-1); }],
  [['z', 'Z'], to => { to.zoomToSelected(); }],
  [['r', 'R'], to => { to.toggleRelations(); }],
  [['/'], to => { to.find(); }],
  [['g'], to => { to.nextMatch(1); }],
  [['G'], to => { to.nextMatch(-1); }],
  [['c', 'C'], to => { to.toggleLanes(); }],
  [['Escape'], to => { to.clearSelection(); }],
  [['?'], to => { to.help(); }]
];

const BY_KEY = new Map(ACTIONS.flatMap(([keys, run]) => keys.map(key => [key, run] as const)));

/** Do what a key stands for; false if it stands for nothing. */
export function press(key: string, intents: KeyIntents): boolean {
  const run = BY_KEY.get(key);
  run?.(intents);
  return run !== undefined;
}
