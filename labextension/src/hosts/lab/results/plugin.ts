/** Looks after static results under cells. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { foldSilentFrames } from './silent-frames';

export const plugin: JupyterFrontEndPlugin<void> = {
  id: 'taskscope:results',
  description: 'Takes away the room of charts in static results that a policy keeps from running.',
  autoStart: true,
  optional: [ITranslator],
  activate: (_: JupyterFrontEnd, translator: ITranslator | null): void => {
    const trans = (translator ?? nullTranslator).load('taskscope');
    const text = trans.__('The interactive chart is left out: a policy of this server keeps it from running.');
    foldSilentFrames(document, { text, signal: new AbortController().signal });
  }
};
