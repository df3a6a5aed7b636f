/** All panels of this page: opened, found again, restored after a reload. */
import type { ILabShell, JupyterFrontEnd } from '@jupyterlab/application';
import { WidgetTracker } from '@jupyterlab/apputils';
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import { Token } from '@lumino/coreutils';

import { type ChartName, isChartName } from './charts';
import { NOTHING } from './memory';
import { ChartPanel, type PanelContext } from './panel';
import { DEFAULTS, type Settings } from './settings';
import type { Pin } from './target';

export const SIDE_PANEL = 'taskscope-side-panel';

/** Opens panels; what other plugins may use. */
export interface IPanels {
  /** Open a chart of this kernel beside what is in use, or bring it to the front. */
  openFor(chart: ChartName, kernelId: string): Promise<void>;
}

export const IPanels = new Token<IPanels>('taskscope:IPanels', 'Opens panels with live Dask diagnostics.');

export class Panels implements IPanels {
  readonly tracker = new WidgetTracker<ChartPanel>({ namespace: 'taskscope' });
  settings: Settings = DEFAULTS;

  constructor(
    private readonly _shell: JupyterFrontEnd.IShell,
    private readonly _labShell: ILabShell | null,
    private readonly _context: PanelContext
  ) {}

  /** Put the side panel where it is found, without opening it. */
  addSidePanel(): ChartPanel {
    const panel = new ChartPanel({ id: SIDE_PANEL, chart: 'dashboard', compact: true }, this._context);
    this._shell.add(panel, 'right', { rank: 900, type: 'Taskscope' });
    this._side = panel;
    // The layout is restored before anything that was kept can be read.
    void this._context.memory.load(SIDE_PANEL).then(memory => {
      panel.begin(memory);
    });
    return panel;
  }

  openSidePanel(): void {
    this._shell.activateById(SIDE_PANEL);
  }

  /** Open the side panel; where it has the focus, close it and go back to the notebook or console in use. */
  toggleSidePanel(): void {
    if (this._side?.node.contains(document.activeElement) !== true) {
      this.openSidePanel();
      return;
    }
    this._labShell?.collapseRight();
    const { current } = this._context.owners;
    if (current !== null) {
      this._shell.activateById(current.widget.id);
    }
  }

  /** Open a chart that looks at what is in use, or bring it to the front. */
  async open(chart: ChartName): Promise<void> {
    const owner = this._context.owners.current;
    if (this.settings.followMode === 'pinned' && owner !== null) {
      const kernelId = owner.session.session?.kernel?.id ?? '';
      await this._openPinned(chart, { path: owner.session.path, kernelId }, {});
      return;
    }
    const id = idOf(chart, 1);
    if (this._find(id) === undefined) {
      await this._add(id, chart, null, {});
    }
    this._shell.activateById(id);
  }

  async openFor(chart: ChartName, kernelId: string): Promise<void> {
    const owner = this._context.owners.byKernel(kernelId);
    await this._openPinned(chart, { path: owner?.session.path ?? '', kernelId }, { mode: 'split-right' });
  }

  /** A cell of this kernel asks to be shown. */
  async show(kernelId: string): Promise<void> {
    const seen = this._side?.kernelId ?? null;
    if (seen === null || seen === kernelId || this._side?.pin === null) {
      this.openSidePanel();
    } else {
      await this.openFor('dashboard', kernelId);
    }
  }

  /** Open the panel that had this id before the reload. */
  async restore(id: string): Promise<void> {
    const chart = chartOfId(id);
    if (chart !== null && this._find(id) === undefined) {
      await this._add(id, chart, null, {});
    }
  }

  private async _openPinned(chart: ChartName, pin: Pin, where: DocumentRegistry.IOpenOptions): Promise<void> {
    const there = this.tracker.find(
      panel => panel.spec.chart === chart && panel.pin !== null && (panel.pin.path === pin.path && pin.path !== '' || panel.kernelId === pin.kernelId)
    );
    const panel = there ?? (await this._add(this._freeId(chart), chart, pin, where));
    this._shell.activateById(panel.id);
  }

  private async _add(id: string, chart: ChartName, pin: Pin | null, where: DocumentRegistry.IOpenOptions): Promise<ChartPanel> {
    const { memory } = this._context;
    const known = pin === null ? await memory.load(id) : { ...NOTHING, pin };
    const panel = new ChartPanel({ id, chart, compact: false }, this._context);
    panel.begin(known);
    panel.title.closable = true;
    panel.disposed.connect(() => {
      memory.forget(id);
    });
    await this.tracker.add(panel);
    // Elsewhere the main area shows one document, and nothing that is added to it.
    this._shell.add(panel, this._labShell === null ? 'right' : 'main', { ...where, type: 'Taskscope' });
    return panel;
  }

  private _find(id: string): ChartPanel | undefined {
    return this.tracker.find(panel => panel.id === id);
  }

  /** The first id is that of the panel that follows. */
  private _freeId(chart: ChartName): string {
    let n = 2;
    while (this._find(idOf(chart, n)) !== undefined) {
      n += 1;
    }
    return idOf(chart, n);
  }

  private _side: ChartPanel | null = null;
}

function idOf(chart: ChartName, n: number): string {
  return `taskscope-panel-${chart}-${n}`;
}

function chartOfId(id: string): ChartName | null {
  const chart = /^taskscope-panel-(.+)-\d+$/.exec(id)?.[1];
  return isChartName(chart) ? chart : null;
}
