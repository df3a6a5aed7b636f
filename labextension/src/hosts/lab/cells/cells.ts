/** Finds the cells of computes in the notebooks and consoles of this page, and shows them to the person. */
import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { IConsoleTracker } from '@jupyterlab/console';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { Token } from '@lumino/coreutils';

import type { RevealCell } from '../../../charts/ui/keeping';
import { flash } from './flash';

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
    const cell = panel.content.widgets.find(({ model }) => model.id === id);
    if (cell !== undefined) {
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
