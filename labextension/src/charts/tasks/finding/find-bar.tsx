/** The field to find tasks by key or prefix: next, previous, and how many there are. */
import { formatCount } from '../../../lib/format';
import { trans } from '../../../lib/translate';
import type { TaskRef } from '../../../store';
import type { Matches } from '../scene';
import { inSlices } from '../../ui/frames';
import type { ComponentChildren } from '../../ui/render';
import { Button } from '../../ui/toolbar';
import type { Query, TaskSearch } from './search';
import { textQuery } from './search';

export interface FindHost {
  search(query: Query): TaskSearch;
  selected(): TaskRef | null;
  /** Select a match and bring it into sight. */
  goTo(ref: TaskRef): void;
  /** There is something else to say, and to paint. */
  changed(): void;
  closed(): void;
}

export class FindBar {
  isOpen = false;
  /** Grows whenever `matches` are others, or more. */
  version = 0;
  /** What was found, once all tasks have been looked at; null: nothing is looked for. */
  matches: Matches | null = null;
  #text = '';
  #input: HTMLInputElement | null = null;
  #search: TaskSearch | null = null;
  #isComplete = true;
  #stop: () => void = () => undefined;

  constructor(
    private readonly host: FindHost,
    signal: AbortSignal
  ) {
    signal.addEventListener('abort', () => { this.#stop(); }, { once: true });
  }

  open(): void {
    this.isOpen = true;
    this.#begin();
    this.#input?.focus();
    this.#input?.select();
  }

  close(): void {
    this.isOpen = false;
    this.#stop();
    this.#show(null);
    this.#search = null;
    this.host.changed();
    this.host.closed();
  }

  /** Go to the next or the previous match. */
  go(direction: 1 | -1): void {
    const found = this.#search?.next(this.host.selected(), direction) ?? null;
    if (found !== null) {
      this.host.goTo(found);
    }
    this.host.changed();
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

  /** How many there are, and which of them is selected. */
  said(): string {
    const search = this.#search;
    if (search === null) {
      return '';
    }
    const count = `${formatCount(search.count)}${this.#isComplete ? '' : '…'}`;
    const selected = this.#isComplete ? this.host.selected() : null;
    const place = selected === null ? 0 : search.ordinal(selected);
    const none = this.#isComplete ? trans.__('no match') : trans.__('searching…');
    const some = place === 0 ? trans._n('%2 match', '%2 matches', search.count, count) : trans.__('%1 of %2 matches', formatCount(place), count);
    return search.count === 0 ? none : some;
  }

  render(): ComponentChildren {
    return (
      <div class="tsk-bar tsk-gantt-find" role="search" hidden={!this.isOpen} onKeyDown={event => { this.#onKey(event); }}>
        <input
          type="search" placeholder={trans.__('Key or task type')} aria-label={trans.__('Find tasks by key or task type')} spellcheck={false}
          ref={el => { this.#input = el ?? this.#input; }}
          onInput={({ currentTarget }) => {
            this.#text = currentTarget.value;
            this.#begin();
          }}
        />
        <Button text="↑" label={trans.__('Previous match (Shift+Enter)')} act={() => { this.go(-1); }} />
        <Button text="↓" label={trans.__('Next match (Enter)')} act={() => { this.go(1); }} />
        <Button text="×" label={trans.__('Close (Escape)')} act={() => { this.close(); }} />
        <span role="status">{this.said()}</span>
      </div>
    );
  }

  #begin(): void {
    this.#stop();
    const text = this.#text.trim();
    this.#search = text === '' ? null : this.host.search(textQuery(text));
    if (this.#search === null) {
      this.#show(null);
    }
    this.#continue();
    this.host.changed();
  }

  #continue(): void {
    const search = this.#search;
    if (search === null) {
      return;
    }
    this.#isComplete = false;
    this.#stop = inSlices(isOver => search.step(isOver), done => {
      this.#isComplete = done;
      if (done) {
        this.#show(search);
      }
      this.host.changed();
    });
  }

  /** Until all tasks have been looked at, the picture stays: what was not looked at yet would step back as if it did not match. */
  #show(matches: Matches | null): void {
    this.matches = matches;
    this.version += 1;
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
