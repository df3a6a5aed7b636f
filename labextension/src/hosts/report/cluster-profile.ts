/** The one script of a page with a profile of a cluster. */
import { shown, signal } from './cluster';
import { showFlames } from './show-flames';

void showFlames(signal, shown);
