/** Which functions the tasks' time goes to. */
export type { FlameChart, FlameColours, FlameOptions } from './view';
export { mount } from './view';
