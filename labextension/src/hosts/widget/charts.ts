/** The module that the widget manager loads: the charts of widgets, kept in step with the traits a person may change. */
import type { ExportMap, WidgetModel } from '@jupyter-widgets/base';

import type { DashboardOptions } from '../../charts/dashboard';
import { decodeFlame } from '../../charts/flame/data';
import { sourceOf } from '../../charts/flame/source';
import { mountFlame } from '../../charts/flame/track';
import type { TimelineChart } from '../../charts/timeline/timeline';
import { MOUNTS } from '../chart-host';
import type { ChartName } from '../lab/panels/charts';
import { hearOthers, setBy } from '../private-names';
import { CHART_MODELS, RecordingModel } from './models';
import type { MountChart, Place } from './view';
import { type Surroundings, chartView } from './view';

export const WIDGETS: Record<ChartName, MountChart> = {
  progress: place => { MOUNTS.progress(place.el, place); },
  resources: place => { MOUNTS.resources(place.el, place); },
  cache: ({ el, store, options, model }) => {
    MOUNTS.cache(el, { store, options: { ...options, ...(model.get('metric') === 'count' ? { measure: 'count' } : {}) } });
  },
  'task-stream': place => {
    const traits = new SharedTraits(place);
    follow(traits, place.model, MOUNTS['task-stream'](place.el, { ...place, options: timelineOptions(place, traits) }));
  },
  flame: mountFlameOf,
  dashboard: mountDashboardOf
};

function mountFlameOf(place: Place): void {
  const { el, store, model, options } = place;
  const { signal } = options;
  const traits = new SharedTraits(place);
  const chart = mountFlame(el, store, {
    ...options,
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
}

function mountDashboardOf(place: Place): void {
  const { el, store, model } = place;
  const traits = new SharedTraits(place);
  const dashboard = MOUNTS.dashboard(el, {
    store,
    options: {
      ...timelineOptions(place, traits),
      compact: model.get('compact') === true,
      brief: model.get('more_charts') !== true,
      onBrief: brief => {
        traits.keep('more_charts', !brief);
        dashboard.setBrief(brief);
      }
    }
  });
  follow(traits, model, dashboard.timeline);
  traits.hear('more_charts', value => { dashboard.setBrief(value !== true); });
  traits.hear('compact', value => { dashboard.setCompact(value === true); });
}

function timelineOptions({ options, model }: Place, traits: SharedTraits): DashboardOptions {
  return {
    ...options,
    follow: options.lastRun === null && model.get('follow') === true,
    onFollow: value => { traits.tell('follow', value); },
    onTimeRange: range => { traits.tell('time_range', range); },
    onSelectedKey: key => { traits.tell('selected_key', key); }
  };
}

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
  constructor(private readonly _place: Place) {}

  tell(trait: string, value: unknown): void {
    setBy(this, this._place.model, trait, value);
    // Queued by the widget itself while the kernel is busy; a closed widget has nobody to tell.
    if (this._place.model.comm_live && !this._place.tell(trait, value)) {
      this._place.model.save_changes();
    }
  }

  /** For what only views need to know: it reaches the kernel when that has time. */
  keep(trait: string, value: unknown): void {
    setBy(this, this._place.model, trait, value);
    if (this._place.model.comm_live) {
      this._place.model.save_changes();
    }
  }

  hear(trait: string, listener: (value: unknown) => void): void {
    this._place.options.signal.addEventListener('abort', hearOthers(this, this._place.model, trait, listener));
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

export function widgetModule(surroundings: Surroundings): ExportMap {
  const view = (chart: ChartName): ReturnType<typeof chartView> => chartView(surroundings, chart, WIDGETS[chart]);
  return {
    RecordingModel,
    ...CHART_MODELS,
    ProgressView: view('progress'),
    GanttView: view('task-stream'),
    DashboardView: view('dashboard'),
    ResourceView: view('resources'),
    CacheView: view('cache'),
    FlameView: view('flame')
  };
}
