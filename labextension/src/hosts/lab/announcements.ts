/** Listens for what kernels announce on the connections that notebooks and consoles have anyway. */
import type { ISessionContext } from '@jupyterlab/apputils';
import type { Kernel } from '@jupyterlab/services';

import { ANNOUNCE, SHOW } from './messages';

export interface KernelNews {
  /** It has loaded taskscope, perhaps anew. */
  announced(model: Kernel.IModel): void;
  restarted(kernelId: string): void;
  /** A cell that this page ran asks for a panel. */
  asksForPanel(model: Kernel.IModel, ask: PanelAsk): void;
}

/** `dock`: open one; `auto`: open one if the person has set so. */
export type PanelAsk = 'dock' | 'auto';

/** Tell the news of whatever kernel the session has, for as long as it lives. */
export function watchSession(session: ISessionContext, news: KernelNews): void {
  const watch = (kernel: Kernel.IKernelConnection | null | undefined): void => {
    // A target must be known on every connection that handles comms, or the page closes the comm for all.
    kernel?.registerCommTarget(ANNOUNCE, comm => {
      comm.onMsg = ignore;
      news.announced(kernel.model);
    });
    kernel?.registerCommTarget(SHOW, (comm, message) => {
      comm.onMsg = ignore;
      const ask = panelAsk(message.content.data);
      const parent = message.parent_header as { session?: unknown };
      if (ask !== null && parent.session === kernel.clientId) {
        news.asksForPanel(kernel.model, ask);
      }
    });
  };
  session.kernelChanged.connect((_, change) => {
    watch(change.newValue);
  });
  session.statusChanged.connect((_, status) => {
    const id = session.session?.kernel?.id;
    if (status === 'restarting' && id !== undefined) {
      news.restarted(id);
    }
  });
  watch(session.session?.kernel);
}

/** What the comm's data asks for, null if it follows another protocol. */
function panelAsk(data: unknown): PanelAsk | null {
  const { protocol, panel } = data as { protocol?: unknown; panel?: unknown };
  return protocol === 1 && (panel === 'dock' || panel === 'auto') ? panel : null;
}

function ignore(): void {
  // The announcement is the opening itself.
}
