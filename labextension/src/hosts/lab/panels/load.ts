/** Loads taskscope into a kernel, because somebody clicked. */
import type { TranslationBundle } from '@jupyterlab/translation';

import type { Feed } from '../feed';

/** Resolves to what went wrong, in words, or null. */
export async function loadTaskscope(feed: Feed, trans: TranslationBundle): Promise<string | null> {
  try {
    const error = await feed.load();
    if (error === null) {
      return null;
    }
    return error.name === 'ModuleNotFoundError' && error.text.includes("'taskscope'")
      ? trans.__('taskscope is not installed where this kernel runs: install it there (pip install taskscope), then try again')
      : trans.__('taskscope could not be loaded: %1: %2', error.name, error.text);
  } catch {
    // The kernel was restarted or shut down meanwhile, which the panel says.
    return null;
  }
}
