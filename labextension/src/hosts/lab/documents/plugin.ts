/** Opens `.taskscope` files as documents, also those that are dropped from the desktop: no kernel and no server extension is needed. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ILayoutRestorer } from '@jupyterlab/application';
import { WidgetTracker, showErrorMessage } from '@jupyterlab/apputils';
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { ABCWidgetFactory, DocumentWidget } from '@jupyterlab/docregistry';
import { Widget } from '@lumino/widgets';
import { LabIcon } from '@jupyterlab/ui-components';

import { setTranslator, trans } from '../../../lib/translate';
import { lateService } from '../application';

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

export const FACTORY = 'taskscope';
export const FILE_TYPE = 'taskscope';
export const EXTENSION = '.taskscope';

/** What a file of a recording is to JupyterLab; its content comes as base64. */
export function fileType(): Partial<DocumentRegistry.IFileType> & { name: string } {
  return {
    name: FILE_TYPE,
    displayName: trans.__('Dask recording'),
    extensions: [EXTENSION],
    mimeTypes: ['application/vnd.taskscope'],
    fileFormat: 'base64',
    contentType: 'file',
    icon: recordingIcon
  };
}

export class RecordingFactory extends ABCWidgetFactory<DocumentWidget<RecordingContent>> {

  constructor() {
    super({
      name: FACTORY,
      label: trans.__('Dask recording'),
      modelName: 'base64',
      fileTypes: [FILE_TYPE],
      defaultFor: [FILE_TYPE],
      readOnly: true
    });
  }

  protected createNewWidget(context: DocumentRegistry.Context): DocumentWidget<RecordingContent> {
    const widget = new DocumentWidget({ content: new RecordingContent(context), context });
    widget.title.icon = recordingIcon;
    return widget;
  }
}

export class RecordingContent extends Widget {
  constructor(
    private readonly _context: DocumentRegistry.Context
  ) {
    super();
    this.addClass('tsk-document');
    this.node.tabIndex = -1;
    void _context.ready.then(() => {
      if (!this.isDisposed) {
        _context.model.contentChanged.connect(this._show);
        this._show();
      }
    });
  }

  override dispose(): void {
    this._context.model.contentChanged.disconnect(this._show);
    this._shown?.abort();
    super.dispose();
  }

  private readonly _show = (): void => {
    this._shown?.abort();
    const { signal } = (this._shown = new AbortController());
    // Loaded when a file is first opened, as the widgets are when one is first shown.
    void import('./show').then(({ showFile }) =>
      signal.aborted ? undefined : showFile(this.node, this._context.model.toString(), signal)
    );
  };

  private _shown: AbortController | undefined;
}

export const recordingIcon = new LabIcon({
  name: 'taskscope:recording',
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 22 22">
  <g class="jp-icon3" fill="#616161">
    <rect x="3" y="4" width="8" height="3" rx="1"/>
    <rect x="13" y="4" width="4" height="3" rx="1"/>
    <rect x="5" y="9.5" width="11" height="3" rx="1"/>
    <rect x="9" y="15" width="10" height="3" rx="1"/>
  </g>
</svg>`
});
