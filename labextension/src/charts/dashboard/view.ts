/** Progress and the tracks of the same computes: one time axis, one cursor, one selection, one set of colours. */
import { trans } from '../../lib/translate';
import type { RunWindow, TaskStore } from '../../store';
import type { ProgressChart, ProgressOptions } from '../progress';
import { mount as mountProgress } from '../progress';
import type { TimelineChart } from '../timeline';
import { TimeAxis } from '../timeline';
import type { TracksOptions } from '../tracks';
import { mountTracks } from '../tracks';
import { element } from '../ui/dom';
import { adoptStyles } from '../ui/styles';
import { DASHBOARD_CSS } from './style';

export interface DashboardOptions extends Omit<TracksOptions, 'joined'>, Omit<ProgressOptions, 'joined'> {
  /**
   * Which part names the prefixes: `rows` of progress, each with a bar of its own, or the `legend` of the
   * tasks, which is lower and enough once all is over.
   */
  readonly prefixes?: 'rows' | 'legend';
  /** Whether to leave out all but the bar and the tracks. */
  readonly compact?: boolean;
}

export interface Dashboard {
  readonly el: HTMLElement;
  readonly progress: ProgressChart;
  readonly timeline: TimelineChart;
  setCompact(compact: boolean): void;
  /** Show the bar, the lanes of tasks and one line of CPU and memory, or all. */
  setBrief(brief: boolean): void;
  /** Show the computes of another window. */
  setWindow(window: RunWindow): void;
}

/** Put the charts of some computes into `el`, until `signal` aborts. */
export function mount(el: HTMLElement, store: TaskStore, options: DashboardOptions): Dashboard {
  const { signal, prefixes = 'rows', compact = false, brief = false, lastRun = null, follow } = options;
  const root = element('div', {
    class: 'tsk-dashboard',
    role: 'group',
    'aria-label': trans.__('Dask computes'),
    'data-prefixes': prefixes
  });
  const setCompact = (value: boolean): void => {
    root.toggleAttribute('data-compact', value);
  };
  setCompact(compact);
  root.toggleAttribute('data-brief', brief);
  if (!signal.aborted) {
    adoptStyles(el, DASHBOARD_CSS);
    el.append(root);
    signal.addEventListener('abort', () => { root.remove(); }, { once: true });
  }
  const shared = { ...options, axis: options.axis ?? new TimeAxis(follow ?? lastRun === null), joined: true };
  const progress = mountProgress(root, store, shared);
  const timeline = mountTracks(root, store, ['tasks', 'workers', 'resources', 'cache'], shared);
  const setBrief = (value: boolean): void => {
    root.toggleAttribute('data-brief', value);
    timeline.setBrief(value);
  };
  const setWindow = (window: RunWindow): void => {
    progress.setWindow(window);
    timeline.setWindow(window);
  };
  return { el: root, progress, timeline, setCompact, setBrief, setWindow };
}
