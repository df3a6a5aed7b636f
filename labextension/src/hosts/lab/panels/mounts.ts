/** How each chart of a panel is mounted; loaded with the first one, not when JupyterLab starts. */
import { mount as mountCache } from '../../../charts/cache';
import { CLUSTER_CHARTS } from '../../../charts/cluster';
import { mount as mountDashboard } from '../../../charts/dashboard';
import { mount as mountGantt } from '../../../charts/gantt';
import { mount as mountProgress } from '../../../charts/progress';
import { mount as mountResources } from '../../../charts/resources';
import type { ChartName, ChartPlace } from './charts';

export const MOUNTS: Record<ChartName, (place: ChartPlace) => void> = {
  dashboard: ({ el, store, ...place }) => {
    mountDashboard(el, store, { ...place, clusters: CLUSTER_CHARTS, translate: place.trans.__.bind(place.trans) });
  },
  progress: ({ el, store, ...place }) => {
    mountProgress(el, store, { ...place, translate: place.trans.__.bind(place.trans) });
  },
  'task-stream': ({ el, store, ...place }) => {
    mountGantt(el, store, { ...place, clusters: CLUSTER_CHARTS, translate: place.trans.__.bind(place.trans) });
  },
  resources: ({ el, store, ...place }) => {
    mountResources(el, store, { ...place, clusters: CLUSTER_CHARTS, translate: place.trans.__.bind(place.trans) });
  },
  cache: ({ el, store, ...place }) => {
    mountCache(el, store, { ...place, translate: place.trans.__.bind(place.trans) });
  }
};
