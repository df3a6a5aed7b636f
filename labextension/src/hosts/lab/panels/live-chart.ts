/** The chart of whatever recorder a kernel has: mounted anew when that is another one, after a restart for example. */
import { trans } from '../../../lib/translate';
import type { RevealCell } from '../../../charts/ui/keeping';
import type { Feed } from '../feed/feed';
import type { ChartName } from './charts';
import type { Views } from './memory';

export interface LiveChartOptions {
  readonly chart: ChartName;
  readonly compact: boolean;
  readonly views: Views;
  readonly reveal: RevealCell;
}

/** Show a kernel's chart in `el` until `until` aborts. */
export function showLive(el: HTMLElement, feed: Feed, options: LiveChartOptions, until: AbortSignal): void {
  let mounted: AbortController | null = null;
  let shown = '';
  const refresh = (): void => {
    const { recorder } = feed;
    if (recorder !== shown) {
      mounted?.abort();
      shown = recorder;
      mounted = new AbortController();
      void mountChart(el, feed, recorder, mounted.signal, options);
    }
  };
  feed.recorderChanged.connect(refresh);
  until.addEventListener('abort', () => {
    feed.recorderChanged.disconnect(refresh);
    mounted?.abort();
  });
  refresh();
}

/** Mount a chart as soon as its script is here, unless the signal has aborted by then. */
async function mountChart(el: HTMLElement, feed: Feed, recorder: string, signal: AbortSignal, { chart, views, ...more }: LiveChartOptions): Promise<void> {
  try {
    const { mountPanel } = await import('../../chart-host');
    if (!signal.aborted) {
      mountPanel(chart, el, feed, recorder, signal, {
        ...more,
        axis: newAxis => views.axis(recorder, newAxis, signal),
        hidden: views.hidden(recorder),
        onHidden: prefixes => { views.setHidden(recorder, prefixes); }
      });
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    el.replaceChildren(trans.__('The chart could not be loaded: %1', reason));
  }
}
