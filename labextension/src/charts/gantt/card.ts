/** The details of the selected task, which stay while the pointer is elsewhere. */
import { element } from '../ui/dom';
import type { TipContent } from './tooltip';
import { tipList } from './tooltip';

export class Card {
  readonly #details = element('div', { class: 'tsk-gantt-details' });
  readonly #note = element('p', { class: 'tsk-gantt-tip-note' });
  #shown = '';

  /** @param buttons stand at the end of `holder` */
  constructor(
    private readonly holder: HTMLElement,
    buttons: readonly HTMLButtonElement[]
  ) {
    this.#note.hidden = true;
    holder.append(this.#details, this.#note, element('div', { class: 'tsk-bar' }, ...buttons));
  }

  hide(): void {
    this.holder.hidden = true;
  }

  show(content: TipContent, colour: string, note: string): void {
    this.holder.hidden = false;
    const shown = JSON.stringify([content, colour, note]);
    if (shown !== this.#shown) {
      this.#shown = shown;
      this.#details.replaceChildren(element('p', { class: 'tsk-gantt-tip-key', dir: 'ltr' }, content.key), tipList(content, colour));
      this.#note.textContent = note;
      this.#note.hidden = note === '';
    }
  }
}
