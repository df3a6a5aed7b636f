/** What the keys of the chart do, as a list for people. */
import type { Translate } from '../../lib/translate';
import { element } from '../ui/dom';

/** Keys as a person reads them, and what `keys.ts` does for them. */
export const KEY_HELP: readonly (readonly [keys: string, does: string])[] = [
  ['← → or A D', 'move in time'],
  ['+ − or W S', 'zoom'],
  ['↑ ↓, Page Up, Page Down', 'scroll the lanes'],
  ['Home', 'show everything'],
  ['F', 'follow the present'],
  ['N P', 'select the next or previous task of the lane'],
  ['J K', 'select in the lane below or above'],
  ['Z', 'zoom to the selected task'],
  ['R', 'draw the dependencies and dependents of the selected task'],
  ['/', 'find tasks'],
  ['G, Shift+G', 'next or previous match'],
  ['C', 'collapse or show the lanes of workers'],
  ['Esc', 'select nothing'],
  ['?', 'this list']
];

export function fillHelp(list: HTMLElement, t: Translate): void {
  list.replaceChildren(...KEY_HELP.flatMap(([keys, does]) => [element('dt', {}, t(keys)), element('dd', {}, t(does))]));
}
