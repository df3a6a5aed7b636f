/** The code cells of notebooks: which are in the page, which cell a compute came from, and how it is shown to the person. */
import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { IConsoleTracker } from '@jupyterlab/console';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { Token } from '@lumino/coreutils';
import type { ISignal } from '@lumino/signaling';
import type { Widget } from '@lumino/widgets';

import type { RevealCell } from '../../../charts/ui/keeping';
import { adoptStyles } from '../../../charts/ui/theme';

export interface ICells {
  /** What leads from computes of a kernel to their cells. */
  of(kernelId: string): RevealCell;
}

export const ICells = new Token<ICells>('taskscope:ICells', 'Leads from Dask computes to the cells that asked for them.');

export class Cells implements ICells {
  constructor(
    private readonly _shell: JupyterFrontEnd.IShell,
    private readonly _notebooks: INotebookTracker | null,
    private readonly _consoles: IConsoleTracker | null
  ) {}

  of(kernelId: string): RevealCell {
    return ({ cell }) => (cell === null ? null : (this._inNotebook(kernelId, cell) ?? this._inConsole(kernelId, cell)));
  }

  private _inNotebook(kernelId: string, id: string): (() => void) | null {
    const panel = this._notebooks?.find(
      ({ content, sessionContext }) =>
        sessionContext.session?.kernel?.id === kernelId && content.widgets.some(cell => cell.model.id === id)
    );
    return panel === undefined ? null : () => void this._show(panel, id);
  }

  private async _show(panel: NotebookPanel, id: string): Promise<void> {
    this._shell.activateById(panel.id);
    await panel.revealed;
    const at = panel.content.widgets.findIndex(({ model }) => model.id === id);
    const cell = panel.content.widgets[at];
    if (cell !== undefined) {
      panel.content.deselectAll();
      panel.content.activeCellIndex = at;
      await panel.content.scrollToCell(cell, 'center');
      flash(cell.node);
    }
  }

  private _inConsole(kernelId: string, id: string): (() => void) | null {
    const panel = this._consoles?.find(({ sessionContext }) => sessionContext.session?.kernel?.id === kernelId);
    const cell = panel === undefined ? undefined : [...panel.console.cells].find(({ model }) => model.id === id);
    if (panel === undefined || cell === undefined) {
      return null;
    }
    return () => {
      this._shell.activateById(panel.id);
      cell.node.scrollIntoView({ block: 'center' });
      flash(cell.node);
    };
  }
}

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

const FLASH_MS = 1_500;

// Where the person wants no movement, the outline stands still and goes.
const CSS = `
.tsk-flash { outline: 2px solid var(--jp-brand-color1, #1565c0); outline-offset: -2px; }
@media (prefers-reduced-motion: no-preference) {
  .tsk-flash { animation: tsk-flash ${FLASH_MS}ms ease-in; }
  @keyframes tsk-flash { to { outline-color: transparent; } }
}
`;

const ends = new WeakMap<HTMLElement, ReturnType<typeof setTimeout>>();

export function flash(el: HTMLElement): void {
  adoptStyles(el, CSS);
  clearTimeout(ends.get(el));
  el.classList.add('tsk-flash');
  ends.set(
    el,
    setTimeout(() => {
      el.classList.remove('tsk-flash');
    }, FLASH_MS)
  );
}
