/** The charts of the computes of one cell; loaded with the first badge that is pressed. */

import { CLUSTER_CHARTS } from '../../../charts/cluster';
import { mount } from '../../../charts/dashboard';
import { stopWith } from '../../../charts/progress/stopper';
import { TimeAxis } from '../../../charts/timeline/time';
import { findingsOf } from '../../../charts/tasks/why/findings';
import { Keeping } from '../../../charts/ui/keeping';
import type { RunWindow } from '../../../store';
import { mountFrame } from '../../widget/frame';
import type { Feed } from '../feed/feed';

export interface CellCharts {
  setWindow(window: RunWindow): void;
}

export interface CellChartsOptions {
  readonly feed: Feed;
  readonly recorder: string;
  readonly window: RunWindow;
  readonly brief: boolean;
  readonly onBrief: (brief: boolean) => void;
  readonly close: () => void;
  readonly signal: AbortSignal;
}

export function mountCellCharts(el: HTMLElement, options: CellChartsOptions): CellCharts {
  const { feed, recorder, window, onBrief, close, signal } = options;
  const { body } = mountFrame(el, { kind: 'live', feed, recorder, popOut: null, close }, signal);
  const held = feed.lease(recorder);
  signal.addEventListener('abort', () => {
    held.release();
  });
  const dashboard = mount(body, held.value, {
    ...options,
    ...window,
    axis: new TimeAxis(false),
    clusters: CLUSTER_CHARTS,
    findings: findingsOf(feed.keeper),
    keeping: new Keeping(feed.keeper),
    stop: stopWith((run, way) => feed.stop(run, way)),
    onBrief: brief => {
      onBrief(brief);
      dashboard.setBrief(brief);
    }
  });
  return dashboard;
}
