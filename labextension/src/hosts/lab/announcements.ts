/** Listens for kernels that load taskscope, on the connections that notebooks and consoles have anyway. */
import type { ISessionContext } from '@jupyterlab/apputils';
import type { Kernel } from '@jupyterlab/services';

import { ANNOUNCE } from './messages';

/** Call `announced` for each announcement of whatever kernel the session has, for as long as it lives. */
export function watchSession(
  session: ISessionContext,
  announced: (model: Kernel.IModel) => void
): void {
  const watch = (kernel: Kernel.IKernelConnection | null | undefined): void => {
    // A target must be known on every connection that handles comms, or the page closes the comm for all.
    kernel?.registerCommTarget(ANNOUNCE, comm => {
      comm.onMsg = ignore;
      announced(kernel.model);
    });
  };
  session.kernelChanged.connect((_, change) => {
    watch(change.newValue);
  });
  watch(session.session?.kernel);
}

function ignore(): void {
  // The announcement is the opening itself.
}
