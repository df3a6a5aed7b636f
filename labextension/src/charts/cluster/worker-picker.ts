/** Which worker is shown: all together, or one. */
import { formatCount, printable } from '../../lib/format';
import type { Translate } from '../../lib/translate';
import type { ClusterWorker } from '../../wire';
import { element } from '../ui/dom';

/** More than these no list shows; the first ones are. */
const MAX_LISTED = 2_000;

export class WorkerPicker {
  readonly el: HTMLElement;
  readonly #select: HTMLSelectElement;
  #listed = '';

  constructor(changed: () => void, signal: AbortSignal, private readonly t: Translate) {
    this.#select = element('select', { 'aria-label': t('Worker') });
    this.#select.addEventListener('change', changed, { signal });
    this.el = element('div', { class: 'tsk-worker-picker' }, this.#select);
  }

  /** The number of the worker; null: all of them. */
  get worker(): number | null {
    return this.#select.value === '' ? null : Number(this.#select.value);
  }

  /** List the workers; the choice stays. */
  refresh(workers: readonly (ClusterWorker | undefined)[]): void {
    const known = workers.filter(worker => worker !== undefined);
    const shown = known.slice(0, MAX_LISTED);
    const listed = [known.length, ...shown.map(({ id, name }) => `${id} ${name}`)].join('\n');
    if (listed === this.#listed) {
      return;
    }
    this.#listed = listed;
    const { value } = this.#select;
    const all = element('option', { value: '' }, this.t('All workers (%1)', formatCount(known.length)));
    this.#select.replaceChildren(all, ...shown.map(({ id, name, address }) => {
      const text = name === address ? printable(address, 60) : this.t('worker %1 · %2', printable(name, 40), printable(address, 60));
      return element('option', { value: `${id}` }, text);
    }));
    this.#select.value = value;
  }
}
