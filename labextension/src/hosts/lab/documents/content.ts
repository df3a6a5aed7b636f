/** The body of a document: reads the file when it is there, and again whenever it has changed. */
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';

export class RecordingContent extends Widget {
  constructor(
    private readonly _context: DocumentRegistry.Context,
    private readonly _trans: TranslationBundle
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
      signal.aborted ? undefined : showFile(this.node, this._context.model.toString(), this._trans, signal)
    );
  };

  private _shown: AbortController | undefined;
}
