/** The badges of one notebook: follow its kernel's feed, and go when they would say what is no longer so. */
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';

import { crc32 } from '../../../wire/frames';
import type { TaskStore } from '../../../store';
import type { Feed } from '../feed';
import type { IFeeds } from '../feeds';
import { Badge } from './badge';
import { type CodeModel, codeCells } from './code-cells';
import { type CellFacts, type Execution, isCurrent, latestExecutions } from './executions';

const REFRESH_MS = 50;

export class NotebookBadges implements IDisposable {
  constructor(
    private readonly _panel: NotebookPanel,
    private readonly _feeds: IFeeds,
    private readonly _trans: TranslationBundle
  ) {
    _panel.sessionContext.kernelChanged.connect(this._follow);
    _feeds.added.connect(this._follow);
    _panel.content.modelContentChanged.connect(this._soon);
    _panel.disposed.connect(() => {
      this.dispose();
    });
    this._follow();
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    clearTimeout(this._timer);
    this._watch?.abort();
    for (const { badge, stop } of this._cells.values()) {
      badge.el.remove();
      stop.abort();
    }
    this._cells.clear();
    this._feeds.added.disconnect(this._follow);
    this._feed?.stateChanged.disconnect(this._soon);
    this._feed?.recorderChanged.disconnect(this._onRecorder);
  }

  private readonly _follow = (): void => {
    const id = this._panel.sessionContext.session?.kernel?.id;
    const feed = id === undefined ? undefined : this._feeds.get(id);
    if (feed !== this._feed) {
      this._feed?.stateChanged.disconnect(this._soon);
      this._feed?.recorderChanged.disconnect(this._onRecorder);
      this._feed = feed;
      feed?.stateChanged.connect(this._soon);
      feed?.recorderChanged.connect(this._onRecorder);
      this._onRecorder();
    }
  };

  private readonly _onRecorder = (): void => {
    this._watch?.abort();
    this._watch = new AbortController();
    this._seenVersion = -1;
    this._executions = new Map();
    this._feed?.store?.subscribe(() => {
      this._soon();
    }, this._watch.signal);
    this._soon();
  };

  private readonly _soon = (): void => {
    this._timer ??= setTimeout(() => {
      this._timer = undefined;
      this._refresh();
    }, REFRESH_MS);
  };

  private _refresh(): void {
    const store = this._store();
    this._read(store);
    const alive = store?.clock.active === true;
    const shown = new Set<CodeModel>();
    for (const { node, model } of codeCells(this._panel)) {
      shown.add(model);
      const cell = this._cells.get(model) ?? this._add(model);
      const execution = this._executions.get(model.id);
      if (execution?.status === 'running') {
        cell.witnessed = execution.executionCount;
      }
      // Nobody knows whether what ran when the kernel was last heard still does.
      const isKnown = execution !== undefined && (alive || execution.status !== 'running');
      cell.badge.show(node, isKnown && isCurrent(execution, factsOf(model, cell)) ? execution : null);
    }
    this._forgetOthers(shown);
  }

  /** The store of a kernel that is there. */
  private _store(): TaskStore | null {
    const kind = this._feed?.state.kind;
    const isGone = kind === undefined || kind === 'not-loaded' || kind === 'restarted' || kind === 'dead';
    return isGone ? null : (this._feed?.store ?? null);
  }

  private _read(store: TaskStore | null): void {
    const version = store?.version ?? -1;
    if (version !== this._seenVersion) {
      this._seenVersion = version;
      this._executions = store === null ? new Map() : latestExecutions(store.tables.runs.values());
    }
  }

  private _add(model: CodeModel): BadgedCell {
    const stop = new AbortController();
    const cell: BadgedCell = { badge: new Badge(this._trans), stop, floor: 0, witnessed: null, source: '', sourceCrc: 0 };
    const onState = (_: unknown, { name, newValue }: { name: string; newValue: unknown }): void => {
      if ((name === 'executionState' && newValue === 'running') || (name === 'executionCount' && newValue === null)) {
        this._leaveBehind(model, cell);
      }
      this._soon();
    };
    const onOutputs = (_: unknown, { type }: { type: string }): void => {
      // While it runs, the user's own code may clear them.
      if (type === 'clear' && model.executionState !== 'running') {
        this._leaveBehind(model, cell);
        this._soon();
      }
    };
    model.stateChanged.connect(onState);
    model.outputs.changed.connect(onOutputs);
    stop.signal.addEventListener('abort', () => {
      if (!model.isDisposed) {
        model.stateChanged.disconnect(onState);
        model.outputs.changed.disconnect(onOutputs);
      }
    });
    this._cells.set(model, cell);
    return cell;
  }

  /** What the cell computed up to now is no longer what it shows. */
  private _leaveBehind(model: CodeModel, cell: BadgedCell): void {
    this._read(this._store());
    cell.floor = Math.max(cell.floor, this._executions.get(model.id)?.executionCount ?? 0);
  }

  private _forgetOthers(shown: ReadonlySet<CodeModel>): void {
    for (const [model, { badge, stop }] of this._cells) {
      if (!shown.has(model)) {
        badge.el.remove();
        stop.abort();
        this._cells.delete(model);
      }
    }
  }

  private _feed: Feed | undefined;
  private _executions: ReadonlyMap<string, Execution> = new Map();
  private _seenVersion = -1;
  private readonly _cells = new Map<CodeModel, BadgedCell>();
  private _watch: AbortController | undefined;
  private _timer: ReturnType<typeof setTimeout> | undefined;
  private _isDisposed = false;
}

interface BadgedCell {
  readonly badge: Badge;
  /** Ends listening to the model. */
  readonly stop: AbortController;
  floor: number;
  witnessed: number | null;
  /** What it held when it was last looked at, and the CRC-32 of that. */
  source: string;
  sourceCrc: number;
}

function factsOf(model: CodeModel, cell: BadgedCell): CellFacts {
  const { executionCount, executionState } = model;
  const source = model.sharedModel.getSource();
  if (source !== cell.source) {
    cell.source = source;
    cell.sourceCrc = crc32(new TextEncoder().encode(source));
  }
  const { floor, witnessed, sourceCrc } = cell;
  return { executionCount, sourceCrc, isRunning: executionState === 'running', floor, witnessed };
}
