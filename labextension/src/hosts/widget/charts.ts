/** The charts of widgets: mounted with the widget's window, and kept in step with the traits a person may change. */
import type { WidgetModel } from '@jupyter-widgets/base';

import { CLUSTER_CHARTS } from '../../charts/cluster';
import { mount as mountDashboard } from '../../charts/dashboard';
import { mount as mountFlame } from '../../charts/flame/view';
import { decodeFlame } from '../../charts/flame/data';
import { sourceOf } from '../../charts/flame/source';
import { mount as mountProgress } from '../../charts/progress/view';
import type { Shows } from '../../charts/timeline/time';
import type { TimelineChart } from '../../charts/timeline/timeline';
import type { TracksOptions } from '../../charts/tracks';
import { mountTracks } from '../../charts/tracks';
import { findingsOf } from '../../charts/tasks/why/findings';
import { coloursOf } from '../lab/panels/charts/live-flame';
import { hearOthers, setBy } from '../private-names';
import type { MountChart } from './view';

export const mountProgressOf: MountChart = ({ el, store, ...place }, model) => {
  mountProgress(el, store, { ...place, shows: showsOf(model) });
};

/** Whether what runs now is shown, as of a session, or all computes of a cell, a window or a recording. */
function showsOf(model: WidgetModel): Shows {
  return model.get('shows_now') === true ? 'now' : 'all';
}

export const mountGanttOf: MountChart = (place, model) => {
  const traits = new SharedTraits(model, place);
  follow(traits, model, mountTracks(place.el, place.store, ['tasks'], timelineOptions(place, model, traits)));
};

export const mountResourcesOf: MountChart = ({ el, store, ...place }, model) => {
  mountTracks(el, store, ['workers', 'resources'], { ...place, shows: showsOf(model), clusters: CLUSTER_CHARTS });
};

export const mountCacheOf: MountChart = ({ el, store, ...place }, model) => {
  mountTracks(el, store, ['cache'], { ...place, shows: showsOf(model), ...(model.get('metric') === 'count' ? { measure: 'count' } : {}) });
};

export const mountFlameOf: MountChart = (place, model) => {
  const { el, store, signal } = place;
  const traits = new SharedTraits(model, place);
  const chart = mountFlame(el, coloursOf(store), {
    signal,
    onFunction: chosen => {
      traits.tell('function', chosen === null ? null : [chosen.name, chosen.file, chosen.line]);
    }
  });
  const showSource = (): void => {
    chart.showSource(sourceOf(model.get('source')));
  };
  const show = (): void => {
    const note: unknown = model.get('note');
    chart.show(decodeFlame(model.get('data')), typeof note === 'string' ? note : null);
  };
  show();
  showSource();
  model.on('change:data change:note', show);
  model.on('change:source', showSource);
  signal.addEventListener('abort', () => {
    model.off('change:data change:note', show);
    model.off('change:source', showSource);
  });
};

export const mountDashboardOf: MountChart = (place, model) => {
  const traits = new SharedTraits(model, place);
  const dashboard = mountDashboard(place.el, place.store, {
    ...timelineOptions(place, model, traits),
    ...(place.stop === undefined ? {} : { stop: place.stop }),
    compact: model.get('compact') === true,
    brief: model.get('more_charts') !== true,
    onBrief: brief => {
      traits.keep('more_charts', !brief);
      dashboard.setBrief(brief);
    }
  });
  follow(traits, model, dashboard.timeline);
  traits.hear('more_charts', value => {
    dashboard.setBrief(value !== true);
  });
  traits.hear('compact', value => {
    dashboard.setCompact(value === true);
  });
};

function timelineOptions(
  { signal, firstRun, lastRun, reveal, keeping }: Parameters<MountChart>[0],
  model: WidgetModel,
  traits: SharedTraits
): TracksOptions {
  return {
    signal,
    firstRun,
    lastRun,
    shows: showsOf(model),
    clusters: CLUSTER_CHARTS,
    follow: lastRun === null && model.get('follow') === true,
    isOver: model.get('recorded') !== null,
    ...(reveal === undefined ? {} : { reveal }),
    ...(keeping === undefined ? {} : { keeping, findings: findingsOf(keeping.keeper) }),
    onFollow: value => {
      traits.tell('follow', value);
    },
    onTimeRange: range => {
      traits.tell('time_range', range);
    },
    onSelectedKey: key => {
      traits.tell('selected_key', key);
    }
  };
}

/** Have a chart follow what the kernel sets. */
function follow(traits: SharedTraits, model: WidgetModel, chart: TimelineChart): void {
  const range = spanOf(model.get('time_range'));
  if (range !== null) {
    chart.setTimeRange(range);
  }
  traits.hear('follow', value => {
    chart.setFollow(value === true);
  });
  traits.hear('time_range', value => {
    chart.setTimeRange(spanOf(value));
  });
  const key: unknown = model.get('selected_key');
  if (typeof key === 'string') {
    chart.setSelectedKey(key);
  }
  traits.hear('selected_key', value => {
    chart.setSelectedKey(typeof value === 'string' ? value : null);
  });
}

/** Traits that both sides change: what this view told comes back as a change, and is not news to it. */
class SharedTraits {
  constructor(
    private readonly _model: WidgetModel,
    private readonly _place: Pick<Parameters<MountChart>[0], 'signal' | 'tell'>
  ) {}

  tell(trait: string, value: unknown): void {
    setBy(this, this._model, trait, value);
    // Queued by the widget itself while the kernel is busy; a closed widget has nobody to tell.
    if (this._model.comm_live && this._place.tell?.(trait, value) !== true) {
      this._model.save_changes();
    }
  }

  /** For what only views need to know: it reaches the kernel when that has time. */
  keep(trait: string, value: unknown): void {
    setBy(this, this._model, trait, value);
    if (this._model.comm_live) {
      this._model.save_changes();
    }
  }

  hear(trait: string, listener: (value: unknown) => void): void {
    this._place.signal.addEventListener('abort', hearOthers(this, this._model, trait, listener));
  }
}

/** Return a span of seconds, or null for anything else. */
function spanOf(value: unknown): [startS: number, stopS: number] | null {
  if (!Array.isArray(value) || value.length !== 2) {
    return null;
  }
  const [startS, stopS] = value as unknown[];
  const isSpan = typeof startS === 'number' && typeof stopS === 'number' && stopS > startS;
  return isSpan ? [startS, stopS] : null;
}
