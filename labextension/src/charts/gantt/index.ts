export type { GanttChart, GanttOptions } from './view';
export { mount } from './view';
