/** What charts have more of where there is a cluster. */
import type { ClusterCharts } from '../ui/cluster-charts';
import { ActivityLayer } from './layer';

export const CLUSTER_CHARTS: ClusterCharts = {
  layer: host => (host.store.cluster === null ? null : new ActivityLayer(host, host.store.cluster))
};
