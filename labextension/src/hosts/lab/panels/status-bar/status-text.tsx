/** What the item of the status bar says; loaded with the first compute, not when JupyterLab starts. */

import { trans } from '../../../../lib/translate';
import { layoutOf } from '../../../../charts/progress/layout';
import { StateIcon } from '../../../../charts/progress/parts';
import { describeProgress, shortText } from '../../../../charts/progress/words';
import { headline } from '../../../../charts/timeline/time';
import { render } from '../../../../charts/ui/render';
import { adoptStyles } from '../../../../charts/ui/theme';
import { ALL_RUNS, type TaskStore } from '../../../../store';

const CSS = `
.tsk-status > button {
  display: flex; align-items: center; gap: 4px; height: 100%; padding: 0 4px; border: 0;
  color: inherit; background: none; font: inherit; font-variant-numeric: tabular-nums; white-space: nowrap; cursor: pointer;
}
.tsk-status > button:focus-visible { outline: 2px solid var(--jp-brand-color1, #1565c0); outline-offset: -2px; }
.tsk-status svg { width: 12px; height: 12px; flex: none; fill: none; stroke: currentColor; stroke-width: 2; }
`;

export function drawStatus(el: HTMLElement, store: TaskStore, act: () => void): void {
  adoptStyles(el, CSS);
  const runs = headline(store.tables.runsIn(ALL_RUNS));
  const layout = layoutOf(store, new Set(runs.map(({ run }) => run)));
  const title = trans.__('%1. Open the Dask side panel', describeProgress(layout).sentence);
  render(
    <button type="button" title={title} onClick={act}>
      <StateIcon state={layout.state} />
      <span>{trans.__('Dask: %1', shortText(layout))}</span>
    </button>,
    el
  );
}
