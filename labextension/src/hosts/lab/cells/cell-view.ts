/** The charts of a cell's computes, unfolded below its input; part of the page, never of the notebook. */
import type { Kernel } from '@jupyterlab/services';
import { Widget } from '@lumino/widgets';

import type { Dashboard } from '../../../charts/dashboard';
import { element } from '../../../charts/ui/dom';
import { adoptStyles } from '../../../charts/ui/theme';
import { trans } from '../../../lib/translate';
import type { RunRange } from '../../../store';
import { addBelowInput } from '../../private-names';
import type { IFeeds } from '../feed/feeds';
import { closeIcon } from '../panels/charts';

// As far in as inputs and outputs are.
const CSS = `
.tsk-cell-view {
  margin-inline-start: calc(var(--jp-cell-collapser-width, 8px) + var(--jp-cell-prompt-width, 64px));
  margin-block: 8px 4px;
  border: 1px solid var(--jp-border-color2, #e0e0e0);
}
`;

export class CellView {
  /** @param _closed is called when a person closes it */
  constructor(
    private readonly _cell: Widget,
    private readonly _feeds: IFeeds,
    private readonly _closed: () => void
  ) {}

  /** Show the computes of a recorder that a kernel has now, which has a feed. */
  show(kernel: Kernel.IModel, runRange: RunRange): void {
    const recorder = this._feeds.get(kernel.id)?.recorder;
    const { _shown: shown } = this;
    if (shown?.recorder !== recorder || shown?.runRange.firstRun !== runRange.firstRun) {
      this.hide();
      this._mount(kernel, runRange);
    } else if (shown.runRange.lastRun !== runRange.lastRun) {
      shown.runRange = runRange;
      shown.charts?.setRunRange(runRange);
    }
  }

  /** Bring what is shown next into sight: a person asked for it, perhaps at the lower edge of the notebook. */
  seek(): void {
    this._isSought = true;
  }

  hide(): void {
    this._shown?.stop.abort();
    this._shown = null;
  }

  private _mount(kernel: Kernel.IModel, runRange: RunRange): void {
    const { value: feed, release } = this._feeds.use(kernel);
    const { recorder } = feed;
    const [widget, stop] = [new Widget(), new AbortController()];
    const { signal } = stop;
    const el = element('div');
    widget.node.append(el);
    const shown: Shown = { recorder, runRange, stop, charts: null };
    this._shown = shown;
    const isSought = this._isSought;
    this._isSought = false;
    widget.addClass('tsk-cell-view');
    adoptStyles(this._cell.node, CSS);
    addBelowInput(this._cell, widget);
    signal.addEventListener('abort', () => {
      release();
      widget.dispose();
    });
    void Promise.all([import('../../chart-host'), import('../../chart-frame')]).then(([{ MOUNTS, liveCharts }, { mountFrame }]) => {
      if (!signal.aborted) {
        const body = mountFrame(el, { kind: 'live', feed, recorder, buttons: [{ icon: closeIcon, label: trans.__('Close'), act: this._closed }] }, signal);
        const { store, options } = liveCharts(feed, recorder, signal);
        const onBrief = (brief: boolean): void => {
          this._isBrief = brief;
          dashboard.setBrief(brief);
        };
        const dashboard = MOUNTS.dashboard(body, { store, options: { ...options, ...shown.runRange, follow: false, brief: this._isBrief, onBrief } });
        shown.charts = dashboard;
        if (isSought) {
          // After the frame in which charts are given their heights.
          requestAnimationFrame(() => {
            widget.node.scrollIntoView({ block: 'nearest' });
          });
        }
      }
    });
  }

  private _shown: Shown | null = null;
  private _isBrief = true;
  private _isSought = false;
}

interface Shown {
  readonly recorder: string;
  runRange: RunRange;
  readonly stop: AbortController;
  charts: Dashboard | null;
}
