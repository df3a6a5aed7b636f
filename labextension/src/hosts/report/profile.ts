/** The one script of a page with a profile: it stands after the data, and lives as long as the page. */
import { showReports } from './show';
import { showFlames } from './show-flames';

const { signal } = new AbortController();
void showReports(signal);
void showFlames(signal);
