/** What a timeline has more of where there is a cluster; only the pages of clusters have it. */
import type { ClusterCharts } from '../tracks';
import { ActivityLayer } from './layer';
import { WorkersTrack } from '../values/workers';

export const CLUSTER_CHARTS: ClusterCharts = {
  layer: context => (context.store.cluster === null ? null : new ActivityLayer(context, context.store.cluster)),
  workers: context => new WorkersTrack(context)
};
