/** The raw Jupyter messages of the feed and the announcements of kernels: the one place that knows their shape. */
import { type Kernel, KernelMessage } from '@jupyterlab/services';
import type { JSONObject } from '@lumino/coreutils';
import type { ISessionContext } from '@jupyterlab/apputils';

/** The names under which a kernel announces something: ids of comms that are never opened. */
export const ANNOUNCE = 'taskscope.announce';
/** By which a cell asks for a panel. */
export const SHOW = 'taskscope.show';
export const CONTROL = 'taskscope.control';
export const DATA = 'taskscope.data';

/**
 * Marks what we send, so that the kernel neither says that it is idle (a cell may run) nor takes it for what
 * prints of threads belong to: see `jupyter/adapter/kernel.py`.
 */
const METADATA = { taskscope: true };

/** What we read of a reply on the control channel. */
interface ControlAnswer {
  supported_features?: unknown;
  language_info?: { name?: unknown };
  subshell_id?: unknown;
}

/** What a kernel says of itself. */
export interface KernelFacts {
  /** Whether it can open our comms: see `jupyter/adapter/kernel.py`. */
  readonly hasFeed: boolean;
  readonly hasSubshells: boolean;
  /** Null: it does not say. */
  readonly language: string | null;
}

/** How long a kernel may take to say whether it has subshells: one C call may keep it from answering for long. */
const ANSWER_MS = 15_000;

export function openComm(
  connection: Kernel.IKernelConnection,
  target: string,
  commId: string,
  data: JSONObject,
  subshellId: string | null
): void {
  send(connection, 'comm_open', { comm_id: commId, target_name: target, data }, subshellId);
}

export function sendComm(
  connection: Kernel.IKernelConnection,
  commId: string,
  data: JSONObject,
  subshellId: string | null
): void {
  send(connection, 'comm_msg', { comm_id: commId, data }, subshellId);
}

export function closeComm(
  connection: Kernel.IKernelConnection,
  commId: string,
  subshellId: string | null
): void {
  send(connection, 'comm_close', { comm_id: commId, data: {} }, subshellId);
}

/** Ask a kernel what it is; null where it does not answer. */
export async function askFacts(connection: Kernel.IKernelConnection): Promise<KernelFacts | null> {
  // `connection.info` waits for the main shell, which may run a cell; the control channel answers at once.
  const info = await askControl(connection, 'kernel_info_request', {});
  if (info === null) {
    return null;
  }
  const features: unknown[] = Array.isArray(info.supported_features) ? info.supported_features : [];
  const language = info.language_info?.name;
  return {
    hasFeed: features.includes('taskscope'),
    hasSubshells: features.includes('kernel subshells'),
    language: typeof language === 'string' ? language : null
  };
}

/** Make a subshell; null where that fails, so that messages go to the main shell. */
export async function createSubshell(connection: Kernel.IKernelConnection): Promise<string | null> {
  const made = askControl(connection, 'create_subshell_request', {});
  // What is asked on this channel is answered in turn. Where the second answer comes first, somebody between us
  // and the kernel lets no such request pass, as Voila does.
  const passed = askControl(connection, 'kernel_info_request', {});
  const reply = await Promise.race([made, passed.then(() => null)]);
  const id = reply?.subshell_id;
  return typeof id === 'string' ? id : null;
}

/** The subshells that a kernel has; null where it does not answer in time. */
export async function listSubshells(connection: Kernel.IKernelConnection): Promise<readonly unknown[] | null> {
  const reply = await askControl(connection, 'list_subshell_request', {});
  const ids = reply?.subshell_id;
  return reply === null ? null : Array.isArray(ids) ? ids : [];
}

/** Run code as a person would who clicks, but without history and output; resolves to the error it raised, or null. */
export async function execute(connection: Kernel.IKernelConnection, code: string): Promise<KernelError | null> {
  const message = KernelMessage.createMessage<KernelMessage.IExecuteRequestMsg>({
    channel: 'shell',
    msgType: 'execute_request',
    session: connection.clientId,
    content: { code, silent: true, store_history: false, allow_stdin: false, stop_on_error: false }
  });
  const { content } = (await connection.sendShellMessage(message, true, true).done) as KernelMessage.IExecuteReplyMsg;
  if (content.status === 'ok') {
    return null;
  }
  return content.status === 'error'
    ? { name: content.ename, text: content.evalue }
    : { name: 'Aborted', text: 'a cell before it failed' };
}

export interface KernelError {
  readonly name: string;
  readonly text: string;
}

/** Delete a subshell once all that was sent to it is handled: see `jupyter/adapter/kernel.py`. */
export function endSubshell(connection: Kernel.IKernelConnection, subshellId: string): void {
  send(connection, 'delete_subshell_request', { subshell_id: subshellId }, subshellId);
}

/** Delete a subshell at once, whatever it still has to do; for a kernel that has not loaded taskscope any more. */
export function deleteSubshell(connection: Kernel.IKernelConnection, subshellId: string): void {
  sendControl(connection, 'delete_subshell_request', { subshell_id: subshellId }, false).dispose();
}

function send(connection: Kernel.IKernelConnection, msgType: string, content: JSONObject, subshellId: string | null): void {
  const message = KernelMessage.createMessage({
    channel: 'shell',
    msgType,
    session: connection.clientId,
    metadata: METADATA,
    content
  } as unknown as KernelMessage.IOptions<KernelMessage.ICommMsgMsg<'shell'>>);
  // `createMessage` names the subshell only since JupyterLab 4.4; older ones pass on what a header has besides.
  Object.assign(message.header, { subshell_id: subshellId });
  // No idle will come that would end the future.
  connection.sendShellMessage(message, false, true).dispose();
}

function sendControl(
  connection: Kernel.IKernelConnection,
  msgType: string,
  content: JSONObject,
  expectReply: boolean
): Kernel.IControlFuture<KernelMessage.IControlMessage<'create_subshell_request'>> {
  // The typings know neither kernel_info on this channel nor replies of subshell requests as plain objects.
  const message = KernelMessage.createMessage({
    channel: 'control',
    msgType: msgType as 'create_subshell_request',
    session: connection.clientId,
    metadata: METADATA,
    content
  } as KernelMessage.IOptions<KernelMessage.ICreateSubshellRequestMsg>);
  return connection.sendControlMessage(message, expectReply, true);
}

async function askControl(
  connection: Kernel.IKernelConnection,
  msgType: string,
  content: JSONObject
): Promise<ControlAnswer | null> {
  const future = sendControl(connection, msgType, content, true);
  return new Promise(resolve => {
    const timer = setTimeout(() => {
      future.dispose();
    }, ANSWER_MS);
    future.onReply = reply => {
      clearTimeout(timer);
      resolve(reply.content as ControlAnswer);
      future.dispose();
    };
    // Without a reply before: timed out, or the connection went away.
    future.done.catch(() => {
      clearTimeout(timer);
      resolve(null);
    });
  });
}

export interface KernelNews {
  /** It has loaded taskscope, perhaps anew. */
  announced(model: Kernel.IModel): Promise<void>;
  restarted(kernelId: string): void;
  /** A cell that this page ran asks for a panel. */
  asksForPanel(model: Kernel.IModel, ask: PanelAsk): void;
}

/** `dock`: open one; `auto`: open one if the person has set so. */
export type PanelAsk = 'dock' | 'auto';

/** Tell the news of whatever kernel the session has, for as long as it lives. */
export function watchSession(session: ISessionContext, news: KernelNews): void {
  session.iopubMessage.connect((_, message) => {
    const kernel = session.session?.kernel;
    if (kernel && KernelMessage.isCommMsgMsg(message)) {
      hear(message, kernel, news);
    }
  });
  session.statusChanged.connect((_, status) => {
    const id = session.session?.kernel?.id;
    if (status === 'restarting' && id !== undefined) {
      news.restarted(id);
    }
  });
}

/** An announcement is a message on a comm that was never opened, so that a page without us says nothing of it. */
function hear(message: KernelMessage.ICommMsgMsg, kernel: Kernel.IKernelConnection, news: KernelNews): void {
  const { comm_id: name, data } = message.content;
  if (name === ANNOUNCE) {
    void news.announced(kernel.model);
  } else if (name === SHOW) {
    const ask = panelAsk(data);
    const parent = message.parent_header as { session?: unknown };
    if (ask !== null && parent.session === kernel.clientId) {
      news.asksForPanel(kernel.model, ask);
    }
  }
}

/** What its data asks for, null if it follows another protocol. */
function panelAsk(data: unknown): PanelAsk | null {
  const { protocol, panel } = data as { protocol?: unknown; panel?: unknown };
  return protocol === 1 && (panel === 'dock' || panel === 'auto') ? panel : null;
}
