/** The elements of the Gantt chart. */
import type { Translate } from '../../lib/translate';
import { element } from '../ui/dom';
import { Tooltip } from './tooltip';

export interface Parts {
  readonly root: HTMLElement;
  readonly head: HTMLElement;
  readonly state: HTMLElement;
  readonly follow: HTMLButtonElement;
  readonly fit: HTMLButtonElement;
  readonly zoomIn: HTMLButtonElement;
  readonly zoomOut: HTMLButtonElement;
  readonly plot: HTMLElement;
  readonly scroll: HTMLElement;
  readonly content: HTMLElement;
  readonly canvas: HTMLCanvasElement;
  readonly empty: HTMLElement;
  readonly hint: HTMLElement;
  readonly tooltip: Tooltip;
  readonly legend: HTMLElement;
  readonly table: HTMLTableElement;
}

export function makeParts(t: Translate): Parts {
  const state = element('div', { class: 'tsk-gantt-state' });
  const zoomOut = button('−', t('Zoom out'));
  const zoomIn = button('+', t('Zoom in'));
  const fit = button(t('Fit'), t('Fit: show everything (Home)'));
  const follow = button(t('Follow'), t('Follow: move with the present (F)'));
  const tools = element('div', { class: 'tsk-gantt-tools', role: 'toolbar', 'aria-label': t('View') });
  tools.append(zoomOut, zoomIn, fit, follow);
  const canvas = element('canvas', { tabindex: '0', role: 'img' });
  const content = element('div', { class: 'tsk-gantt-content' }, canvas);
  const scroll = element('div', { class: 'tsk-gantt-scroll' }, content);
  const empty = element('div', { class: 'tsk-gantt-empty' });
  const hint = element('div', { class: 'tsk-gantt-hint', 'aria-hidden': 'true' });
  hint.hidden = true;
  hint.textContent = t('Click the chart first, or hold Ctrl, to zoom');
  const tooltip = new Tooltip();
  const plot = element('div', { class: 'tsk-gantt-plot' }, scroll, empty, hint, tooltip.el);
  const legend = element('ul', { class: 'tsk-gantt-legend', 'aria-label': t('Prefixes') });
  const table = element('table');
  const root = element('section', { class: 'tsk-chart tsk-gantt', 'aria-label': t('Tasks over time') });
  const head = element('div', { class: 'tsk-gantt-head' }, state, tools);
  // A table is as wide as its words, so it is a box around it that is hidden.
  root.append(head, plot, legend, element('div', { class: 'tsk-hidden' }, table));
  return { root, head, state, follow, fit, zoomIn, zoomOut, plot, scroll, content, canvas, empty, hint, tooltip, legend, table };
}

function button(text: string, label: string): HTMLButtonElement {
  return element('button', { type: 'button', 'aria-label': label, title: label }, text);
}
