export type { OpenTask } from './coverage';
export { LaneCoverage, MARK, NO_PREFIX } from './coverage';
export type { RunRange } from './lane-tasks';
export { LaneTasks, SCHEDULER_BIT, STATUS_BITS } from './lane-tasks';
export type { PrefixColours } from './prefix-colours';
export type { RunWindow } from './tables';
export { ALL_RUNS, inWindow } from './tables';
export type { Appended, TaskDetail, TaskStoreOptions } from './task-store';
export { TaskStore } from './task-store';
