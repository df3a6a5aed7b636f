/** Time, gestures, keys, buttons and what leaves a chart, for any number of tracks. */
export { TimeAxis } from './time/time-axis';
export type { TimelineChart, TimelineOptions } from './timeline';
export { mountTimeline } from './timeline';
export type { Shows } from './time/shown-window';
export type { View } from './time/time-frame';
