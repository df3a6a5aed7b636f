/** What charts have more of where there is a cluster. */
import { mountSeries } from '../series/view';
import type { ClusterCharts } from '../ui/cluster-charts';
import { ActivityLayer } from './layer';
import { WorkersContent } from './workers-content';

export const CLUSTER_CHARTS: ClusterCharts = {
  layer: host => (host.store.cluster === null ? null : new ActivityLayer(host, host.store.cluster)),
  mountWorkers: (el, store, options) =>
    mountSeries(el, store, options, (_store, window, t) => new WorkersContent(store, () => store.cluster?.workers, window, t))
};
