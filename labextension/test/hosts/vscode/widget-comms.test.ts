/** A feed over the comms of widgets, with a kernel and a widget manager that the test plays. */
import { Signal } from '@lumino/signaling';
import { afterAll, beforeEach, expect, it, vi } from 'vitest';

import widgets from '../../../src/hosts/vscode/index';
import { liveModels } from '../../../src/hosts/widget/live-models';
import { batch, reply } from '../lab/live-feed';

type Receive = (message: object) => Promise<unknown>;

class FakeManager {
  readonly kernel = { id: 'k', model: { id: 'k', name: 'python3' }, disposed: new Signal<object, void>({}), statusChanged: new Signal<object, string>({}) };
  readonly sent: [widget: string, request: unknown][] = [];
  display_view = vi.fn();

  /** The kernel opens the comm of a widget; what it sends then goes to the function that is returned. */
  widget(id: string, recorder = 'r'): { view: { el: HTMLElement; render(): void; remove(): void }; push: (data: object, buffers?: readonly ArrayBuffer[]) => Promise<unknown>; close: () => void } {
    let receive: Receive = () => Promise.resolve();
    let closed: (message: object) => void = () => undefined;
    const comm = {
      comm_id: id, target_name: 'jupyter.widget', close: vi.fn(),
      on_msg: (listener: Receive) => { receive = listener; },
      on_close: (listener: typeof closed) => { closed = listener; },
      send: ({ content }: { content?: unknown }) => { this.sent.push([id, content]); return ''; }
    };
    const { ProgressModel, ProgressView } = widgets as unknown as Record<'ProgressModel' | 'ProgressView', new (...args: unknown[]) => never>;
    const model = new ProgressModel({ recorder_id: recorder }, { model_id: id, comm, widget_manager: this });
    const view: { el: HTMLElement; render(): void; remove(): void } = new ProgressView({ model, options: {} });
    const push = (content: object, buffers: readonly ArrayBuffer[] = []): Promise<unknown> =>
      receive({ content: { data: { method: 'custom', content } }, buffers: buffers.map(buffer => new DataView(buffer)) });
    return { view, push, close: () => { closed({ content: { data: {} } }); } };
  }
}

const note = ({ view }: ReturnType<FakeManager['widget']>): string | null => view.el.querySelector('.tsk-note:not([hidden])')?.textContent ?? null;

let manager: FakeManager;

// It listens to every model of the page, also those of other files.
afterAll(() => { Signal.disconnectSender(liveModels); });

beforeEach(() => { manager = new FakeManager(); });

it('widgets of one manager share a feed, whose stream may come by any of them', async () => {
  const [first, second] = [manager.widget('a'), manager.widget('b')];
  [first, second].forEach(({ view }) => { view.render(); });
  expect([note(first), note(second)]).toEqual(['waiting for the kernel', 'waiting for the kernel']);
  await vi.waitFor(() => { expect(manager.sent).toEqual([['b', { verb: 'hello', cursor: 0, epoch: '' }]]); }, 60_000);
  await first.push(...batch(0, 0, 1));
  expect([note(first), note(second)]).toEqual([null, null]);
  first.close();
  await second.push(...batch(1, 1, 1));
  await second.push(reply('hello', { cursor: 2, subshell: false }));
  // Nothing is missing, so nothing is requested.
  expect([manager.sent.length, note(second)]).toEqual([1, null]);
  await second.push(...batch(3, 4, 2));
  expect(manager.sent.at(-1)).toEqual(['b', { verb: 'resync', cursor: 2 }]);
});

it('a kernel of another version, one that is gone, and a manager that drops bytes are said', async () => {
  const [other, dropping] = [manager.widget('a'), new FakeManager().widget('b')];
  [other, dropping].forEach(({ view }) => { view.render(); });
  const [data] = batch(0, 0, 0);
  await dropping.push(data);
  expect(note(dropping)).toBe('this page drops the binary part of messages: ipywidgets 8 is needed. The recording in the kernel is complete.');
  await other.push(reply('hello', { version: '9.9' }));
  expect(note(other)).toBe('this page has taskscope 0.1.0, the kernel 9.9: restart the kernel and reload the page');
  manager.kernel.disposed.emit();
  expect(note(other)).toBe('kernel restarted: this is what was there before');
  const next = manager.widget('c', 'r2');
  next.view.render();
  await next.push(...batch(0, 0, 1, { recorder: 'r2', epoch: 'r2-1' }));
  expect([note(other), note(next)]).toEqual(['kernel restarted: this is what was there before', null]);
});
