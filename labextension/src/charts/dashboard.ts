/** Progress and the tracks of the same computes: one time axis, one cursor, one selection, one set of colours. */
import { trans } from '../lib/translate';
import type { RunRange, TaskStore } from '../store';
import type { ProgressChart, ProgressOptions } from './progress/view';
import { mount as mountProgress } from './progress/view';
import type { Findings, MakeFindings } from './tasks/why/findings';
import type { TimelineChart } from './timeline/timeline';
import { TimeAxis } from './timeline/time';
import type { TracksOptions } from './tracks';
import { DASHBOARD_TRACKS, mountTracks } from './tracks';
import { element } from './ui/dom';
import type { ComponentChildren } from './ui/render';
import { adoptStyles } from './ui/theme';

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
  /** Show other computes. */
  setRunRange(runRange: RunRange): void;
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
  let findings: Findings | null = null;
  // Where there is little room the first finding stands in progress, in room that is there before it is known.
  const setDense = (): void => {
    if (findings !== null) {
      findings.isAbove = root.matches('[data-compact], [data-brief]');
      findings.version += 1;
    }
  };
  root.toggleAttribute('data-compact', compact);
  root.toggleAttribute('data-brief', brief);
  if (!signal.aborted) {
    [BRIEF_CSS, DASHBOARD_CSS].forEach(css => { adoptStyles(el, css); });
    el.append(root);
    signal.addEventListener('abort', () => { root.remove(); }, { once: true });
  }
  const { findings: make } = options;
  const makeFindings: MakeFindings | undefined = make && ((host, until) => {
    const made = make({ ...host, changed: () => { host.changed(); progress.refresh(); } }, until);
    findings = made;
    setDense();
    return made;
  });
  const answer = (): ComponentChildren | undefined => (root.matches('[data-compact], [data-brief]') ? (findings?.above() ?? null) : undefined);
  const shared = { ...options, axis: options.axis ?? new TimeAxis(follow ?? lastRun === null), joined: true, answer, findings: makeFindings };
  const progress = mountProgress(root, store, shared);
  // Files are in the menu of progress, whose head names the computes that they are of.
  const timeline = mountTracks(root, store, DASHBOARD_TRACKS, { ...shared, keeping: undefined });
  const setCompact = (value: boolean): void => {
    root.toggleAttribute('data-compact', value);
    setDense();
    progress.refresh();
  };
  const setBrief = (value: boolean): void => {
    root.toggleAttribute('data-brief', value);
    setDense();
    timeline.setBrief(value);
    progress.refresh();
  };
  const setRunRange = (runRange: RunRange): void => {
    progress.setRunRange(runRange);
    timeline.setRunRange(runRange);
  };
  return { el: root, progress, timeline, setCompact, setBrief, setRunRange };
}

const DASHBOARD_CSS = `
.tsk-dashboard:is([data-prefixes='rows'], [data-brief]) .tsk-gantt-legend, .tsk-dashboard[data-prefixes='legend']:not([data-brief], [data-compact]) .tsk-progress-prefixes { display: none; }
.tsk-dashboard[data-compact] :is(.tsk-gantt-legend, .tsk-gantt-state, .tsk-series-foot) { display: none; }
.tsk-dashboard[data-compact] :is(.tsk-gantt, .tsk-series) { padding-block: 2px 4px; }
`;

/** How charts stand together, also without progress. */
export const BRIEF_CSS = `
.tsk-dashboard { min-width: 0; }
.tsk-dashboard > .tsk-chart + .tsk-chart { border-top: 1px solid var(--tsk-line); }
.tsk-dashboard[data-brief] .tsk-gantt { padding-block: 2px 4px; }
.tsk-dashboard[data-brief] .tsk-gantt-top { padding-bottom: 2px; }
@container (max-width: 520px) {
  .tsk-dashboard[data-brief] :is(.tsk-gantt-state, .tsk-gauge-detail) { display: none; }
  .tsk-dashboard[data-brief] .tsk-series-head { flex: 1 1 0 !important; order: 0 !important; flex-wrap: nowrap; gap: 12px; }
  .tsk-dashboard[data-brief] .tsk-gauge { flex-basis: 0; }
  .tsk-dashboard[data-brief] .tsk-gauge > div:first-child { column-gap: 4px; }
  .tsk-dashboard[data-brief] [data-part='head'] .tsk-track-title { display: none; }
  .tsk-dashboard[data-brief] .tsk-toolbar button { padding-inline: 5px; }
}
`;


