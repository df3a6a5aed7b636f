/** Opens `.taskscope` files as documents: no kernel and no server extension is needed. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ILayoutRestorer } from '@jupyterlab/application';
import { WidgetTracker, showErrorMessage } from '@jupyterlab/apputils';
import type { DocumentWidget } from '@jupyterlab/docregistry';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { lateService } from '../late-service';
import { openDropped } from './drop';
import { FACTORY, RecordingFactory, fileType } from './factory';

const OPEN = 'docmanager:open';

export const plugin: JupyterFrontEndPlugin<void> = {
  id: 'taskscope:documents',
  description: 'Opens recordings of taskscope as documents.',
  autoStart: true,
  optional: [ITranslator, ILayoutRestorer],
  activate: (
    app: JupyterFrontEnd,
    translator: ITranslator | null,
    restorer: ILayoutRestorer | null
  ): void => {
    const trans = (translator ?? nullTranslator).load('taskscope');
    const factory = new RecordingFactory(trans);
    const tracker = new WidgetTracker<DocumentWidget>({ namespace: 'taskscope-documents' });
    factory.widgetCreated.connect((_, widget) => {
      void tracker.add(widget);
      widget.context.pathChanged.connect(() => void tracker.save(widget));
    });
    app.docRegistry.addFileType(fileType(trans));
    app.docRegistry.addWidgetFactory(factory);
    void restorer?.restore(tracker, {
      command: OPEN,
      args: ({ context }) => ({ path: context.path, factory: FACTORY }),
      name: ({ context }) => context.path
    });
    void lateService(app, async () => (await import('@jupyterlab/filebrowser')).IDefaultFileBrowser).then(browser => {
      if (browser === null) {
        return;
      }
      const upload = async (file: File): Promise<string> => (await browser.model.upload(file)).path;
      const open = (path: string): Promise<unknown> => app.commands.execute(OPEN, { path });
      const failed = (reason: unknown): void => {
        void showErrorMessage(trans.__('The recording could not be opened'), String(reason));
      };
      openDropped(app.shell.node, { upload, open, failed }, new AbortController().signal);
    });
  }
};
