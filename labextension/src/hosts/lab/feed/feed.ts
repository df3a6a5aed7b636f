/** The feed of one kernel, as the browser sees it: keeps the stores up to date, whatever happens to the kernel. */
import type { JSONValue } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';

import type { RunningCell } from '../../../charts/progress/layout';
import type { Keeper } from '../../../charts/ui/keeping';
import { messageOf } from '../../../lib/error-message';
import { trans } from '../../../lib/translate';
import type { RunRange } from '../../../store';
import type { TaskStore } from '../../../store/task-store';
import { type Batch, PageStream, WireError, decodeExplained, decodeLinks } from '../../../wire';
import { Field, isRecord } from '../../../wire/check';
import { MODULE_VERSION } from '../../widget/live-models';
import { FEED_DEFAULTS, type FeedSettings } from './state';
import { InStep, RESUME_MS } from '../kernel/in-step';
import type { Arrival, CommsEvent, FeedComms } from '../kernel/comms';
import type { KernelError } from '../kernel/messages';
import type { Use } from './shared';
import { RecorderStores } from './recorder-stores';
import { NoAnswerError, Requests } from '../kernel/requests';
import { type Reply, parseRefusal, parseReply } from '../kernel/replies';
import type { FeedState } from './state';

/** A front end of another version than the kernel's: one of them was upgraded while the notebook was open. */
function versionNote({ version }: Reply): { readonly note?: string } {
  return (version ?? MODULE_VERSION) === MODULE_VERSION
    ? {}
    : { note: trans.__('this page has taskscope %1, the kernel %2: restart the kernel and reload the page', MODULE_VERSION, String(version)) };
}

/** After an explanation got no answer. */
const AGAIN_S = 10;

export class Feed implements IDisposable {
  constructor(
    readonly kernelId: string,
    private readonly _comms: FeedComms,
    private _settings: FeedSettings = FEED_DEFAULTS,
    private readonly _openPage: (html: string) => void = () => undefined
  ) {
    this._requests = new Requests(data => this._comms.ask(data), () => this.cell !== null && !this._comms.hasSubshell);
    this._stores = new RecorderStores(_settings, recorder => row =>
      recorder === this.recorder && this._state.kind === 'live' ? this._requests.ask({ verb: 'dependencies', row }).then(({ data }) => decodeLinks(data)) : null
    );
    this._step = new InStep({ comms: this._comms, nRows: () => this._nRows(), reopen: () => { this.attach(); }, isBusy: () => this._requests.isWaiting });
    this._comms.arrived.connect(this._onArrived);
    this._comms.happened.connect(this._onHappened);
    if (this._comms.isConnected) {
      this.attach();
    }
  }

  readonly stateChanged = new Signal<this, FeedState>(this);
  /** The kernel told of its recorder for the first time, or has another one since. */
  readonly recorderChanged = new Signal<this, TaskStore>(this);

  /** The cell that the kernel runs; null: none, or it began before this page listened. */
  cell: RunningCell | null = null;
  readonly cellChanged = new Signal<this, RunningCell | null>(this);

  get state(): FeedState {
    return this._state;
  }

  get isDisposed(): boolean {
    return this._comms.isDisposed;
  }

  /** The store of the recorder that the kernel has now; null before it said anything. */
  get store(): TaskStore | null {
    return this._stores.get(this.recorder) ?? null;
  }

  /** Whether the kernel said last that a compute runs. */
  get active(): boolean {
    return this.store?.clock.active ?? false;
  }

  /** The recorder that the kernel has now; empty while none is known. */
  get recorder(): string {
    return this._stores.current;
  }

  /** Use the store of a recorder. */
  use(recorder: string): Use<TaskStore> {
    return this._stores.use(recorder);
  }

  configure(settings: FeedSettings): void {
    const before = this._settings;
    this._settings = settings;
    if (settings.updatesPerSecond !== before.updatesPerSecond) {
      this._askForRate();
    }
    if (settings.keepHistory !== before.keepHistory) {
      this._askForHistory();
    }
    this._stores.configure(settings);
  }

  /** Open the comms (again) and say hello. */
  attach(): void {
    this._requests.rejectAll();
    this._setState({ kind: 'connecting' });
    void this._comms.open().then(opened => {
      if (opened) {
        this._step.hello(this._epoch);
        if (this._settings.updatesPerSecond !== FEED_DEFAULTS.updatesPerSecond) {
          this._askForRate();
        }
        if (this._settings.keepHistory) {
          this._askForHistory();
        }
      }
    });
  }

  /** Tell a widget of the kernel what a person chose; false where widgets' own messages will do, or must. */
  tell(model: string, trait: string, value: unknown): boolean {
    const heard = this.active && this._state.kind === 'live' && this._state.subshell;
    return heard && this._comms.ask({ verb: 'tell', model, trait, value: value as JSONValue });
  }

  /** The browser puts the page aside, perhaps for good: the kernel keeps nothing of it until `attach`. */
  suspend(): void {
    this._step.stop();
    this._requests.rejectAll();
    this._comms.close();
  }

  /** The tab is seen again; while it was hidden its timers were too slow to keep the lease. */
  shown(): void {
    if (this._state.kind === 'live') {
      this._step.renew();
    }
  }

  /** Have the kernel load taskscope, when it is free to; resolves to the error it raised, or null. */
  async load(): Promise<KernelError | null> {
    const error = await this._comms.execute('%load_ext taskscope');
    // Where it was loaded before, loading it again announces nothing.
    if (error === null && (this._state.kind === 'not-loaded' || this._state.kind === 'restarted')) {
      this.attach();
    }
    return error;
  }

  /** Someone restarted the kernel; the feed's own connection is not told reliably. */
  restarted(): void {
    this._comms.replaced();
  }

  /** Stop a compute in the way that the kernel named last; resolves to why it does not, or null. */
  async stop(run: number, way: 'interrupt' | 'cancel'): Promise<string | null> {
    const isHeard = this._state.kind === 'live' && this._state.subshell;
    if (isHeard || way === 'cancel') {
      try {
        await this._requests.ask({ verb: 'stop', run, way }, RESUME_MS);
        return null;
      } catch (error) {
        if (!(error instanceof NoAnswerError)) {
          return messageOf(error);
        }
      }
    }
    // A C call may hold the kernel up, which a signal may yet end.
    if (way === 'cancel') {
      return trans.__('this kernel receives requests only between cells: its futures will be cancelled then');
    }
    if (!['interrupt', 'either'].includes(this.store?.tables.stops.get(run) ?? '')) {
      // The server interrupts whatever the kernel does, which may be something else.
      return trans.__('it has ended');
    }
    return this._comms.interrupt();
  }

  /** Have the kernel write computes to a file beside the notebook, compare or explain them: see `jupyter/feed/actions.py`. */
  readonly keeper: Keeper = {
    save: async ({ firstRun, lastRun }, format) =>
      (await this._requests.ask({ verb: 'save', first_run: firstRun, last_run: lastRun, format })).path ?? '',
    compare: async ({ firstRun, lastRun }) => {
      this._openPage((await this._requests.ask({ verb: 'compare', first_run: firstRun, last_run: lastRun })).html ?? '');
    },
    explain: async ({ firstRun, lastRun }, span) => {
      try {
        const { data } = await this._requests.ask({ verb: 'explain', first_run: firstRun, last_run: lastRun, start_s: span?.startS ?? null, stop_s: span?.stopS ?? null });
        return decodeExplained(data);
      } catch (error) {
        if (error instanceof NoAnswerError) {
          return { kind: 'later', waitS: AGAIN_S };
        }
        throw error;
      }
    },
    story: async (run, key) => {
      const { data } = await this._requests.ask({ verb: 'story', first_run: run, last_run: run, key });
      return new Field(data, 'reply').at('story').list().map(line => line.tuple(2).map(text => text.text()) as [string, string]);
    }
  };

  /**
   * Resolves to the call stacks of these computes, unchecked. The kernel samples stacks until `until`, and those of all
   * other views, have aborted.
   */
  async profile({ firstRun, lastRun }: RunRange, until: AbortSignal): Promise<unknown> {
    if (!until.aborted && !this._samplers.has(until)) {
      this._samplers.add(until);
      until.addEventListener('abort', () => {
        this._samplers.delete(until);
        if (this._samplers.size === 0) {
          this._comms.ask({ verb: 'end_profile' });
        }
      }, { once: true });
    }
    const { data } = await this._requests.ask({ verb: 'profile', first_run: firstRun, last_run: lastRun });
    return isRecord(data) ? data.profile : null;
  }

  dispose(): void {
    if (this.isDisposed) {
      return;
    }
    this._step.stop();
    this._requests.rejectAll();
    this._comms.dispose();
    this._stores.clear();
    Signal.clearData(this);
  }

  private _askForRate(): void {
    this._comms.ask({ verb: 'rate', per_second: this._settings.updatesPerSecond });
  }

  private _askForHistory(): void {
    this._comms.ask({ verb: 'history', is_on: this._settings.keepHistory });
  }

  private readonly _onHappened = (_: unknown, event: CommsEvent): void => {
    this._step.rest();
    switch (event) {
      case 'connected':
        this._onConnected();
        return;
      case 'lost':
        this._setState({ kind: this._state.kind === 'dead' ? 'dead' : 'disconnected' });
        return;
      case 'replaced':
        this._replaced = true;
        this._setState({ kind: 'restarted' });
        return;
      case 'dead':
        this._setState({ kind: 'dead' });
        return;
      case 'refused':
        if (this._state.kind !== 'refused') {
          this._setState(this._replaced ? { kind: 'restarted' } : { kind: 'not-loaded', language: this._comms.language });
        }
    }
  };

  private _onConnected(): void {
    if (!this._comms.isOpen) {
      this.attach();
      return;
    }
    // The server has kept what was sent meanwhile, and gaps are noticed.
    this._setState({ kind: 'connecting' });
    this._step.renew();
  }

  private readonly _onArrived = (_: unknown, arrival: Arrival): void => {
    if (arrival.channel === 'cell') {
      const { count } = arrival;
      this._setCell(count === null ? null : { count, sinceMs: performance.now(), firstRun: Math.max(-1, ...(this.store?.tables.runs.keys() ?? [])) + 1 });
      return;
    }
    if (arrival.channel === 'data') {
      const heard = this._decoded(() => ({ batches: this._stream.take(arrival.data, arrival.buffers) }));
      if (heard?.batches === null && this._step.takes(null)) {
        this._resync(this._nRows());
      }
      heard?.batches?.forEach(batch => { this._onBatch(batch); });
      return;
    }
    const refusal = parseRefusal(arrival.data);
    const reply = parseReply(arrival.data);
    if (refusal !== null) {
      this._setState({ kind: 'refused', error: refusal });
    } else if (reply !== null) {
      this._onReply(reply);
    }
  };

  /** What `decode` gives; null where the message does not follow the protocol. The next ones would not either. */
  private _decoded<T>(decode: () => T): T | null {
    try {
      return decode();
    } catch (error) {
      if (!(error instanceof WireError)) {
        throw error;
      }
      this.suspend();
      this._setState({ kind: 'refused', error: error.message });
      return null;
    }
  }

  private _onReply(reply: Reply): void {
    this._step.rest();
    this._replaced = false;
    this._requests.settle(reply);
    this._subshell = reply.subshell;
    this._told = reply.epoch;
    this._setState({ kind: 'live', subshell: reply.subshell, ...versionNote(reply) });
    this._step.follow(reply);
  }

  /** How many rows are here; none where the kernel has told of another epoch since, whose first message may be lost. */
  private _nRows(): number {
    const { store } = this;
    return store === null || (this._told !== '' && this._told !== store.epoch) ? 0 : store.cursor;
  }

  private _onBatch(batch: Batch): void {
    if (!this._step.takes(batch.seq)) {
      return;
    }
    const store = this._stores.open(batch.recorder);
    const appended = store.append(batch);
    if (appended.kind === 'gap') {
      this._resync(appended.cursor);
      return;
    }
    this._step.started();
    const isOther = this.recorder !== batch.recorder;
    this._stores.current = batch.recorder;
    this._epoch = batch.epoch;
    if (isOther) {
      this._setCell(this.cell && { ...this.cell, firstRun: 0 });
      this.recorderChanged.emit(store);
    }
    if (this._state.kind === 'connecting') {
      this._setState({ kind: 'live', subshell: this._subshell });
    }
  }

  private _resync(cursor: number): void {
    this._step.resync(cursor);
    this._requests.repeat();
  }

  private _setCell(cell: RunningCell | null): void {
    this.cell = cell;
    this.cellChanged.emit(cell);
  }

  private _setState(state: FeedState): void {
    this._state = state;
    if (state.kind !== 'live' && state.kind !== 'connecting') {
      this._requests.rejectAll();
      if (state.kind === 'restarted' || state.kind === 'dead') {
        this.store?.end();
      } else {
        this.store?.freeze();
      }
    }
    this.stateChanged.emit(state);
  }

  private readonly _requests: Requests;
  private readonly _step: InStep;
  private readonly _stream = new PageStream();
  private readonly _stores: RecorderStores;
  private _state: FeedState = { kind: 'connecting' };
  private _epoch = '';
  /** The epoch that an answer named last. */
  private _told = '';
  private _subshell = false;
  private _replaced = false;
  /** The views for which stacks are sampled. */
  private readonly _samplers = new Set<AbortSignal>();
}
