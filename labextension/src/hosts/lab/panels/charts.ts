/** Which charts a panel can show, and our icons; their classes make JupyterLab colour them as its theme has it. */
import { LabIcon } from '@jupyterlab/ui-components';

import { trans } from '../../../lib/translate';

function icon(name: string, shapes: string): LabIcon {
  const svgstr = `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24"><g class="jp-icon3" fill="#616161">${shapes}</g></svg>`;
  return new LabIcon({ name: `taskscope:${name}`, svgstr });
}

/** Lanes seen through a lens. */
export const dashboardIcon = icon(
  'dashboard',
  '<path d="M10 2a8 8 0 1 0 4.9 14.3l5.4 5.4 1.4-1.4-5.4-5.4A8 8 0 0 0 10 2zm0 2a6 6 0 1 1 0 12 6 6 0 0 1 0-12z"/>' +
    '<path d="M6 7h5v2H6zm3 3h5v2H9zm-2 3h4v2H7z"/>'
);
export const sidePanelIcon = icon('side-panel', '<path d="M3 4h18v16H3zm2 2v12h8V6zm10 0v12h4V6z"/><path d="M7 8h4v2H7zm0 3h4v2H7z"/>');
export const loadIcon = icon('load', '<path d="M11 3h2v8h4l-5 5-5-5h4z"/><path d="M4 18h16v2H4z"/>');
export const progressIcon = icon(
  'progress',
  '<path d="M2 8h20v8H2zm2 2v4h16v-4z"/><path d="M5 11h9v2H5z"/>'
);
export const taskStreamIcon = icon(
  'task-stream',
  '<path d="M2 4h9v4H2zm11 0h6v4h-6zM5 10h6v4H5zm8 0h9v4h-9zM2 16h5v4H2zm7 0h10v4H9z"/>'
);
export const resourcesIcon = icon(
  'resources',
  '<path d="M3 3h2v16h16v2H3z"/><path d="M6 16V13l4-5 4 3 6-7v3l-6 7-4-3-3 4.500V16z"/>'
);
export const cacheIcon = icon(
  'cache',
  '<path d="M12 3 2 8l10 5 10-5zm0 2.200L17.500 8 12 10.800 6.500 8z"/><path d="m2 12 10 5 10-5-2.200-1.100L12 14.800l-7.800-3.900zm0 4 10 5 10-5-2.200-1.100L12 18.800l-7.800-3.900z"/>'
);
export const flameIcon = icon('flame', '<path d="M2 18h20v3H2zm0-5h13v4H2zm15 0h5v4h-5zM4 8h7v4H4zm14 0h3v4h-3zM5 3h4v4H5z"/>');
export const pinIcon = icon('pin', '<path d="M8 3h8v2h-1v5l3 3v2h-5v6h-2v-6H6v-2l3-3V5H8z"/>');
export const popOutIcon = icon(
  'pop-out',
  '<path d="M4 5h7v2H6v11h11v-5h2v7H4z"/><path d="M14 3h7v7h-2V6.400l-8.300 8.300-1.400-1.400L17.600 5H14z"/>'
);
export const closeIcon = icon('close', '<path d="m6.400 5-1.400 1.400 5.600 5.600-5.600 5.600 1.400 1.400 5.600-5.600 5.600 5.600 1.400-1.400-5.600-5.600 5.600-5.600-1.400-1.400-5.600 5.600z"/>');

export const CHARTS = ['dashboard', 'progress', 'task-stream', 'resources', 'cache', 'flame'] as const;
export type ChartName = (typeof CHARTS)[number];

interface Chart {
  readonly icon: LabIcon;
  label(): string;
}

const SHOWN: Record<ChartName, Chart> = {
  dashboard: { icon: dashboardIcon, label: () => trans.__('Dask Dashboard') },
  progress: { icon: progressIcon, label: () => trans.__('Dask Progress') },
  'task-stream': { icon: taskStreamIcon, label: () => trans.__('Dask Tasks') },
  resources: { icon: resourcesIcon, label: () => trans.__('Dask CPU and Memory') },
  cache: { icon: cacheIcon, label: () => trans.__('Dask Results in Memory') },
  flame: { icon: flameIcon, label: () => trans.__('Dask Profile') }
};

export function chartOf(name: ChartName): Chart {
  return SHOWN[name];
}

export function isChartName(value: unknown): value is ChartName {
  return CHARTS.some(name => name === value);
}
