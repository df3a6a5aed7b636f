/** Progress above the Gantt chart of the same computes; their colours are the store's, so they agree. */
import type { TaskStore } from '../../store';
import { type GanttChart, type GanttOptions, mount as mountGantt } from '../gantt';
import { type ProgressChart, type ProgressOptions, mount as mountProgress } from '../progress';
import { element } from '../ui/dom';
import { adoptStyles } from '../ui/styles';
import { DASHBOARD_CSS } from './style';

export interface DashboardOptions extends GanttOptions, ProgressOptions {
  /**
   * Which chart names the prefixes: `rows` of progress, each with a bar of its own, or the Gantt
   * chart's `legend`, which is lower and enough once all is over.
   */
  readonly prefixes?: 'rows' | 'legend';
}

export interface Dashboard {
  readonly el: HTMLElement;
  readonly progress: ProgressChart;
  readonly gantt: GanttChart;
}

/** Put both charts of some computes into `el`, until `signal` aborts. */
export function mount(el: HTMLElement, store: TaskStore, options: DashboardOptions): Dashboard {
  const { signal, prefixes = 'rows' } = options;
  const root = element('div', { class: 'tsk-dashboard', 'data-prefixes': prefixes });
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
  return {
    el: root,
    progress: mountProgress(root, store, options),
    gantt: mountGantt(root, store, options)
  };
}
