/** What a page needs to show more of a cluster; only the script of pages with a cluster has it. */
import { CLUSTER_CHARTS } from '../../charts/cluster';
import { ClusterStore } from '../../store';
import { ACTIVITY_BUFFERS, COMPLETED_BUFFERS, WORKER_BUFFERS, decodeCluster } from '../../wire';
import type { ClusterReader } from './data';

export const CLUSTER_READER: ClusterReader = {
  charts: CLUSTER_CHARTS,
  newStore: () => new ClusterStore(),
  decode: decodeCluster,
  buffers: count => [
    ...ACTIVITY_BUFFERS.map(({ bytes }) => ({ bytes, section: 'activities', name: 'count' })),
    ...COMPLETED_BUFFERS.map(({ bytes }) => ({ bytes, section: 'activities', name: 'n_completed' })),
    ...WORKER_BUFFERS.map(({ bytes }) => ({ bytes, section: 'workers', name: 'count' }))
  ].map(({ bytes, section, name }) => bytes * count(section, name))
};
