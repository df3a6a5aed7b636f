export type { OpenTask, RunRange } from './coverage';
export { LaneCoverage, MARK, NO_PREFIX } from './coverage';
export { LaneTasks, SCHEDULER_BIT, STATUS_BITS } from './lane-tasks';
export type { RunWindow } from './tables';
export { ALL_RUNS, inWindow } from './tables';
export type { Appended, TaskDetail, TaskStoreOptions } from './task-store';
export { TaskStore, missingText } from './task-store';
