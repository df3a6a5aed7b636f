/** The one script of a static result: it stands after the data, and lives as long as the page. */
import { showReports } from './show';

void showReports(new AbortController().signal);
