/** The elements of the Gantt chart. */
import type { Translate } from '../../lib/translate';
import { element } from '../ui/dom';

export interface Parts {
  readonly root: HTMLElement;
  readonly head: HTMLElement;
  readonly state: HTMLElement;
  readonly plot: HTMLElement;
  readonly scroll: HTMLElement;
  readonly content: HTMLElement;
  readonly canvas: HTMLCanvasElement;
  /** Holds the buttons of workers, over the left part of the canvas. */
  readonly workers: HTMLElement;
  readonly empty: HTMLElement;
  readonly hint: HTMLElement;
  /** Where the details of the selected task stand. */
  readonly card: HTMLElement;
  readonly help: HTMLElement;
  /** What was done, for those who do not see it. */
  readonly said: HTMLElement;
  readonly tables: HTMLElement;
  readonly prefixTable: HTMLTableElement;
  readonly laneTable: HTMLTableElement;
}

export function makeParts(t: Translate): Parts {
  const state = element('div', { class: 'tsk-gantt-state' });
  const head = element('div', { class: 'tsk-gantt-head' }, state);
  const canvas = element('canvas', { tabindex: '0', role: 'application' });
  const workers = element('div', { class: 'tsk-gantt-workers' });
  const view = element('div', { class: 'tsk-gantt-view' }, canvas, workers);
  const content = element('div', { class: 'tsk-gantt-content' }, view);
  const scroll = element('div', { class: 'tsk-gantt-scroll' }, content);
  const empty = element('div', { class: 'tsk-gantt-empty' });
  const hint = element('div', { class: 'tsk-gantt-hint', 'aria-hidden': 'true' });
  hint.hidden = true;
  hint.textContent = t('Click the chart first, or hold Ctrl, to zoom');
  const plot = element('div', { class: 'tsk-gantt-plot' }, scroll, empty, hint);
  const card = element('div', { class: 'tsk-gantt-card', role: 'region', 'aria-label': t('Selected task') });
  card.hidden = true;
  const help = element('dl', { class: 'tsk-gantt-help', 'aria-label': t('Keys') });
  help.hidden = true;
  const said = element('div', { class: 'tsk-hidden', role: 'status' });
  const [prefixTable, laneTable] = [element('table'), element('table')];
  // A table is as wide as its words, so it is a box around it that is hidden.
  const tables = element('div', { class: 'tsk-gantt-tables tsk-hidden', role: 'group', 'aria-label': t('Tables'), tabindex: '-1' }, prefixTable, laneTable);
  const root = element('section', { class: 'tsk-chart tsk-gantt', role: 'group', 'aria-label': t('Tasks over time') });
  root.append(head, plot, card, help, tables, said);
  return { root, head, state, plot, scroll, content, canvas, workers, empty, hint, card, help, said, tables, prefixTable, laneTable };
}
