/** The progress chart's elements, and putting a layout into them. Plain DOM: all text is textContent. */
import type { Translate } from '../../lib/translate';
import { element, setText } from '../ui/dom';
import type { Run } from '../../wire';
import type { RevealCell } from '../ui/cell-link';
import { Announcer } from './announcer';
import { makeBar } from './bar';
import { ErrorList } from './errors';
import { makeIcon, setIcon } from './icons';
import type { ProgressLayout } from './layout';
import { PrefixRows } from './rows';
import { RunList } from './run-list';
import { StopButton } from './stop-button';
import { describeProgress } from './words';

export interface DrawOptions {
  readonly signal: AbortSignal;
  readonly translate: Translate;
  readonly stop: (() => Promise<string | null>) | null;
  readonly reveal: RevealCell;
  /** Buttons, and the line that says what they did. */
  readonly tools: HTMLElement;
  readonly notice: HTMLElement;
}

/** The computes that the layout is of, and when. */
export interface Moment {
  readonly runs: readonly Run[];
  readonly nowS: number;
}

/** What comes under the bar, in this order; a key shows the pattern of the segment it counts. */
const META = ['elapsed', 'eta', 'stuck', 'running', 'ahead', 'erred', 'interrupted', 'lost', 'spared', 'others'] as const;
const WITH_KEY: ReadonlySet<string> = new Set(['running', 'erred', 'interrupted']);

export class ProgressDrawing {
  readonly el = element('section', { class: 'tsk-chart tsk-progress', role: 'group' });

  readonly #icon = makeIcon();
  readonly #state = element('span');
  readonly #count = element('span', { class: 'tsk-progress-count' });
  readonly #percent = element('span', { class: 'tsk-progress-percent' });
  readonly #paused = element('span', { class: 'tsk-progress-held' });
  readonly #bar = makeBar();
  readonly #meta = META.map(name => ({ name, ...metaItem(name) }));
  readonly #error = element('div', { class: 'tsk-progress-error' });
  readonly #stop: StopButton;
  readonly #errors: ErrorList;
  readonly #rows: PrefixRows;
  readonly #runs: RunList;
  readonly #announcer: Announcer;
  #drawnState: string | null = null;

  constructor(private readonly options: DrawOptions) {
    const { translate, signal } = options;
    const region = element('div', { class: 'tsk-hidden' });
    this.#errors = new ErrorList(options);
    this.#rows = new PrefixRows(options);
    this.#runs = new RunList(options);
    this.#stop = new StopButton(options);
    this.#announcer = new Announcer(region, signal);
    const title = element('span', { class: 'tsk-progress-state' }, this.#icon, this.#state);
    setText(this.#paused, translate('paused'));
    this.setPaused(false);
    const head = element('div', { class: 'tsk-progress-head' }, title, this.#paused, this.#count, this.#percent, this.#stop.el, options.tools);
    const meta = element('div', { class: 'tsk-progress-meta' }, ...this.#meta.map(item => item.el), this.#runs.toggle, this.#runs.el);
    this.#explain('stuck', translate('No worker has the resources or the address that they ask for, or there is no worker: they wait until one comes.'));
    this.#explain('spared', translate('The cluster has their results, or those of what needs them. They are in no other count.'));
    this.el.setAttribute('aria-label', translate('Progress of Dask tasks'));
    this.#bar.el.setAttribute('role', 'progressbar');
    this.#bar.el.setAttribute('aria-label', translate('Finished tasks'));
    this.#bar.el.setAttribute('aria-valuemin', '0');
    this.el.append(head, options.notice, this.#stop.note, this.#bar.el, meta, this.#error, this.#errors.el, this.#rows.el, region);
  }

  /** Say whether the picture is paused. */
  setPaused(paused: boolean): void {
    this.#paused.hidden = !paused;
  }

  /** @param alive whether there is something to stop */
  showStop(alive: boolean): void {
    this.#stop.show(alive);
  }

  /**
   * @param colourOf gives a prefix's colour in CSS
   */
  draw(layout: ProgressLayout, { runs, nowS }: Moment, colourOf: (prefix: string) => string): void {
    this.#runs.set(runs, nowS);
    const words = describeProgress(layout, this.options.translate);
    this.el.dataset.state = layout.state;
    setIcon(this.#icon, layout.state);
    setText(this.#state, words.state);
    setText(this.#count, words.count);
    setText(this.#percent, words.percent);
    for (const { name, el, text } of this.#meta) {
      el.hidden = words[name] === '';
      setText(text, words[name]);
    }
    this.#error.hidden = words.error === '';
    setText(this.#error, words.error);
    this.#bar.set(layout, layout.total);
    this.#describeBar(layout, words.sentence);
    this.#errors.set(layout.errors);
    this.#rows.set(layout.prefixes, colourOf);
    this.#announce(layout.state, words.sentence);
  }

  #explain(name: (typeof META)[number], text: string): void {
    const item = this.#meta.find(item => item.name === name);
    if (item !== undefined) {
      item.el.title = text;
    }
  }

  #describeBar({ total, finished }: ProgressLayout, sentence: string): void {
    const bar = this.#bar.el;
    bar.setAttribute('aria-valuetext', sentence);
    if (total > 0) {
      bar.setAttribute('aria-valuemax', String(total));
      bar.setAttribute('aria-valuenow', String(finished));
    } else {
      bar.removeAttribute('aria-valuemax');
      bar.removeAttribute('aria-valuenow');
    }
  }

  /** What was over before anybody looked is no news. */
  #announce(state: string, sentence: string): void {
    if (state === 'running' || (this.#drawnState !== null && this.#drawnState !== state)) {
      this.#announcer.say(sentence);
    }
    this.#drawnState = state;
  }
}

function metaItem(name: string): { el: HTMLElement; text: HTMLElement } {
  const text = element('span');
  const el = element('span', { class: `tsk-progress-${name}` });
  if (WITH_KEY.has(name)) {
    el.append(element('span', { class: `tsk-key tsk-segment tsk-${name}`, 'aria-hidden': 'true' }));
  }
  el.append(text);
  return { el, text };
}
