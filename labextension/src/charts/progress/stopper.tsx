/** Stops what is shown, when a person asks for it: one compute, or which of several; and knows why that cannot be. */
import { formatCount, printable } from '../../lib/format';
import { trans } from '../../lib/translate';
import type { TaskStore } from '../../store';
import type { Run, StopWay } from '../../wire';
import { runName } from '../ui/keeping';
import type { ComponentChildren } from '../ui/render';

/** A compute that has not ended by then may be asked again. */
const PATIENCE_MS = 5_000;
const MAX_CHOICES = 8;

/** Stops a compute; resolves to why it does not, or null. */
export type StopRun = (run: number, way: Way) => Promise<string | null>;

export interface StopperOptions {
  readonly store: TaskStore;
  readonly signal: AbortSignal;
  /** Is called when there is another thing to show. */
  readonly changed: () => void;
}

/** Makes the part of a progress chart that stops computes; pages in which nothing runs have none. */
export type MakeStopper = (options: StopperOptions) => Stopper;

export function stopWith(stop: StopRun): MakeStopper {
  return options => new Stopper(stop, options);
}

type Way = 'interrupt' | 'cancel';

interface Choice {
  readonly run: Run;
  readonly way: StopWay | null;
  /** What it was asked here long ago; null: it may not be asked that again. */
  readonly again: Way | null;
}

export class Stopper {
  /** What was asked of the computes that run, and when. */
  readonly #asked = new Map<number, { readonly way: Way; readonly atMs: number }>();
  #running: readonly Run[] = [];
  #button: HTMLButtonElement | null = null;
  #isOpen = false;
  #note = '';

  constructor(private readonly stop: StopRun, private readonly options: StopperOptions) {}

  /** Forget what was asked of computes that have ended, and why others were not stopped once another one runs. */
  update(running: readonly Run[]): void {
    const numbers = new Set(running.map(({ run }) => run));
    const isSame = numbers.size === this.#running.length && this.#running.every(({ run }) => numbers.has(run));
    this.#running = running;
    this.#asked.forEach((_, run) => { if (!numbers.has(run)) { this.#asked.delete(run); } });
    this.#note = isSame ? this.#note : '';
    this.#isOpen &&= running.length > 0;
  }

  /** The button, while computes run; what to ask before it does anything, and why it did nothing, stand in `below`. */
  button(): ComponentChildren {
    const choices = this.#choices();
    const can = choices.some(({ way }) => way === 'interrupt' || way === 'cancel' || way === 'either');
    const isAsked = !can && choices.some(({ way }) => way === 'asked');
    return (
      <button
        type="button" class="tsk-button tsk-progress-stop" title={why(choices)} hidden={choices.length === 0} disabled={!can && choices.every(({ again }) => again === null)}
        aria-expanded={this.#isOpen} ref={this.#holdButton} onClick={() => { this.#click(choices); }}
      >
        {isAsked ? trans.__('Stopping…') : trans.__('Stop')}
      </button>
    );
  }

  below(): ComponentChildren {
    const choices = this.#isOpen ? this.#choices() : [];
    const interrupted = choices.filter(({ way }) => way === 'interrupt' || way === 'either').at(-1);
    const cancelled = choices.filter(({ way }) => way === 'cancel' || way === 'either');
    const [note, hidden] = [this.#note, interrupted === undefined && cancelled.length === 0];
    const close = (): void => { this.#open(false); };
    return (
      <>
        <div
          class="tsk-progress-question" role="alertdialog" aria-label={trans.__('Stop')} hidden={hidden}
          onKeyDown={event => { if (event.key === 'Escape') { event.stopPropagation(); close(); } }}
        >
          {interrupted !== undefined && this.#choice(interrupted, 'interrupt', trans.__('Interrupt the cell'))}
          {cancelled.slice(-MAX_CHOICES).reverse().map(choice => this.#choice(choice, 'cancel', trans.__('Cancel its futures')))}
          {!hidden && <button type="button" class="tsk-button" ref={focus} onClick={close}>{trans.__('Let it run')}</button>}
        </div>
        <div class="tsk-progress-note" role="status" hidden={note === ''}>{note}</div>
      </>
    );
  }

  #choice({ run, way }: Choice, does: Way, act: string): ComponentChildren {
    return (
      <p key={`${run.run} ${does}`}>
        <span>{whatIsLost(run, way === 'either' ? `${does} either` : does, this.#nLeft(run))}</span>
        <button type="button" class="tsk-button tsk-progress-cancel" onClick={() => { this.#open(false); void this.#ask(run.run, does); }}>{act}</button>
      </p>
    );
  }

  #choices(): Choice[] {
    const { stops } = this.options.store.tables;
    return this.#running.map(run => {
      const [way, asked] = [stops.get(run.run) ?? null, this.#asked.get(run.run)];
      // The kernel may not have heard of it yet, or sends only the last records of what has ended.
      const isAsked = way === 'asked' || (asked !== undefined && (way === null || way === 'either' || way === asked.way));
      const isLate = isAsked && asked !== undefined && performance.now() - asked.atMs > PATIENCE_MS;
      return { run, way: isAsked ? 'asked' : way, again: isLate ? asked.way : null };
    });
  }

  /** What only one cell does is interrupted at once; what is lost for good is asked about. */
  #click(choices: readonly Choice[]): void {
    const interrupted = choices.filter(({ way }) => way === 'interrupt').at(-1);
    if (choices.some(({ way }) => way === 'cancel' || way === 'either')) {
      this.#open(!this.#isOpen);
    } else if (interrupted !== undefined) {
      void this.#ask(interrupted.run.run, 'interrupt');
    } else {
      choices.forEach(({ run, again }) => { if (again !== null) { void this.#ask(run.run, again); } });
    }
  }

  #open(isOpen: boolean): void {
    this.#isOpen = isOpen;
    this.#note = '';
    this.options.changed();
    if (!isOpen) {
      this.#button?.focus();
    }
  }

  async #ask(run: number, way: Way): Promise<void> {
    const { signal, changed } = this.options;
    this.#asked.set(run, { way, atMs: performance.now() });
    this.#note = '';
    changed();
    const refusal = await this.stop(run, way).catch((error: unknown) => String(error));
    // What has ended is stopped.
    if (refusal !== null && !signal.aborted && this.#asked.delete(run)) {
      this.#note = trans.__('Not stopped: %1', printable(refusal));
      changed();
    }
  }

  #nLeft({ run }: Run): number {
    const rows = this.options.store.tables.progressIn({ firstRun: run, lastRun: run });
    return rows.reduce((n, row) => n + Math.max(row.total - row.finished - row.erred - row.interrupted, 0), 0);
  }

  readonly #holdButton = (button: HTMLButtonElement | null): void => {
    this.#button = button;
  };
}

function focus(button: HTMLButtonElement | null): void {
  button?.focus();
}

function whatIsLost(run: Run, does: Way | `${Way} either`, nLeft: number): string {
  const name = runName(run) ?? trans.__('Compute %1', String(run.run + 1));
  const n = formatCount(nLeft);
  switch (does) {
    case 'interrupt':
      return trans._n('%3 runs, with %2 unfinished task.', '%3 runs, with %2 unfinished tasks.', nLeft, n, name);
    case 'interrupt either':
      return trans._n(
        '%3 runs. Interrupting it leaves its %2 unfinished task to go on in the background.',
        '%3 runs. Interrupting it leaves its %2 unfinished tasks to go on in the background.', nLeft, n, name
      );
    case 'cancel either':
      return trans._n(
        'Cancelling its futures loses its %2 unfinished task, and what waits for that fails.',
        'Cancelling its futures loses its %2 unfinished tasks, and what waits for them fails.', nLeft, n
      );
    case 'cancel':
      return trans._n(
        '%3 goes on in the background. Cancelling it loses its %2 unfinished task, and what waits for that fails.',
        '%3 goes on in the background. Cancelling it loses its %2 unfinished tasks, and what waits for them fails.', nLeft, n, name
      );
  }
}

/** What the button does, or why it does nothing. */
function why(choices: readonly Choice[]): string {
  const ways = new Set(choices.map(({ way }) => way));
  if (ways.has('either')) {
    return trans.__('Interrupt its cell or cancel its futures, after a question');
  }
  if (ways.has('cancel')) {
    return trans.__('Cancel its futures, after a question');
  }
  if (ways.has('interrupt')) {
    return trans.__('Interrupt the cell that computes');
  }
  if (ways.has('asked')) {
    return choices.some(({ again }) => again !== null) ? trans.__('It was asked to end: press to ask again') : trans.__('It was asked to end');
  }
  return ways.has('thread')
    ? trans.__('It runs in a thread of yours, which cannot be interrupted')
    : trans.__('The kernel has not said how this can be stopped');
}
