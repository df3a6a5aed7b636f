/** What a page needs to show more of a cluster; only the script of pages with a cluster has it. */
import { CLUSTER_CHARTS } from '../../charts/cluster';
import { ClusterStore } from '../../store';
import type { ClusterReader } from './data';

export const CLUSTER_READER: ClusterReader = { charts: CLUSTER_CHARTS, newStore: () => new ClusterStore() };
