/** The flame graph of what a kernel computed last, requested once a second while it computes. */
import { decodeFlame } from '../../../../charts/flame/data';
import { type FlameColours, mount } from '../../../../charts/flame/view';
import { headline } from '../../../../charts/timeline/time';
import { ALL_RUNS, type RunWindow, type TaskStore } from '../../../../store';
import { unpack } from '../../../report/data';
import { isRecord } from '../../../../wire/check';

const PAUSE_MS = 1_000;

/** A prefix has the colour that the other charts of a store give it. */
export function coloursOf(store: TaskStore): FlameColours {
  return {
    current: () => prefix => store.colour(store.tables.prefixId(prefix)),
    subscribe: (changed, until) => { store.subscribe(changed, until); }
  };
}

export function mountLiveFlame(el: HTMLElement, store: TaskStore, profile: (window: RunWindow) => Promise<unknown>, signal: AbortSignal): void {
  const chart = mount(el, coloursOf(store), { signal });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const request = async (): Promise<void> => {
    try {
      const runs = headline(store.tables.runsIn(ALL_RUNS)).map(({ run }) => run);
      const packed = await profile({ firstRun: runs.length === 0 ? 0 : Math.min(...runs), lastRun: null });
      const data = isRecord(packed) ? decodeFlame({ ...packed, columns: await unpack(packed.data, packed.bytes, 'profile') }) : null;
      if (!signal.aborted) {
        chart.show(data, null);
      }
    } catch (error) {
      if (!signal.aborted) {
        chart.show(null, error instanceof Error ? error.message : String(error));
      }
    }
  };
  const later = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      void request();
    }, PAUSE_MS);
  };
  store.subscribe(later, signal);
  signal.addEventListener('abort', () => { clearTimeout(timer); }, { once: true });
  void request();
}
