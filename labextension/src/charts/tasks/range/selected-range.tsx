/** The range of time that a person selected: how it is moved, and what ran in it. */
import { formatCount, formatDuration, formatPercent } from '../../../lib/format';
import type { Span } from '../../../lib/span';
import { clamp, widthS } from '../../../lib/span';
import { trans } from '../../../lib/translate';
import { LatestMoments } from '../../../store';
import type { TrackContext } from '../../timeline/track';
import type { ComponentChildren } from '../../ui/render';
import type { LaneLayer } from '../lane-layer';
import type { Scene } from '../scene';
import type { KnownPath } from '../../../wire';
import type { RangeNumbers } from './numbers';
import { numbersOf } from './numbers';
import type { RangeText } from './panel';
import { RangePanel, rangeTable, rangeText } from './panel';

/** Steps of an end over all that is in sight. */
const KEY_STEPS = 50;

export class SelectedRange {
  /** Grows whenever there is something else to say. */
  version = 0;
  #text: RangeText | null = null;
  #numbers: RangeNumbers | null = null;
  #zeroS = 0;
  #seen = '';
  #path: KnownPath | null = null;
  readonly #moments = new LatestMoments();

  readonly #nobody: KnownPath;

  /** @param path returns the critical path of what is shown, or why it is not known; null: nobody is there to work it out */
  constructor(private readonly context: TrackContext, private readonly layer: LaneLayer | null, private readonly path: () => KnownPath | null) {
    this.#nobody = { reason: trans.__('no kernel works it out here; in Python, recording.critical_path() does') };
  }

  update(scene: Scene): void {
    const path = this.path() ?? this.#nobody;
    const { axis: { range }, store, window } = this.context;
    const seen = range === null ? '' : `${range.startS} ${range.stopS} ${store.version} ${window.id} ${String(scene.paused)}`;
    if (seen === this.#seen && (range === null || path === this.#path)) {
      return;
    }
    this.#seen = seen;
    this.#path = path;
    this.version += 1;
    this.#zeroS = scene.zeroS;
    this.#numbers = range === null ? null : numbersOf(store, window, scene, range, { moments: this.#moments.of(store.held, window, 'bytes'), path });
    const others = this.#numbers === null ? [] : (this.layer?.linesIn(this.#numbers.span, scene.runs) ?? []);
    const isGrowing = range !== null && scene.growing && range.stopS > scene.nowS;
    this.#text = range === null ? null : rangeText(this.#numbers, others, { zeroS: scene.zeroS, isGrowing });
  }

  /** In one sentence, to be read aloud. */
  said(): string {
    if (this.#text === null || this.#numbers === null) {
      return this.#text?.title ?? '';
    }
    const { span, nTasks, busyS, idleS } = this.#numbers;
    return trans.__(
      'selected %1 to %2: %3 tasks, %4 busy', formatDuration(span.startS - this.#zeroS), formatDuration(span.stopS - this.#zeroS), formatCount(nTasks),
      formatPercent(busyS / (busyS + idleS))
    );
  }

  selectInSight(): void {
    const { axis, navigator: { frame } } = this.context;
    if (frame !== null) {
      axis.select(frame.span);
    }
  }

  moveEdge(edge: keyof Span, direction: 1 | -1): void {
    const { axis, navigator: { frame } } = this.context;
    if (frame !== null) {
      const range = axis.range ?? frame.span;
      const stepS = widthS(frame.span) / KEY_STEPS;
      const { bounds } = frame;
      const toS = range[edge] + direction * stepS;
      axis.select(edge === 'startS'
        ? { ...range, startS: clamp(toS, bounds.startS, Math.max(range.stopS - stepS, bounds.startS)) }
        : { ...range, stopS: clamp(toS, Math.min(range.startS + stepS, bounds.stopS), bounds.stopS) });
    }
  }

  /** Have it fill the chart; false: nothing is selected. */
  zoom(): boolean {
    const { axis: { range }, navigator } = this.context;
    if (range !== null) {
      navigator.show(range);
    }
    return range !== null;
  }

  /** Select no time; false: none was selected. */
  clear(): boolean {
    const { axis } = this.context;
    const was = axis.range !== null;
    if (was) {
      axis.select(null);
    }
    return was;
  }

  panel(): ComponentChildren {
    const { exporter } = this.context;
    return (
      <RangePanel
        text={this.#text}
        zoom={() => { this.zoom(); }}
        copy={() => {
          if (this.#numbers !== null) {
            exporter.copy([rangeTable(this.#numbers, this.#zeroS)]);
          }
        }}
        close={() => {
          this.clear();
          this.context.focus();
        }}
      />
    );
  }
}
