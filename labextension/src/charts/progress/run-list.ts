/** The computes, the latest first: each by its cell, and a way there where the page has that cell. */
import { formatCount, formatDuration } from '../../lib/format';
import type { Translate } from '../../lib/translate';
import { isOfOthers, type Run } from '../../wire';
import { type RevealCell, runName } from '../ui/cell-link';
import { element, setText } from '../ui/dom';
import { stateWord } from './words';

/** A page must stay quick whatever a notebook computes. */
const MAX_RUNS = 20;

export interface RunListOptions {
  readonly signal: AbortSignal;
  readonly translate: Translate;
  readonly reveal: RevealCell;
}

export class RunList {
  /** Shows and hides the list where there is more than one compute. */
  readonly toggle = element('button', { class: 'tsk-button tsk-progress-computes', type: 'button' });
  /** The only compute stands among the counts; more have rows of their own. */
  readonly el = element('ul', { class: 'tsk-progress-runs' });
  #unfolded = false;
  #runs: readonly Run[] = [];
  #nowS = 0;
  #shown = '';

  constructor(private readonly options: RunListOptions) {
    const { signal, translate } = options;
    this.el.setAttribute('aria-label', translate('Computes'));
    const turn = (): void => {
      this.#unfolded = !this.#unfolded;
      this.#show();
    };
    this.toggle.addEventListener('click', turn, { signal });
    this.el.addEventListener('click', event => { this.#reveal(event.target); }, { signal });
    this.#show();
  }

  set(runs: readonly Run[], nowS: number): void {
    this.#runs = runs;
    this.#nowS = nowS;
    this.#show();
  }

  #show(): void {
    const n = this.#runs.length;
    this.toggle.hidden = n < 2;
    this.el.classList.toggle('tsk-many', n > 1);
    this.toggle.setAttribute('aria-expanded', String(this.#unfolded));
    setText(this.toggle, this.#toggleText());
    const isOpen = n === 1 || (n > 1 && this.#unfolded);
    const items = isOpen ? this.#runs.slice(-MAX_RUNS).reverse().map(run => this.#itemOf(run, n === 1)) : [];
    const shown = JSON.stringify(items);
    if (shown !== this.#shown) {
      this.#shown = shown;
      this.el.replaceChildren(...items.map(item => this.#draw(item)));
    }
    this.el.hidden = items.every(({ name }) => name === '');
  }

  /** What other clients do is no compute. */
  #toggleText(): string {
    const { translate } = this.options;
    const n = this.#runs.filter(run => !isOfOthers(run)).length;
    const computes = n === 1 ? translate('1 compute') : translate('%1 computes', formatCount(n));
    return n === this.#runs.length ? computes : translate('%1 and other clients', computes);
  }

  #itemOf(run: Run, isOnly: boolean): Item {
    const { translate, reveal } = this.options;
    const lastedS = run.startS === null ? null : run.stopS === null ? Math.max(Math.floor(this.#nowS - run.startS), 0) : run.stopS - run.startS;
    const lasted = lastedS === null ? [] : [formatDuration(lastedS)];
    if (isOfOthers(run)) {
      return { run: run.run, name: translate('Other clients'), facts: lasted.join(''), leads: false };
    }
    const name = runName(run) ?? (isOnly ? '' : translate('Compute %1', String(run.run + 1)));
    const facts = [
      stateWord(run.status, translate),
      run.nTasks === 1 ? translate('1 task') : translate('%1 tasks', formatCount(run.nTasks)),
      ...lasted
    ];
    // The chart itself says all this of the only one.
    return { run: run.run, name, facts: isOnly ? '' : facts.join(' · '), leads: name !== '' && reveal(run) !== null };
  }

  #draw({ run, name, facts, leads }: Item): HTMLElement {
    const title = this.options.translate('Go to the cell');
    const attributes = { class: 'tsk-button', type: 'button', title, 'data-run': String(run) };
    return element('li', {}, leads ? element('button', attributes, name) : name, element('span', {}, facts));
  }

  #reveal(target: EventTarget | null): void {
    const run = target instanceof HTMLElement ? this.#runs.find(({ run }) => String(run) === target.dataset.run) : undefined;
    if (run !== undefined) {
      this.options.reveal(run)?.();
    }
  }
}

interface Item {
  readonly run: number;
  readonly name: string;
  readonly facts: string;
  readonly leads: boolean;
}
