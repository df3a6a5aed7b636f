/** Listens for what kernels announce on the connections that notebooks and consoles have anyway. */
import type { ISessionContext } from '@jupyterlab/apputils';
import { type Kernel, KernelMessage } from '@jupyterlab/services';

import { ANNOUNCE, SHOW } from './messages';

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
