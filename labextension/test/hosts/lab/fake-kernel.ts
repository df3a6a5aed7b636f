/** A kernel connection that the test answers for; only what the feed uses of it. */
import type { Kernel, KernelMessage } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';

export interface Sent {
  type: string;
  content: Record<string, unknown>;
  subshell: string | null;
  metadata: object;
}

export class FakeKernel {
  constructor(private readonly features: string[] = ['kernel subshells', 'taskscope']) {}

  language = 'python';
  readonly clientId = 'client';
  readonly connectionStatusChanged = new Signal<this, Kernel.ConnectionStatus>(this);
  readonly statusChanged = new Signal<this, Kernel.Status>(this);
  readonly iopubMessage = new Signal<this, KernelMessage.IIOPubMessage>(this);
  readonly sent: Sent[] = [];
  connectionStatus: Kernel.ConnectionStatus = 'connected';
  isDisposed = false;
  interrupts = 0;

  /** Subshells that there are; the first one is `sub`. */
  readonly subshells = new Set<string>();
  /** Whether its control channel answers nothing, as while a C call holds the interpreter's lock. */
  isHeldUp = false;
  /** Requests on the control channel that somebody before the kernel drops. */
  readonly dropped = new Set<string>();

  /** Comms that are open, as the kernel sees it: target by id. */
  readonly comms = new Map<string, string>();

  connectTo = (): this => this;

  sendShellMessage(message: KernelMessage.IShellMessage): { dispose(): void } {
    this.note(message);
    const { comm_id: id, target_name: target } = message.content as Record<string, string>;
    if (message.header.msg_type === 'comm_open') {
      this.comms.set(String(id), String(target));
    } else if (message.header.msg_type === 'comm_close') {
      this.comms.delete(String(id));
    } else if ((message.header.msg_type as string) === 'delete_subshell_request') {
      this.subshells.delete((message.content as unknown as { subshell_id: string }).subshell_id);
    }
    return { dispose: (): void => undefined };
  }

  sendControlMessage(message: KernelMessage.IControlMessage): unknown {
    this.note(message);
    const future = {
      onReply: undefined as ((reply: { content: unknown }) => void) | undefined,
      done: new Promise<never>(() => undefined),
      dispose: (): void => undefined
    };
    const type = message.header.msg_type as string;
    const content = this.answer(type, message.content);
    if (!this.isHeldUp && !this.dropped.has(type)) {
      queueMicrotask(() => {
        future.onReply?.({ content });
      });
    }
    return future;
  }

  private answer(type: string, content: unknown): object {
    switch (type) {
      case 'kernel_info_request':
        return { supported_features: this.features, language_info: { name: this.language } };
      case 'create_subshell_request': {
        const id = this.subshells.size === 0 ? 'sub' : `sub${this.subshells.size + 1}`;
        this.subshells.add(id);
        return { subshell_id: id };
      }
      case 'delete_subshell_request':
        this.subshells.delete((content as { subshell_id: string }).subshell_id);
        return {};
      default:
        return { subshell_id: [...this.subshells] };
    }
  }

  /** Another process in its place, which knows nothing of what was opened. */
  replace(): void {
    this.comms.clear();
    this.subshells.clear();
  }

  interrupt(): Promise<void> {
    this.interrupts += 1;
    return Promise.resolve();
  }

  dispose(): void {
    this.isDisposed = true;
  }

  commOf(target: string): string {
    const found = [...this.comms].find(([, name]) => name === target);
    if (found === undefined) {
      throw new Error(`no comm of ${target} is open`);
    }
    return found[0];
  }

  /** Send on a comm of the page. */
  push(target: string, data: unknown, buffers: ArrayBuffer[] = []): void {
    this.say('comm_msg', { comm_id: this.commOf(target), data }, buffers);
  }

  /** What a kernel that knows no such target does. */
  refuse(target: string): void {
    this.say('comm_close', { comm_id: this.commOf(target), data: {} });
  }

  connection(status: Kernel.ConnectionStatus): void {
    this.connectionStatus = status;
    this.connectionStatusChanged.emit(status);
  }

  verbs(): unknown[] {
    return this.sent.filter(m => m.type === 'comm_msg').map(m => m.content.data);
  }

  asManager(): Kernel.IManager {
    return this as unknown as Kernel.IManager;
  }

  /** What a kernel sends of a request that it got from anywhere. */
  say(type: string, content: unknown, buffers: ArrayBuffer[] = [], request = ''): void {
    this.iopubMessage.emit({
      header: { msg_type: type },
      parent_header: { msg_id: request },
      content,
      buffers
    } as unknown as KernelMessage.IIOPubMessage);
  }

  private note(message: KernelMessage.IMessage): void {
    this.sent.push({
      type: message.header.msg_type,
      content: message.content as Record<string, unknown>,
      subshell: (message.header as { subshell_id?: string }).subshell_id ?? null,
      metadata: message.metadata
    });
  }
}
