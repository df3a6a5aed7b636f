/** The one script of a static result of a cluster; see `index`. */
import { CLUSTER_CHARTS } from '../../charts/cluster/layer';
import { ClusterStore } from '../../store';
import { showReports } from './show';

void showReports(new AbortController().signal, { charts: CLUSTER_CHARTS, newStore: () => new ClusterStore() });
