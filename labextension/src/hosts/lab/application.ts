/** What all our plugins do with the application: find services that may not be there, and go through what is open. */
import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { IWidgetTracker } from '@jupyterlab/apputils';
import type { Token } from '@lumino/coreutils';
import type { Widget } from '@lumino/widgets';

/** The service of the token that `load` imports; null where there is no such package (in Voila), or no such service. */
export async function lateService<T>(app: JupyterFrontEnd, load: () => Promise<Token<T>>): Promise<T | null> {
  const token = await load().catch(() => null);
  return token === null ? null : app.resolveOptionalService(token);
}

/** Call `act` with each widget that is open, and with each that is opened. */
export function withEach<W extends Widget>(tracker: IWidgetTracker<W> | null, act: (widget: W) => void): void {
  tracker?.forEach(act);
  tracker?.widgetAdded.connect((_, widget) => { act(widget); });
}
