/** What the scheduler holds over time. */
import type { Measure, TaskStore } from '../../store';
import type { SeriesOptions } from '../series/options';
import type { SeriesChart } from '../series/view';
import { mountSeries } from '../series/view';
import { CacheContent } from './content';

export type { SeriesChart } from '../series/view';

export interface CacheOptions extends SeriesOptions {
  /** What is shown at first; left out: the user's metric where there is one, else bytes. */
  readonly measure?: Measure;
}

/** Put a chart of what the scheduler held during some computes into `el`, until the signal aborts. */
export function mount(el: HTMLElement, store: TaskStore, options: CacheOptions): SeriesChart {
  return mountSeries(el, store, options, (...of) => new CacheContent(...of, options.measure ?? null));
}
