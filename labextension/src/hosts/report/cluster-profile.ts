/** The one script of a page with a profile of a cluster; see `profile`. */
import { CLUSTER_READER } from './cluster-reader';
import { showReports } from './show';
import { showFlames } from './show-flames';

const { signal } = new AbortController();
void showReports(signal, CLUSTER_READER);
void showFlames(signal);
