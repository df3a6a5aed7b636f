/** The one script of a static result of a cluster; see `index`. */
import { CLUSTER_READER } from './cluster-reader';
import { showReports } from './show';

void showReports(new AbortController().signal, CLUSTER_READER);
