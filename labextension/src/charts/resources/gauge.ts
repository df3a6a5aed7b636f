/** A value now, its peak and its limit: as text, and as a bar with a mark. */
import { clamp } from '../../lib/span';
import { element, setText } from '../ui/dom';

export interface GaugeReading {
  readonly value: string;
  /** What else there is to say: peak, limit. */
  readonly detail: string;
  /** Parts of the limit, 0 to 1; null: unknown. */
  readonly share: number | null;
  readonly peakShare: number | null;
}

export class Gauge {
  readonly el: HTMLElement;
  readonly #value = element('span', { class: 'tsk-gauge-value' });
  readonly #detail = element('span', { class: 'tsk-gauge-detail' });
  readonly #fill = element('div', { class: 'tsk-gauge-fill' });
  readonly #mark = element('div', { class: 'tsk-gauge-mark' });
  readonly #bar: HTMLElement;

  constructor(name: string) {
    this.#bar = element(
      'div',
      { class: 'tsk-gauge-bar', role: 'meter', 'aria-label': name, 'aria-valuemin': '0', 'aria-valuemax': '100' },
      this.#fill,
      this.#mark
    );
    const label = element('span', { class: 'tsk-gauge-name' }, name);
    this.el = element('div', { class: 'tsk-gauge' }, element('div', {}, label, this.#value, this.#detail), this.#bar);
  }

  set({ value, detail, share, peakShare }: GaugeReading): void {
    setText(this.#value, value);
    setText(this.#detail, detail);
    const percent = clamp((share ?? 0) * 100, 0, 100);
    this.#fill.style.width = `${percent}%`;
    this.#mark.hidden = peakShare === null;
    this.#mark.style.left = `${clamp((peakShare ?? 0) * 100, 0, 100)}%`;
    this.#bar.setAttribute('aria-valuenow', String(Math.round(percent)));
    this.#bar.setAttribute('aria-valuetext', `${value}, ${detail}`);
  }
}
