/** Services of packages that not every application has: one that were imported at once would keep all of us from loading. */
import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { Token } from '@lumino/coreutils';

/** The service of the token that `load` imports; null where there is no such package (in Voila), or no such service. */
export async function lateService<T>(app: JupyterFrontEnd, load: () => Promise<Token<T>>): Promise<T | null> {
  const token = await load().catch(() => null);
  return token === null ? null : app.resolveOptionalService(token);
}
