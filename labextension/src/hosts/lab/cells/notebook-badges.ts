/** The badges of one notebook and what they unfold: follow its kernel's feed, and go when they would say what is no longer so. */
import type { NotebookPanel } from '@jupyterlab/notebook';

import type { TaskStore } from '../../../store';
import { crc32 } from '../../../wire/crc';
import type { IFeeds } from '../feed/feeds';
import { FeedFollower } from '../feed/follower';
import { Badge } from './badge';
import { type Question, BusyMachine } from './busy-machine';
import { CellView } from './cell-view';
import { type CodeCell, type CodeModel, codeCells, flash } from './cells';
import { type CellFacts, type Execution, type Mark, isCurrent, executionsByCell, runRangeOf } from './executions';

/** Of what took less time, the machine is no matter. */
const LEAST_S = 2;

export class NotebookBadges {
  constructor(
    private readonly _panel: NotebookPanel,
    private readonly _feeds: IFeeds
  ) {
    this._follower = new FeedFollower(
      _feeds,
      () => _panel.sessionContext.session?.kernel?.id,
      () => {
        this._refresh();
      }
    );
    _panel.sessionContext.kernelChanged.connect(this._follower.follow);
    _panel.content.modelContentChanged.connect(this._follower.soon);
    _panel.disposed.connect(() => {
      this._follower.dispose();
      this._machine.dispose();
      this._inSight?.disconnect();
      this._forgetOthers(new Set());
    });
  }

  private _refresh(): void {
    const store = this._store();
    this._read(store);
    const alive = store?.clock.active === true;
    const shown = new Set<CodeModel>();
    for (const code of codeCells(this._panel)) {
      const { widget, model } = code;
      shown.add(model);
      const cell = this._cells.get(model) ?? this._add(code);
      const executions = this._executions.get(model.id) ?? [];
      const latest = executions.at(-1);
      if (latest?.status === 'running') {
        cell.witnessed = latest.executionCount;
      }
      const facts = factsOf(model, cell);
      // Nobody knows whether what ran when the kernel was last heard still does. Who edits a cell still looks at what it computed.
      const execution = executions.findLast(one => (alive || one.status !== 'running') && isCurrent(one, { ...facts, sourceCrc: one.sourceCrc ?? 0 }));
      if (store === null || execution === undefined) {
        cell.badge.show(widget.node, goneMark(cell, store, facts));
        continue;
      }
      const isOpen = chartsOf(code) === null ? cell.isOpen : null;
      const isSame = isCurrent(execution, facts);
      cell.badge.show(widget.node, isSame ? { execution, store, isOpen, busy: this._busy(cell, execution, store) } : null);
      cell.last = isSame && execution.status !== 'running' ? { execution, epoch: store.epoch } : null;
      if (isOpen === true) {
        this._unfold(cell, execution, facts);
      }
    }
    this._forgetOthers(shown);
  }

  /** What the kernel says of the machine after an execution of some length; asked once the badge is seen, or opened. */
  private _busy(cell: BadgedCell, execution: Execution, { tables }: TaskStore): string | null {
    const runRange = runRangeOf(execution, false);
    const id = `${execution.status} ${runRange.firstRun} ${runRange.lastRun ?? ''}`;
    if (cell.busyOf !== id) {
      this._dropQuestion(cell);
      cell.busyOf = id;
      cell.busy = null;
      const lastedS = execution.runs.reduce((sum, run) => sum + (tables.runs.get(run)?.stopS ?? 0) - (tables.runs.get(run)?.startS ?? 0), 0);
      cell.question = execution.status === 'running' || lastedS < LEAST_S ? null : {
        runRange,
        tell: busy => {
          Object.assign(cell, { busy, question: null });
          this._follower.soon();
        }
      };
    }
    if (cell.question !== null && (cell.isOpen || cell.isSeen)) {
      this._machine.ask(cell.question);
    }
    return cell.busy;
  }

  private _dropQuestion(cell: BadgedCell): void {
    if (cell.question !== null) {
      this._machine.drop(cell.question);
      cell.question = null;
    }
  }

  private _onSight(entries: readonly IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting } of entries) {
      for (const cell of this._cells.values()) {
        if (cell.badge.el === target) {
          cell.isSeen = isIntersecting;
        }
      }
    }
    this._follower.soon();
  }

  private _store(): TaskStore | null {
    const { state, store } = this._follower;
    return state === null || state === 'not-loaded' || state === 'restarted' || state === 'dead' ? null : store;
  }

  private _read(store: TaskStore | null): void {
    const version = store?.version ?? -1;
    if (store !== this._seenStore || version !== this._seenVersion) {
      this._seenStore = store;
      this._seenVersion = version;
      this._executions = store === null ? new Map() : executionsByCell(store.tables.runs.values());
    }
  }

  private _unfold({ view }: BadgedCell, execution: Execution, { isRunning, executionCount }: CellFacts): void {
    const kernel = this._panel.sessionContext.session?.kernel?.model;
    if (kernel !== undefined) {
      // More may come of the cell while it runs, and only then: what it left to a cluster goes on beside others.
      view.show(kernel, runRangeOf(execution, isRunning || executionCount === null));
    }
  }

  private _add(code: CodeCell): BadgedCell {
    const { widget, model } = code;
    const stop = new AbortController();
    const { signal } = stop;
    const open = (isOpen: boolean): void => {
      cell.isOpen = isOpen;
      if (!isOpen) {
        cell.view.hide();
      }
      this._refresh();
    };
    const press = (): void => {
      const charts = chartsOf(code);
      if (charts === null) {
        cell.view.seek();
        open(!cell.isOpen);
      } else {
        charts.scrollIntoView({ block: 'nearest' });
        flash(charts);
      }
    };
    const badge = new Badge(press, signal);
    const close = (): void => {
      open(false);
      badge.focus();
    };
    const view = new CellView(widget, this._feeds, close);
    const cell: BadgedCell = { badge, view, stop, isOpen: false, isSeen: this._inSight === null, busyOf: '', question: null, busy: null, last: null, floor: 0, witnessed: null, source: '', sourceCrc: 0 };
    this._inSight?.observe(badge.el);
    signal.addEventListener('abort', () => {
      this._inSight?.unobserve(badge.el);
      this._dropQuestion(cell);
      badge.el.remove();
      view.hide();
    });
    const onState = (_: unknown, { name, newValue }: { name: string; newValue: unknown }): void => {
      if ((name === 'executionState' && newValue === 'running') || (name === 'executionCount' && newValue === null)) {
        this._leaveBehind(model, cell);
      }
      this._follower.soon();
    };
    const onOutputs = (_: unknown, { type }: { type: string }): void => {
      // While it runs, the user's own code may clear them.
      if (type === 'clear' && model.executionState !== 'running') {
        this._leaveBehind(model, cell);
        this._follower.soon();
      }
    };
    model.stateChanged.connect(onState);
    model.outputs.changed.connect(onOutputs);
    signal.addEventListener('abort', () => {
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
    cell.floor = Math.max(cell.floor, this._executions.get(model.id)?.at(-1)?.executionCount ?? 0);
    cell.last = null;
    cell.view.hide();
  }

  private _forgetOthers(shown: ReadonlySet<CodeModel>): void {
    for (const [model, { stop }] of this._cells) {
      if (!shown.has(model)) {
        stop.abort();
        this._cells.delete(model);
      }
    }
  }

  private readonly _follower: FeedFollower;
  private readonly _machine = new BusyMachine(runRange => this._feeds.get(this._panel.sessionContext.session?.kernel?.id ?? '')?.keeper.explain(runRange) ?? null);
  private readonly _inSight = typeof IntersectionObserver === 'function' ? new IntersectionObserver(entries => { this._onSight(entries); }) : null;
  private _executions: ReadonlyMap<string, readonly Execution[]> = new Map();
  private _seenStore: TaskStore | null = null;
  private _seenVersion = -1;
  private readonly _cells = new Map<CodeModel, BadgedCell>();
}

interface BadgedCell {
  readonly badge: Badge;
  readonly view: CellView;
  /** Ends listening to the model, and what is shown. */
  readonly stop: AbortController;
  /** Whether the person unfolded it; it stays so when the cell runs again. */
  isOpen: boolean;
  /** Whether the badge is in sight. */
  isSeen: boolean;
  /** Of which execution the kernel says whether the machine was busy; the question, until it has answered; and what it said. */
  busyOf: string;
  question: Question | null;
  busy: string | null;
  /** What its badge says, and of which recorder; null: nothing, or of what still runs. */
  last: { readonly execution: Execution; readonly epoch: string | null } | null;
  floor: number;
  witnessed: number | null;
  /** What it held when it was last looked at, and the CRC-32 of that. */
  source: string;
  sourceCrc: number;
}

/** What stays of an execution whose kernel is gone, as long as the cell shows what it computed. */
function goneMark({ last }: BadgedCell, store: TaskStore | null, facts: CellFacts): Mark | null {
  return last !== null && last.epoch !== (store?.epoch ?? null) && isCurrent(last.execution, facts)
    ? { execution: last.execution, store: null, busy: null, isOpen: null }
    : null;
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

/** The live charts or the result that `%%profile` has put under a cell; null: it shows none there. */
function chartsOf({ widget, model }: CodeCell): HTMLElement | null {
  return /^\s*%%profile\b/.test(model.sharedModel.getSource())
    ? widget.node.querySelector('.jp-OutputArea :is(.tsk-dashboard, .taskscope-result)')
    : null;
}
