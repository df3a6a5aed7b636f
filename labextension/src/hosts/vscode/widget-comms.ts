/**
 * Reaches a kernel over the comms of its widgets, for pages that can open none: VS Code delivers no other.
 *
 * The kernel sends its stream on one of them (`WidgetChannel` in `jupyter/adapter/channels.py`). It receives messages
 * only between cells, so it starts the stream by itself when a cell shows a widget.
 */
import type { WidgetModel } from '@jupyter-widgets/base';
import type { Kernel } from '@jupyterlab/services';
import type { JSONObject } from '@lumino/coreutils';
import { Signal } from '@lumino/signaling';

import { trans } from '../../lib/translate';
import { isRecord } from '../../wire/check';
import type { Arrival, CommsEvent, FeedComms } from '../lab/kernel/comms';
import type { KernelError } from '../lab/kernel/messages';

/** The used part of a widget's model. */
export type CommModel = Pick<WidgetModel, 'get' | 'off' | 'on' | 'once' | 'send' | 'widget_manager'>;

export class WidgetComms implements FeedComms {
  constructor(kernel: Kernel.IKernelConnection | null) {
    kernel?.disposed.connect(this._onGone);
    kernel?.statusChanged.connect((_, status) => {
      if (status === 'restarting' || status === 'autorestarting') {
        this._onGone();
      }
    });
  }

  readonly arrived = new Signal<this, Arrival>(this);
  readonly happened = new Signal<this, CommsEvent>(this);
  readonly hasSubshell = false;
  readonly language = null;
  isDisposed = false;

  /** Use the comm of a widget, until the widget is closed. */
  add(model: CommModel): void {
    this._models.add(model);
    model.on('msg:custom', this._onMessage);
    model.once('destroy', () => {
      this._models.delete(model);
    });
    if (this._isGone) {
      this._isGone = false;
      this.happened.emit('connected');
    }
  }

  get isConnected(): boolean {
    return !this.isDisposed && this._models.size > 0;
  }

  get isOpen(): boolean {
    return this.isConnected;
  }

  open(): Promise<boolean> {
    return Promise.resolve(this.isOpen);
  }

  close(): void {
    this._models.forEach(model => { model.off('msg:custom', this._onMessage); });
  }

  isSameKernel(): Promise<null> {
    return Promise.resolve(null);
  }

  ask(data: JSONObject): boolean {
    const model = [...this._models].at(-1);
    model?.send(data, {});
    return model !== undefined;
  }

  replaced(): void {
    this.happened.emit('replaced');
  }

  execute(): Promise<KernelError> {
    return Promise.resolve({ name: 'NotSupported', text: trans.__('run it in a cell') });
  }

  interrupt(): Promise<string> {
    return Promise.resolve(trans.__('interrupt the cell with the button of the notebook'));
  }

  dispose(): void {
    this.close();
    this.isDisposed = true;
    Signal.clearData(this);
  }

  private readonly _onGone = (): void => {
    this._models.clear();
    this._isGone = true;
    this.replaced();
  };

  private readonly _onMessage = (data: unknown, buffers: readonly (ArrayBuffer | ArrayBufferView)[] | undefined): void => {
    if (!isRecord(data) || data.kind !== 'batch') {
      this.arrived.emit({ channel: 'control', data });
    } else if (buffers?.length === 1) {
      this.arrived.emit({ channel: 'data', data, buffers });
    } else {
      const error = trans.__('this page drops the binary part of messages: ipywidgets 8 is needed. The recording in the kernel is complete.');
      this.arrived.emit({ channel: 'control', data: { re: 'open', error } });
    }
  };

  /** Whether the kernel was restarted, and has shown no widget since. */
  private _isGone = false;
  private readonly _models = new Set<CommModel>();
}
