/** The one script of a page that was saved: unlike a result it may save pictures, and it may have a profile. */
import { savePicture } from '../../charts/ui/picture';
import { showReports } from './show';
import { showFlames } from './show-flames';

const { signal } = new AbortController();
void showFlames(signal, showReports(signal, undefined, savePicture));
