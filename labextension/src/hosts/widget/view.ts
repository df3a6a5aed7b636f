/** What all widget views do: take the shared store of their kernel and recorder, mount a chart, and let go. */
import { DOMWidgetView, type WidgetModel } from '@jupyter-widgets/base';

import type { RunRange } from '../../store';
import { type Charts, liveCharts, recordedCharts } from '../chart-host';
import { type FrameButton, mountFrame } from '../chart-frame';
import type { ICells } from '../lab/cells/cells';
import type { Feed } from '../lab/feed/feed';
import type { Use } from '../lab/feed/shared';
import type { ChartName } from '../lab/panels/charts';
import { RecordingModel } from './models';

/** What views need of the page. */
export interface Surroundings {
  /** Use the feed of the kernel of a widget; null where there is no kernel. */
  readonly feedOf: (model: WidgetModel) => Use<Feed> | null;
  /** The buttons of a chart's frame. */
  readonly buttons: (chart: ChartName, kernelId: string) => readonly FrameButton[];
  /** Null where there are none. */
  readonly cells: ICells | null;
}

export interface Place extends Charts {
  readonly el: HTMLElement;
  readonly model: WidgetModel;
  /** Tells the kernel what a person chose while a cell keeps it from hearing widgets; false: it cannot be told so. */
  readonly tell: (trait: string, value: unknown) => boolean;
}

/** Mounts one chart; it goes when the signal of its options aborts. */
export type MountChart = (place: Place) => void;

/** Make the class of a view that shows this chart. */
export function chartView(surroundings: Surroundings, chart: ChartName, mount: MountChart): typeof DOMWidgetView {
  return class ChartView extends DOMWidgetView {
    override render(): void {
      super.render();
      if (!this.model.comm_live) {
        // What a notebook saved, or a kernel that is gone: nothing of it is shown, whoever wrote it.
        mountFrame(this.el, { kind: 'saved' }, new AbortController().signal);
        return;
      }
      this._mount();
      // One message may change several of its traits: Backbone tells of each, and in the end once of all.
      this.listenTo(this.model, 'change', () => {
        if (this._window !== runRangeKey(this.model)) {
          this._mount();
        }
      });
    }

    override remove(): unknown {
      this._mounted?.abort();
      this._mounted = undefined;
      return super.remove();
    }

    private readonly _mount = (): void => {
      this._mounted?.abort();
      this._mounted = new AbortController();
      this._window = runRangeKey(this.model);
      mountChart(this.el, this.model, this._mounted.signal, surroundings, chart, mount);
    };

    private _mounted: AbortController | undefined;
    private _window = '';
  };
}

function mountChart(
  el: HTMLElement,
  model: WidgetModel,
  signal: AbortSignal,
  surroundings: Surroundings,
  chart: ChartName,
  mount: MountChart
): void {
  const { feedOf, buttons, cells } = surroundings;
  const show = (body: HTMLElement, { store, options }: Charts, tell: Place['tell']): void => {
    mount({ el: body, model, tell, store, options: { ...options, ...runRangeOf(model), shows: model.get('shows_now') === true ? 'now' : 'all' } });
  };
  const recorded: unknown = model.get('recorded');
  if (recorded instanceof RecordingModel) {
    show(mountFrame(el, { kind: 'recorded' }, signal), recordedCharts(recorded.store, signal), () => false);
    return;
  }
  const use = feedOf(model);
  if (use === null) {
    mountFrame(el, { kind: 'no-kernel' }, signal);
    return;
  }
  const { value: feed, release } = use;
  const recorder = textOf(model.get('recorder_id'));
  const body = mountFrame(el, { kind: 'live', feed, recorder, buttons: buttons(chart, feed.kernelId) }, signal);
  const { store, options } = liveCharts(feed, recorder, signal);
  signal.addEventListener('abort', release);
  const reveal = cells?.of(feed.kernelId) ?? (() => null);
  show(body, { store, options: { ...options, reveal } }, (trait, value) => feed.tell(model.model_id, trait, value));
}

/** Which computes of which recorder are shown. */
function runRangeKey(model: WidgetModel): string {
  return JSON.stringify([textOf(model.get('recorder_id')), runRangeOf(model)]);
}

function runRangeOf(model: WidgetModel): RunRange {
  return { firstRun: numberOf(model.get('first_run')) ?? 0, lastRun: numberOf(model.get('last_run')) };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}
