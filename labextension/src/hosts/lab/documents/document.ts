/** A document of a recording: its type, its icon, and its body, which is only ever read. */
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import { ABCWidgetFactory, DocumentWidget } from '@jupyterlab/docregistry';
import { Widget } from '@lumino/widgets';
import { LabIcon } from '@jupyterlab/ui-components';
import { trans } from '../../../lib/translate';

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
