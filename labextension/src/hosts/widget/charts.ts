/** The charts of widgets: those of `charts/`, mounted with a widget's window, their traits kept in step. */
import { mount as mountProgress } from '../../charts/progress';
import type { MountChart } from './view';

export const mountProgressOf: MountChart = ({ el, store, signal, firstRun, lastRun }, _, { trans }) => {
  const translate = trans.__.bind(trans);
  mountProgress(el, store, { signal, firstRun, lastRun, translate });
};

export const mountGanttOf: MountChart = place => {
  place.el.append(document.createElement('div'));
};
