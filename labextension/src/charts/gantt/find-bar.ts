/** The field to find tasks by key or prefix: next, previous, and how many there are. */
import { formatCount } from '../../lib/format';
import type { Translate } from '../../lib/translate';
import type { TaskRef } from '../../store';
import { element, setText } from '../ui/dom';
import { inSlices } from '../ui/slices';
import { makeButton } from '../ui/toolbar';
import { textQuery } from './query';
import type { Query } from './query';
import type { TaskSearch } from './search';

export interface FindHost {
  search(query: Query): TaskSearch;
  selected(): TaskRef | null;
  /** Select a match and bring it into sight. */
  goTo(ref: TaskRef): void;
  closed(): void;
}

export class FindBar {
  readonly el: HTMLElement;
  readonly #input: HTMLInputElement;
  readonly #said = element('span', { role: 'status' });
  #search: TaskSearch | null = null;
  #isComplete = true;
  #stop: () => void = () => undefined;

  constructor(
    private readonly host: FindHost,
    private readonly t: Translate,
    signal: AbortSignal
  ) {
    this.#input = element('input', { type: 'search', placeholder: t('Key or prefix'), 'aria-label': t('Find tasks by key or prefix'), spellcheck: 'false' });
    const previous = makeButton('↑', t('Previous match (Shift+Enter)'), () => { this.go(-1); }, signal);
    const next = makeButton('↓', t('Next match (Enter)'), () => { this.go(1); }, signal);
    const close = makeButton('×', t('Close (Escape)'), () => { this.close(); }, signal);
    this.el = element('div', { class: 'tsk-bar tsk-gantt-find', role: 'search' }, this.#input, previous, next, close, this.#said);
    this.el.hidden = true;
    this.#input.addEventListener('input', () => { this.#begin(); }, { signal });
    this.el.addEventListener('keydown', event => { this.#onKey(event); }, { signal });
    signal.addEventListener('abort', () => { this.#stop(); }, { once: true });
  }

  open(): void {
    this.el.hidden = false;
    this.#input.focus();
    this.#input.select();
  }

  close(): void {
    this.el.hidden = true;
    this.#stop();
    this.#search = null;
    this.host.closed();
  }

  /** Go to the next or the previous match. */
  go(direction: 1 | -1): void {
    const found = this.#search?.next(this.host.selected(), direction) ?? null;
    if (found !== null) {
      this.host.goTo(found);
    }
    this.say();
  }

  /** There may be more tasks now, or fewer to see. */
  refresh(kind: 'more' | 'others'): void {
    if (this.#search !== null) {
      if (kind === 'others') {
        this.#begin();
      } else if (this.#isComplete) {
        this.#continue();
      }
    }
  }

  /** Say how many there are, and which of them is selected. */
  say(): void {
    const search = this.#search;
    if (search === null) {
      setText(this.#said, '');
      return;
    }
    const count = `${formatCount(search.count)}${this.#isComplete ? '' : '…'}`;
    const selected = this.#isComplete ? this.host.selected() : null;
    const place = selected === null ? 0 : search.ordinal(selected);
    const none = this.#isComplete ? this.t('no match') : this.t('searching…');
    const some = place === 0 ? this.t('%1 matches', count) : this.t('%1 of %2 matches', formatCount(place), count);
    setText(this.#said, search.count === 0 ? none : some);
  }

  #begin(): void {
    this.#stop();
    const text = this.#input.value.trim();
    this.#search = text === '' ? null : this.host.search(textQuery(text));
    this.#continue();
    this.say();
  }

  #continue(): void {
    const search = this.#search;
    if (search === null) {
      return;
    }
    this.#isComplete = false;
    this.#stop = inSlices(isOver => search.step(isOver), done => {
      this.#isComplete = done;
      this.say();
    });
  }

  #onKey(event: KeyboardEvent): void {
    if (event.key === 'Escape') {
      this.close();
    } else if (event.key === 'Enter' && event.target === this.#input) {
      this.go(event.shiftKey ? -1 : 1);
    } else {
      return;
    }
    event.preventDefault();
  }
}
