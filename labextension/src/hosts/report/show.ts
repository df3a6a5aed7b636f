/** Puts the interactive charts into a page that carries its own data. */
import { BRIEF_CSS } from '../../charts/dashboard';
import { TimeAxis } from '../../charts/timeline/time';
import { element } from '../../charts/ui/dom';
import { DASHBOARD_TRACKS, mountTracks } from '../../charts/tracks';
import type { SavePicture } from '../../charts/ui/picture';
import { adoptStyles, watchSizes } from '../../charts/ui/theme';
import { DARK, LIGHT } from '../../lib/theme';
import { trans } from '../../lib/translate';
import type { TaskStore } from '../../store';
import { type ClusterReader, storeFrom } from './data';
import { followPage } from './iframe';

/** A recording whose charts are in the page, and their time. */
export interface Shown {
  readonly store: TaskStore;
  readonly axis: TimeAxis;
}

/** The ground is see-through until now: what lies under a frame shows wherever this script does not run. */
const REPORT_CSS = `
[data-brief] .tsk-gantt-legend { margin-top: 2px; max-height: 46px; }
html { background: var(--jp-layout-color0, ${LIGHT.paper}); }
@media (prefers-color-scheme: dark) { html { background: var(--jp-layout-color0, ${DARK.paper}); } }
`;

/** Without our extension, a notebook gives a frame more room once a person asks for more charts: between the heights in `taskscope/report/result.py`. */
const LOW_PX = 450;
const isLow = (): boolean => window.innerHeight < LOW_PX;

/**
 * Show the charts of each data element, until `signal` aborts: in the place that the page has for them, else below
 * the element. The picture, which is there without scripts, is folded away then.
 *
 * A page whose data is damaged stays as it is; the error goes to its console. Resolves to what is shown.
 */
export async function showReports(signal: AbortSignal, cluster?: ClusterReader, savePicture?: SavePicture): Promise<Shown[]> {
  const shown: Shown[] = [];
  const page = { brief: null as boolean | null, changed: (): void => undefined };
  const send = followPage(brief => { page.brief = brief; page.changed(); }, signal);
  for (const data of document.querySelectorAll('script.taskscope-data')) {
    try {
      const { store, path } = await storeFrom(data.textContent, cluster);
      const el = element('div', { class: 'taskscope-view' });
      // It has no progress: how computes ended stands in the page's own words, which need no script.
      const root = element('div', { class: 'tsk-dashboard', role: 'group', 'aria-label': trans.__('Dask computes') });
      el.append(root);
      const place = document.querySelector('.taskscope-place');
      const isFrame = place === null;
      if (isFrame) {
        data.after(el);
      } else {
        place.append(el);
      }
      [BRIEF_CSS, REPORT_CSS].forEach(css => { adoptStyles(el, css); });
      const axis = new TimeAxis(false);
      const timeline = mountTracks(root, store, DASHBOARD_TRACKS, {
        signal, axis, isOver: true, ...(savePicture === undefined ? {} : { savePicture }), ...(path === null ? {} : { path }), ...(cluster === undefined ? {} : { clusters: cluster.charts })
      });
      shown.push({ store, axis });
      if (isFrame) {
        page.changed = () => {
          const isBrief = page.brief ?? isLow();
          root.toggleAttribute('data-brief', isBrief);
          timeline.setBrief(isBrief);
        };
        page.changed();
        window.addEventListener('resize', () => { page.changed(); }, { signal });
        watchSizes([el], () => { send(el.scrollHeight); }, signal);
      }
      document.querySelector('.taskscope-picture')?.removeAttribute('open');
    } catch (error) {
      reportError(error);
    }
  }
  return shown;
}
