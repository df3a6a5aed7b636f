/** One kernel seen over a connection of our own, which leaves the comms of others alone. */
import type { Kernel, KernelMessage } from '@jupyterlab/services';
import type { JSONObject } from '@lumino/coreutils';
import { UUID } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import {
  CONTROL,
  DATA,
  type KernelError,
  askFacts,
  closeComm,
  createSubshell,
  deleteSubshell,
  endSubshell,
  execute,
  listSubshells,
  openComm,
  sendComm
} from './messages';

/** What a comm brought. */
export type Arrival =
  | { channel: 'data'; data: unknown; buffers: readonly (ArrayBuffer | ArrayBufferView)[] }
  | { channel: 'control'; data: unknown }
  /** The kernel runs a cell, by its `n` of `In [n]`; null: no longer. */
  | { channel: 'cell'; count: number | null };

export type CommsEvent = 'connected' | 'lost' | 'replaced' | 'dead' | 'refused';

/** How a feed and its kernel reach each other. */
export interface FeedComms extends IDisposable {
  readonly arrived: ISignal<unknown, Arrival>;
  readonly happened: ISignal<unknown, CommsEvent>;
  readonly isConnected: boolean;
  readonly isOpen: boolean;
  /** Whether the kernel answers requests while a cell runs. */
  readonly hasSubshell: boolean;
  /** The kernel's language, null while it is not known. */
  readonly language: string | null;
  open(): Promise<boolean>;
  close(): void;
  isSameKernel(): Promise<boolean | null>;
  ask(data: JSONObject): boolean;
  replaced(): void;
  execute(code: string): Promise<KernelError | null>;
  /** Interrupt the kernel; resolves to why that cannot be, or null. */
  interrupt(): Promise<string | null>;
}

/**
 * Carries the control and the data comm of this page.
 *
 * The kernel may be busy, restart, crash, or have never heard of taskscope; this says so and leaves it to
 * its owner to `open` again.
 */
export class KernelComms implements FeedComms {
  constructor(kernels: Kernel.IManager, model: Kernel.IModel, page: string) {
    this._page = page;
    this._connection = kernels.connectTo({ model, handleComms: false });
    this._connection.connectionStatusChanged.connect(this._onConnection);
    this._connection.statusChanged.connect(this._onStatus);
    this._connection.iopubMessage.connect(this._onIopub);
  }

  readonly arrived = new Signal<this, Arrival>(this);
  readonly happened = new Signal<this, CommsEvent>(this);

  get isConnected(): boolean {
    return this._connection.connectionStatus === 'connected';
  }

  get isOpen(): boolean {
    return this._comms !== null;
  }

  get hasSubshell(): boolean {
    return this._comms !== null && this._comms.subshellId !== null;
  }

  get isDisposed(): boolean {
    return this._connection.isDisposed;
  }

  get language(): string | null {
    return this._language;
  }

  /**
   * Open both comms, anew if they are open; resolves to whether they are. They are not where the kernel refused,
   * or where another call has overtaken this one.
   */
  async open(): Promise<boolean> {
    this.close();
    const turn = this._turn;
    const facts = await askFacts(this._connection);
    if (!this._isTurn(turn)) {
      return false;
    }
    this._language = facts?.language ?? this._language;
    if (facts?.hasFeed === false) {
      this.happened.emit('refused');
      return false;
    }
    const subshellId = facts?.hasSubshells === true ? await createSubshell(this._connection) : null;
    if (!this._isTurn(turn)) {
      if (subshellId !== null && !this.isDisposed) {
        deleteSubshell(this._connection, subshellId);
      }
      return false;
    }
    this._comms = { control: UUID.uuid4(), data: UUID.uuid4(), subshellId };
    const hello = { protocol: 1, page: this._page };
    openComm(this._connection, CONTROL, this._comms.control, hello, subshellId);
    openComm(this._connection, DATA, this._comms.data, hello, subshellId);
    return true;
  }

  /** Close both comms and give up the subshell; `open` opens new ones. */
  close(): void {
    this._turn++;
    const comms = this._comms;
    this._comms = null;
    if (comms === null || !this.isConnected) {
      return;
    }
    closeComm(this._connection, comms.control, comms.subshellId);
    closeComm(this._connection, comms.data, comms.subshellId);
    if (comms.subshellId !== null) {
      endSubshell(this._connection, comms.subshellId);
    }
  }

  /**
   * Whether the kernel is the one that the comms were opened on; null where it does not answer in time. If it is
   * not, comms and subshell died with the former, so nobody is told.
   */
  async isSameKernel(): Promise<boolean | null> {
    const comms = this._comms;
    const subshells = await listSubshells(this._connection);
    if (subshells === null || comms === null) {
      return null;
    }
    const isSame = subshells.includes(comms.subshellId);
    if (!isSame && this._comms === comms) {
      this._comms = null;
    }
    return isSame;
  }

  /** Send a verb on the control comm; false while it is not open, and nothing is sent. */
  ask(data: JSONObject): boolean {
    if (this._comms === null || !this.isConnected) {
      return false;
    }
    sendComm(this._connection, this._comms.control, data, this._comms.subshellId);
    return true;
  }

  /** The kernel's process is another one: comms and subshell died with the former, so nobody is told. */
  replaced(): void {
    this._turn++;
    this._comms = null;
    this._runs(null);
    this.happened.emit('replaced');
  }

  /** Run code on the main shell, when that is free; resolves to the error it raised, or null. */
  execute(code: string): Promise<KernelError | null> {
    return execute(this._connection, code);
  }

  /** Interrupt by the server, for kernels that do not hear us while a cell runs. */
  async interrupt(): Promise<null> {
    // Views that stop the same compute interrupt it once.
    this._interrupting ??= this._connection.interrupt().finally(() => { this._interrupting = null; });
    await this._interrupting;
    return null;
  }

  dispose(): void {
    if (this.isDisposed) {
      return;
    }
    this.close();
    Signal.clearData(this);
    this._connection.dispose();
  }

  /** Whether no other call has overtaken this one meanwhile. */
  private _isTurn(turn: number): boolean {
    return turn === this._turn && !this.isDisposed;
  }

  private readonly _onConnection = (_: Kernel.IKernelConnection, status: Kernel.ConnectionStatus): void => {
    this._runs(null);
    this.happened.emit(status === 'connected' ? 'connected' : 'lost');
  };

  private readonly _onStatus = (_: Kernel.IKernelConnection, status: Kernel.Status): void => {
    if (status === 'dead') {
      this._runs(null);
      this.happened.emit('dead');
    } else if (status === 'starting' || status === 'restarting' || status === 'autorestarting') {
      this.replaced();
    }
  };

  /** @param request is the id of the message that asked for it */
  private _runs(count: number | null, request = ''): void {
    if (count !== null || this._cell !== '') {
      this._cell = request;
      this.arrived.emit({ channel: 'cell', count });
    }
  }

  private readonly _onIopub = (_: Kernel.IKernelConnection, message: KernelMessage.IIOPubMessage): void => {
    const { content, header: { msg_type: type }, parent_header: parent } = message;
    const request = (parent as { msg_id?: string }).msg_id ?? '';
    if (type === 'execute_input') {
      this._runs((content as KernelMessage.IExecuteInputMsg['content']).execution_count, request);
    } else if (type === 'status' && request === this._cell && (content as KernelMessage.IStatusMsg['content']).execution_state === 'idle') {
      this._runs(null);
    }
    const comms = this._comms;
    const commId = (message.content as { comm_id?: unknown }).comm_id;
    if (comms === null || (commId !== comms.control && commId !== comms.data)) {
      return;
    }
    if (message.header.msg_type === 'comm_close') {
      this._comms = null;
      if (comms.subshellId !== null) {
        deleteSubshell(this._connection, comms.subshellId);
      }
      this.happened.emit('refused');
    } else if (message.header.msg_type === 'comm_msg') {
      const { data } = message.content as { data: unknown };
      const isData = commId === comms.data;
      this.arrived.emit(
        isData ? { channel: 'data', data, buffers: message.buffers ?? [] } : { channel: 'control', data }
      );
    }
  };

  private readonly _connection: Kernel.IKernelConnection;
  private readonly _page: string;
  private _comms: { control: string; data: string; subshellId: string | null } | null = null;
  private _turn = 0;
  /** The message that asked for the cell that runs; empty: none runs. */
  private _cell = '';
  private _language: string | null = null;
  private _interrupting: Promise<void> | null = null;
}
