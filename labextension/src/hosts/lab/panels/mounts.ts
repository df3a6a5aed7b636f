/** How each chart of a panel is mounted; loaded with the first one, not when JupyterLab starts. */
import { CLUSTER_CHARTS } from '../../../charts/cluster';
import { mount as mountDashboard } from '../../../charts/dashboard';
import { mount as mountProgress } from '../../../charts/progress';
import { mountTracks } from '../../../charts/tracks';
import type { ChartName, ChartPlace } from './charts';

export const MOUNTS: Record<ChartName, (place: ChartPlace) => void> = {
  dashboard: ({ el, store, ...place }) => {
    mountDashboard(el, store, { ...place, clusters: CLUSTER_CHARTS });
  },
  progress: ({ el, store, ...place }) => {
    mountProgress(el, store, place);
  },
  'task-stream': ({ el, store, ...place }) => {
    mountTracks(el, store, ['tasks'], { ...place, clusters: CLUSTER_CHARTS });
  },
  resources: ({ el, store, ...place }) => {
    mountTracks(el, store, ['workers', 'resources'], { ...place, clusters: CLUSTER_CHARTS });
  },
  cache: ({ el, store, ...place }) => {
    mountTracks(el, store, ['cache'], place);
  }
};
