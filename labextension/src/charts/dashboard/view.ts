/** The charts of the same computes, one below the other: one time axis, one cursor, one selection, one set of colours. */
import { english } from '../../lib/translate';
import type { TaskStore } from '../../store';
import { mount as mountCache } from '../cache';
import { type GanttChart, type GanttOptions, mount as mountGantt } from '../gantt';
import { type ProgressChart, type ProgressOptions, mount as mountProgress } from '../progress';
import { type SeriesChart, mount as mountResources } from '../resources';
import { element } from '../ui/dom';
import { adoptStyles } from '../ui/styles';
import { TimeAxis } from '../ui/time-axis';
import { DASHBOARD_CSS } from './style';

export interface DashboardOptions extends GanttOptions, ProgressOptions {
  /**
   * Which chart names the prefixes: `rows` of progress, each with a bar of its own, or the Gantt
   * chart's `legend`, which is lower and enough once all is over.
   */
  readonly prefixes?: 'rows' | 'legend';
  /** Whether to leave out all but the bar and the charts. */
  readonly compact?: boolean;
}

export interface Dashboard {
  readonly el: HTMLElement;
  readonly progress: ProgressChart;
  readonly gantt: GanttChart;
  readonly resources: SeriesChart;
  readonly cache: SeriesChart;
  setCompact(compact: boolean): void;
}

/** Put the charts of some computes into `el`, until `signal` aborts. */
export function mount(el: HTMLElement, store: TaskStore, options: DashboardOptions): Dashboard {
  const { signal, prefixes = 'rows', compact = false, lastRun = null, follow, translate = english } = options;
  const root = element('div', {
    class: 'tsk-dashboard',
    role: 'group',
    'aria-label': translate('Dask computes'),
    'data-prefixes': prefixes
  });
  const setCompact = (value: boolean): void => {
    root.toggleAttribute('data-compact', value);
  };
  setCompact(compact);
  if (!signal.aborted) {
    adoptStyles(el, DASHBOARD_CSS);
    el.append(root);
    signal.addEventListener(
      'abort',
      () => {
        root.remove();
      },
      { once: true }
    );
  }
  const shared = { ...options, joined: true, axis: options.axis ?? new TimeAxis(follow ?? lastRun === null) };
  return {
    el: root,
    progress: mountProgress(root, store, shared),
    gantt: mountGantt(root, store, shared),
    resources: mountResources(root, store, shared),
    cache: mountCache(root, store, shared),
    setCompact
  };
}
