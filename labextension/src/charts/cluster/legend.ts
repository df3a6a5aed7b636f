/** The legend of activities: a button for each kind, which shows or hides it. */
import { formatBytes, formatCount, formatDuration } from '../../lib/format';
import { parseColour } from '../../lib/palette';
import type { Theme } from '../../lib/theme';
import type { Translate } from '../../lib/translate';
import type { ActivitySum } from '../../store';
import { ACTIVITIES, type ActivityKind } from '../../wire';
import { element, setText } from '../ui/dom';
import type { TextTable } from '../ui/text-table';
import { setPressed } from '../ui/toolbar';
import { KIND_LOOKS, cssColour, gapOf } from './kinds';

interface Item {
  readonly li: HTMLElement;
  readonly button: HTMLButtonElement;
  readonly swatch: HTMLElement;
  readonly count: HTMLElement;
}

export class ActivityLegend {
  readonly el: HTMLElement;
  /** 1 for each kind that is hidden, by its code. */
  readonly hidden = new Uint8Array(ACTIVITIES.length);
  readonly #items = new Map<ActivityKind, Item>();
  readonly #note = element('li', { class: 'tsk-gantt-legend-statuses' });

  /** @param changed is called when a kind was hidden or shown */
  constructor(
    private readonly changed: () => void,
    private readonly signal: AbortSignal,
    private readonly t: Translate
  ) {
    this.el = element('ul', { class: 'tsk-gantt-legend tsk-activities', 'aria-label': t('Activities of workers: press one to hide or show it') }, this.#note);
    this.#note.style.color = 'var(--tsk-faint)';
    this.el.style.borderTop = '1px solid var(--tsk-line)';
    this.el.hidden = true;
  }

  /** @param missing how many activities are not here */
  refresh(sums: readonly ActivitySum[], missing: number): void {
    const { t } = this;
    this.el.hidden = sums.length === 0;
    for (const { kind, n, seconds, nbytes } of sums) {
      const { button, count } = this.#items.get(kind) ?? this.#make(kind);
      const isShown = this.hidden[ACTIVITIES.indexOf(kind)] === 0;
      setText(count, nbytes > 0 ? t('%1 · %2', formatCount(n), formatBytes(nbytes)) : formatCount(n));
      setPressed(button, isShown);
      const took = formatDuration(seconds);
      button.title = isShown ? t('%1: %2 in all; press to hide', nameOf(kind, t), took) : t('%1: hidden, press to show', nameOf(kind, t));
    }
    const busy = t('busy counts computing only');
    setText(this.#note, missing > 0 ? t('%1; the longest are shown, %2 are not', busy, formatCount(missing)) : busy);
  }

  /** Have swatches be of the colours of the chart. */
  paint(theme: Theme): void {
    for (const [kind, { swatch }] of this.#items) {
      const look = KIND_LOOKS[kind];
      const on = theme.dark ? look.dark : look.light;
      swatch.style.setProperty('--on', cssColour(on));
      swatch.style.setProperty('--off', cssColour(gapOf(on, parseColour(theme.paper) ?? on)));
    }
  }

  #make(kind: ActivityKind): Item {
    const swatch = element('span', { class: 'tsk-gantt-swatch' });
    swatch.style.background = KIND_LOOKS[kind].css;
    const count = element('span', { class: 'tsk-gantt-legend-count' });
    const name = element('span', { class: 'tsk-gantt-legend-name' }, nameOf(kind, this.t));
    const button = element('button', { type: 'button', 'data-kind': kind }, swatch, name, count);
    const code = ACTIVITIES.indexOf(kind);
    button.addEventListener('click', () => {
      this.hidden[code] = 1 - (this.hidden[code] as number);
      this.changed();
    }, { signal: this.signal });
    const item = { li: element('li', {}, button), button, swatch, count };
    this.#note.before(item.li);
    this.#items.set(kind, item);
    return item;
  }
}

/** The same as a table of text. */
export function activityTable(sums: readonly ActivitySum[], t: Translate): TextTable {
  return {
    caption: t('Activities of workers besides computing'),
    columns: [t('Activity'), t('How often'), t('In all'), t('Bytes, where known')],
    rows: sums.map(({ kind, n, seconds, nbytes }) => [
      nameOf(kind, t), formatCount(n), formatDuration(seconds), nbytes > 0 ? formatBytes(nbytes) : t('unknown')
    ])
  };
}

export function nameOf(kind: ActivityKind, t: Translate): string {
  switch (kind) {
    case 'transfer':
      return t('transfer');
    case 'disk-read':
      return t('read from disk');
    case 'disk-write':
      return t('written to disk');
    case 'deserialize':
      return t('deserialized');
    case 'serialize':
      return t('serialized');
    case 'other':
      return t('other');
    case 'failed-attempt':
      return t('failed attempt');
  }
}
