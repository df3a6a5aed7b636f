export type { GanttChart, GanttOptions } from './options';
export { mount } from './view';
