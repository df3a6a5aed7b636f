/** Which functions the tasks' time goes to. */
export type { FlameChart, FlameOptions } from './view';
export { mount } from './view';
