/** Puts the interactive charts into a page that carries its own data. */
import { mount } from '../../charts/dashboard';
import { element } from '../../charts/ui/dom';
import { adoptStyles } from '../../charts/ui/styles';
import { DARK, LIGHT } from '../../lib/theme';
import { storeFrom } from './data';

/** The ground is see-through until now: what lies under a frame shows wherever this script does not run. */
const REPORT_CSS = `
html { background: ${LIGHT.paper}; }
@media (prefers-color-scheme: dark) { html { background: ${DARK.paper}; } }
`;

/**
 * Show the charts of each data element below it, until `signal` aborts.
 *
 * A page whose data is damaged stays as it is; the error goes to its console.
 */
export function showReports(signal: AbortSignal): void {
  for (const data of document.querySelectorAll('script.taskscope-data')) {
    try {
      const store = storeFrom(data.textContent);
      const el = element('div', { class: 'taskscope-view' });
      data.after(el);
      adoptStyles(el, REPORT_CSS);
      mount(el, store, { signal, prefixes: 'legend', follow: false });
    } catch (error) {
      reportError(error);
    }
  }
}
