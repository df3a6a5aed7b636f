/** The script of a page with a profile, beside that of its charts: it stands at the end, and lives as long as the page. */
import { showFlames } from './show-flames';

void showFlames(new AbortController().signal);
