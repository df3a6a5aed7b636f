export type { ProgressLayout, ProgressState } from './layout';
export type { ProgressChart, ProgressOptions } from './view';
export { mount } from './view';
