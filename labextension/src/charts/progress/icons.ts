/** One shape per state, so that colour is not all that tells them apart. */
import type { ProgressState } from './layout';

const SVG = 'http://www.w3.org/2000/svg';

const SHAPES: Record<ProgressState, string> = {
  waiting: 'M2.5 8a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0 -11 0',
  running: 'M5 3.5l7 4.5l-7 4.5z',
  finished: 'M2.5 8.5l3.5 3.5l7.5 -8',
  erred: 'M3.5 3.5l9 9m0 -9l-9 9',
  interrupted: 'M4 4h8v8h-8z'
};

/** An icon that shows no state yet. */
export function makeIcon(): SVGSVGElement {
  const icon = document.createElementNS(SVG, 'svg');
  icon.setAttribute('viewBox', '0 0 16 16');
  icon.setAttribute('aria-hidden', 'true');
  icon.append(document.createElementNS(SVG, 'path'));
  return icon;
}

export function setIcon(icon: SVGSVGElement, state: ProgressState): void {
  icon.firstElementChild?.setAttribute('d', SHAPES[state]);
}
