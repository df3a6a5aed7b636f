/** The elements around plots over time. */
import type { Translate } from '../../lib/translate';
import { element } from '../ui/dom';

export interface SeriesParts {
  readonly root: HTMLElement;
  /** Holds the head, and room for the chart's buttons right of it. */
  readonly top: HTMLElement;
  readonly head: HTMLElement;
  readonly plot: HTMLElement;
  readonly canvas: HTMLCanvasElement;
  readonly empty: HTMLElement;
  readonly hint: HTMLElement;
  /** What there is at the cursor; read out while the cursor is moved by keys. */
  readonly readout: HTMLElement;
  readonly foot: HTMLElement;
  /** Around the table, which only screen readers see unless somebody shows it. */
  readonly tables: HTMLElement;
  readonly table: HTMLTableElement;
}

export function makeSeriesParts(name: string, label: string, t: Translate): SeriesParts {
  const head = element('div', { class: 'tsk-series-head' });
  const canvas = element('canvas', { tabindex: '0', role: 'application' });
  const empty = element('div', { class: 'tsk-series-empty' });
  const hint = element('div', { class: 'tsk-series-hint', 'aria-hidden': 'true' });
  hint.textContent = t('Click the chart first, or hold Ctrl, to zoom');
  hint.hidden = true;
  const readout = element('div', { class: 'tsk-series-readout', role: 'status', 'aria-live': 'off' });
  readout.hidden = true;
  const plot = element('div', { class: 'tsk-series-plot' }, canvas, empty, hint, readout);
  const foot = element('div', { class: 'tsk-series-foot' });
  const table = element('table');
  const root = element('section', { class: `tsk-chart tsk-series tsk-${name}`, role: 'group', 'aria-label': label });
  const top = element('div', { class: 'tsk-series-top' }, head);
  // A table is as wide as its words, so it is a box around it that is hidden.
  const tables = element('div', { class: 'tsk-text-table tsk-hidden', role: 'group', 'aria-label': t('Table'), tabindex: '-1' }, table);
  root.append(top, plot, foot, tables);
  return { root, top, head, plot, canvas, empty, hint, readout, foot, tables, table };
}
