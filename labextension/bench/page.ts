/** What `benchmarks/frontend` drives in a headless page: a store, a chart, and a clock on its frames. */
import { CLUSTER_CHARTS } from '../src/charts/cluster/layer';
import type { TimelineChart } from '../src/charts/timeline/timeline';
import type { TrackName } from '../src/charts/tracks';
import { mountTracks } from '../src/charts/tracks';
import { paletteColour, parseColour } from '../src/lib/palette';
import { readTheme } from '../src/charts/ui/theme';
import { ClusterStore, TaskStore } from '../src/store';
import type { Batch } from '../src/wire';
import { apparentBusy } from './busy';
import type { Workload } from './data';
import { TaskMaker, trueBusy } from './data';
import { FrameTimes } from './frames';
import type { SeriesSize } from './series';
import { SeriesMaker } from './series';

const ROWS = 100_000;
/** Bytes that become base64 at a time: a multiple of three, so that parts can be joined. */
const CHUNK = 30_000;
/** Messages in which a recorder's rows come. */
const PARTS = 10;
const frames = new FrameTimes();

class Bench {
  #workload: Workload = { lanes: 16, workers: 1, prefixes: 10, keep: Infinity };
  #n = 0;
  #seq = 0;
  #store = new TaskStore();
  #maker = new TaskMaker(this.#workload);
  #series = new SeriesMaker({ held: 0, workers: 0, samples: 0 });
  #chart: TimelineChart | null = null;
  #mounted = new AbortController();

  /** Begin anew with `n` tasks; milliseconds the store took for each 100,000. */
  load(n: number, workload: Workload, active: boolean): number[] {
    this.#mounted.abort();
    this.#workload = workload;
    this.#n = n;
    this.#seq = 0;
    this.#maker = new TaskMaker(workload);
    this.#store = new TaskStore();
    const took: number[] = [];
    for (let left = n; left > 0; left -= ROWS) {
      took.push(this.#append(Math.min(left, ROWS), active));
    }
    return took;
  }

  /** Begin anew with rows of the cache and samples of workers, and no tasks. */
  loadSeries(size: SeriesSize): void {
    this.#mounted.abort();
    this.#series = new SeriesMaker(size);
    this.#store = new TaskStore({ cluster: new ClusterStore() });
    for (let part = 0; part < PARTS; part += 1) {
      this.#take(this.#series.nextBatch(Math.floor(size.held / PARTS), Math.floor(size.samples / PARTS)));
    }
  }

  /** Show a chart; milliseconds until it was painted. */
  async mount(follow: boolean, track: TrackName): Promise<number> {
    this.#mounted = new AbortController();
    const el = document.getElementById('chart') ?? document.body;
    const beganMs = performance.now();
    await frames.after(() => {
      this.#chart = mountTracks(el, this.#store, [track], { signal: this.#mounted.signal, follow, clusters: CLUSTER_CHARTS });
    });
    return performance.now() - beganMs;
  }

  /** Have everything measured anew `count` times, as one prefix after another stands out: each time's longest frame and sum, ms. */
  async anew(count: number): Promise<{ longest: number; sum: number }[]> {
    const names = [...document.querySelectorAll('.tsk-legend-name')];
    const took: { longest: number; sum: number }[] = [];
    for (let i = 0; i < count; i += 1) {
      const name = names[i % names.length]?.parentElement;
      took.push(await frames.allAfter(() => name?.dispatchEvent(new PointerEvent('pointerenter'))));
    }
    return took;
  }

  /** Milliseconds of `count` frames, each after one of these keys in turn. */
  async press(count: number, keys: readonly string[]): Promise<number[]> {
    const canvas = this.#canvas();
    canvas.focus();
    return this.#each(count, i => {
      canvas.dispatchEvent(new KeyboardEvent('keydown', { key: keys[i % keys.length], bubbles: true, cancelable: true }));
    });
  }

  /** Show a part of everything, around its middle. */
  async zoom(part: number): Promise<void> {
    const nowS = this.#maker.nowS;
    const startS = (nowS * (1 - part)) / 2;
    await frames.allAfter(() => this.#chart?.setTimeRange([startS, startS + nowS * part]));
  }

  /** Milliseconds of frames after the pointer moved to places all over the chart. */
  async hover(count: number): Promise<number[]> {
    const canvas = this.#canvas();
    const box = canvas.getBoundingClientRect();
    return this.#each(count, i => {
      const [clientX, clientY] = [box.left + 200 + ((i * 379) % 900), box.top + ((i * 131) % (box.height - 30))];
      canvas.dispatchEvent(new PointerEvent('pointermove', { clientX, clientY, bubbles: true }));
    });
  }

  /** Milliseconds of frames after `rows` more tasks came. */
  async grow(count: number, rows: number): Promise<number[]> {
    return this.#each(count, () => { this.#append(rows, true); });
  }

  /** Milliseconds of frames after `held` more rows of the cache and `samples` more of each worker came. */
  async growSeries(count: number, held: number, samples: number): Promise<number[]> {
    return this.#each(count, () => { this.#take(this.#series.nextBatch(held, samples)); });
  }

  /** Ten messages a second for a while; what frames took and how far apart they were. */
  async live(ms: number, rows: number): Promise<{ paints: number[]; gaps: number[] }> {
    const timer = setInterval(() => { this.#append(rows, true); }, 100);
    try {
      return await frames.during(ms);
    } finally {
      clearInterval(timer);
    }
  }

  /** What part of the time the lanes look busy, and are. */
  busy(): { apparent: number; actual: number } {
    const canvas = this.#canvas();
    const theme = readTheme(document.body);
    const [ground, bar] = [parseColour(theme.lane), parseColour(paletteColour(0))];
    const [startS, stopS] = this.#chart?.timeRange() ?? [0, 1];
    if (ground === null || bar === null) {
      throw new Error('the theme has no colours');
    }
    return {
      apparent: apparentBusy(canvas, ground, bar),
      actual: trueBusy(this.#workload, this.#n, startS, stopS)
    };
  }

  /** Lane, prefix, start and stop of `n` tasks, one column after the other, as base64 of doubles. */
  rectangles(n: number): string {
    const { lane, group, durationS, stopS } = new TaskMaker(this.#workload).next(n);
    const startS = Float64Array.from(stopS, (timeS, i) => timeS - (durationS[i] as number));
    const values = new Float64Array(4 * n);
    [lane, group, startS, stopS].forEach((column, i) => { values.set(column, i * n); });
    const bytes = new Uint8Array(values.buffer);
    let text = '';
    for (let at = 0; at < bytes.length; at += CHUNK) {
      text += btoa(String.fromCharCode(...bytes.subarray(at, at + CHUNK)));
    }
    return text;
  }

  /** Tasks that are held, and that ever came. */
  counts(): [held: number, came: number] {
    return [this.#store.nTasks, this.#store.cursor];
  }

  #append(count: number, active: boolean): number {
    const batch = this.#maker.nextBatch(count, this.#seq, active);
    this.#seq += 1;
    return this.#take(batch);
  }

  #take(batch: Batch): number {
    const beganMs = performance.now();
    const appended = this.#store.append(batch);
    const tookMs = performance.now() - beganMs;
    if (appended.kind === 'gap') {
      throw new Error(appended.reason);
    }
    return tookMs;
  }

  async #each(count: number, action: (i: number) => void): Promise<number[]> {
    const took: number[] = [];
    for (let i = 0; i < count; i += 1) {
      took.push(await frames.after(() => { action(i); }));
    }
    return took;
  }

  #canvas(): HTMLCanvasElement {
    const canvas = document.querySelector('canvas');
    if (canvas === null) {
      throw new Error('no chart is shown');
    }
    return canvas;
  }
}

(window as unknown as { bench: Bench }).bench = new Bench();
