/** Makes documents of recordings; they are only ever read. */
import { ABCWidgetFactory, type DocumentRegistry, DocumentWidget } from '@jupyterlab/docregistry';
import type { TranslationBundle } from '@jupyterlab/translation';

import { RecordingContent } from './content';
import { recordingIcon } from './icon';

export const FACTORY = 'taskscope';
export const FILE_TYPE = 'taskscope';
export const EXTENSION = '.taskscope';

/** What a file of a recording is to JupyterLab; its content comes as base64. */
export function fileType(trans: TranslationBundle): Partial<DocumentRegistry.IFileType> & { name: string } {
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
  private readonly _trans: TranslationBundle;

  constructor(trans: TranslationBundle) {
    super({
      name: FACTORY,
      label: trans.__('Dask recording'),
      modelName: 'base64',
      fileTypes: [FILE_TYPE],
      defaultFor: [FILE_TYPE],
      readOnly: true
    });
    this._trans = trans;
  }

  protected createNewWidget(context: DocumentRegistry.Context): DocumentWidget<RecordingContent> {
    const widget = new DocumentWidget({ content: new RecordingContent(context, this._trans), context });
    widget.title.icon = recordingIcon;
    return widget;
  }
}
