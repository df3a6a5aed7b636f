/** Listens for kernels that load taskscope or restart, on the connections that notebooks and consoles have anyway. */
import type { ISessionContext } from '@jupyterlab/apputils';
import type { Kernel } from '@jupyterlab/services';

import { ANNOUNCE } from './messages';

export interface KernelNews {
  announced(model: Kernel.IModel): void;
  restarted(kernelId: string): void;
}

/** Tell the news of whatever kernel the session has, for as long as it lives. */
export function watchSession(session: ISessionContext, news: KernelNews): void {
  const watch = (kernel: Kernel.IKernelConnection | null | undefined): void => {
    // A target must be known on every connection that handles comms, or the page closes the comm for all.
    kernel?.registerCommTarget(ANNOUNCE, comm => {
      comm.onMsg = ignore;
      news.announced(kernel.model);
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

function ignore(): void {
  // The announcement is the opening itself.
}
