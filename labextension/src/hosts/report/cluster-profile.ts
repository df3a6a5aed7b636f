/** The one script of a page of a cluster; see `profile`. */
import { CLUSTER_CHARTS } from '../../charts/cluster/layer';
import { savePicture } from '../../charts/ui/picture';
import { ClusterStore } from '../../store';
import { showReports } from './show';
import { showFlames } from './show-flames';

const { signal } = new AbortController();
void showFlames(signal, showReports(signal, { charts: CLUSTER_CHARTS, newStore: () => new ClusterStore() }, savePicture));
