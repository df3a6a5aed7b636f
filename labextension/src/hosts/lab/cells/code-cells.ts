/** What is used of JupyterLab's code cells. */
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { ISignal } from '@lumino/signaling';
import type { Widget } from '@lumino/widgets';

/** The model of a code cell. */
export interface CodeModel {
  readonly id: string;
  readonly isDisposed: boolean;
  readonly executionCount: number | null;
  readonly sharedModel: { getSource(): string };
  /** `running` from when the person runs it; JupyterLab 4.2 and 4.3 do not tell. */
  readonly executionState?: string;
  readonly stateChanged: ISignal<unknown, { readonly name: string; readonly newValue: unknown }>;
  readonly outputs: { readonly changed: ISignal<unknown, { readonly type: string }> };
}

export interface CodeCell {
  readonly widget: Widget;
  readonly model: CodeModel;
}

export function codeCells(panel: NotebookPanel): CodeCell[] {
  return panel.content.widgets.flatMap(widget =>
    widget.model.type === 'code' ? [{ widget, model: widget.model as unknown as CodeModel }] : []
  );
}
