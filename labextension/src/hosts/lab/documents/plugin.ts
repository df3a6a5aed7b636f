/** Opens `.taskscope` files as documents, also those that are dropped from the desktop: no kernel and no server extension is needed. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ILayoutRestorer } from '@jupyterlab/application';
import { WidgetTracker, showErrorMessage } from '@jupyterlab/apputils';
import type { DocumentWidget } from '@jupyterlab/docregistry';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { setTranslator, trans } from '../../../lib/translate';
import { lateService } from '../late-service';
import { FACTORY, RecordingFactory, fileType, EXTENSION } from './document';

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
    setTranslator((translator ?? nullTranslator).load('taskscope'));
    const factory = new RecordingFactory();
    const tracker = new WidgetTracker<DocumentWidget>({ namespace: 'taskscope-documents' });
    factory.widgetCreated.connect((_, widget) => {
      void tracker.add(widget);
      widget.context.pathChanged.connect(() => void tracker.save(widget));
    });
    app.docRegistry.addFileType(fileType());
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

export interface DropTarget {
  /** Put a file where the person is in the file browser; gives its path. */
  upload(file: File): Promise<string>;
  open(path: string): Promise<unknown>;
  /** Say that it did not work; the reason is what `upload` or `open` rejected with. */
  failed(reason: unknown): void;
}

/** Have recordings that are dropped on `el` opened, until `signal` aborts; all other files are left alone. */
export function openDropped(el: HTMLElement, target: DropTarget, signal: AbortSignal): void {
  el.addEventListener('dragover', event => {
    // What is dragged has no name yet; without this there will be no drop to look at.
    if (!event.defaultPrevented && event.dataTransfer?.types.includes('Files') === true) {
      event.preventDefault();
      event.dataTransfer.dropEffect = 'copy';
    }
  }, { signal });
  el.addEventListener('drop', event => {
    const files = [...(event.dataTransfer?.files ?? [])].filter(file => file.name.toLowerCase().endsWith(EXTENSION));
    if (!event.defaultPrevented && files.length > 0) {
      event.preventDefault();
      void openAll(files, target);
    }
  }, { signal });
}

async function openAll(files: readonly File[], target: DropTarget): Promise<void> {
  for (const file of files) {
    try {
      await target.open(await target.upload(file));
    } catch (reason) {
      target.failed(reason);
    }
  }
}
