/** The chart of whatever recorder a kernel has: mounted anew when that is another one, after a restart for example. */
import type { IDisposable } from '@lumino/disposable';

import { trans } from '../../../../lib/translate';
import type { TimeAxis } from '../../../../charts/timeline/time';
import type { RevealCell } from '../../../../charts/ui/keeping';
import type { Feed } from '../../feed/feed';
import type { Lease } from '../../feed/leases';
import type { ChartName } from './charts';
import type { Views } from '../memory';
import type { ChartPlace } from './mounts';

export interface LiveChartOptions {
  readonly chart: ChartName;
  readonly compact: boolean;
  readonly views: Views;
  readonly reveal: RevealCell;
}

export interface LiveChart extends IDisposable {
  readonly feed: Feed;
}

/** Show a kernel's chart in `el` until it is disposed, which also lets go of the feed. */
export function showLive(el: HTMLElement, lease: Lease<Feed>, { chart, ...options }: LiveChartOptions): LiveChart {
  const feed = lease.value;
  const { views } = options;
  let mounted: AbortController | null = null;
  let shown = '';
  const refresh = (): void => {
    const { recorder } = feed;
    if (recorder === shown) {
      return;
    }
    mounted?.abort();
    shown = recorder;
    mounted = new AbortController();
    const { signal } = mounted;
    const held = feed.lease(recorder);
    signal.addEventListener(
      'abort',
      () => {
        held.release();
      },
      { once: true }
    );
    void mountChart(chart, {
      el,
      store: held.value,
      signal,
      axis: newAxis => views.axis(recorder, newAxis, signal),
      hidden: views.hidden(recorder),
      onHidden: prefixes => {
        views.setHidden(recorder, prefixes);
      },
      stop: (run, way) => feed.stop(run, way),
      keeper: feed.keeper,
      profile: window => feed.profile(window),
      ...options
    });
  };
  feed.recorderChanged.connect(refresh);
  refresh();
  let isDisposed = false;
  return {
    feed,
    get isDisposed() {
      return isDisposed;
    },
    dispose: () => {
      if (isDisposed) {
        return;
      }
      isDisposed = true;
      feed.recorderChanged.disconnect(refresh);
      mounted?.abort();
      lease.release();
    }
  };
}

type Unmounted = Omit<ChartPlace, 'axis'> & { readonly axis: (newAxis: () => TimeAxis) => TimeAxis };

/** Mount a chart as soon as its script is here, unless the place's signal has aborted by then. */
async function mountChart(name: ChartName, { axis, ...place }: Unmounted): Promise<void> {
  try {
    const { MOUNTS, newAxis } = await import('./mounts');
    if (!place.signal.aborted) {
      MOUNTS[name]({ ...place, axis: axis(newAxis) });
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const { el } = place;
    el.replaceChildren(trans.__('The chart could not be loaded: %1', reason));
  }
}
