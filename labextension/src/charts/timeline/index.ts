/** Time, gestures, keys, buttons and what leaves a chart, for any number of tracks. */
export { TimeAxis } from './time';
export type { TimelineChart, TimelineOptions } from './timeline';
export { mountTimeline } from './timeline';
export type { Shows } from './time';
export type { View } from './time';
