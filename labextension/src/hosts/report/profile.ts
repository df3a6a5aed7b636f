/** The one script of a page with a profile. */
import { shown, signal } from './index';
import { showFlames } from './show-flames';

void showFlames(signal, shown);
