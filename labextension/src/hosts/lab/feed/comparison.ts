/** A tab with a page that a kernel made, in which no script runs. */
import { Widget } from '@lumino/widgets';

import { element } from '../../../charts/ui/dom';
import { trans } from '../../../lib/translate';
import { dashboardIcon } from '../panels/charts';

let made = 0;

export function comparisonTab(html: string): Widget {
  const tab = new Widget();
  tab.id = `taskscope-comparison-${made += 1}`;
  tab.title.label = trans.__('Comparison of runs');
  tab.title.icon = dashboardIcon;
  tab.title.closable = true;
  const page = element('iframe', { sandbox: '', title: trans.__('Comparison with the previous run of this cell') });
  const scheme = document.body.dataset.jpThemeLight === 'false' ? 'dark' : 'light';
  Object.assign(page.style, { width: '100%', height: '100%', border: '0', colorScheme: scheme });
  page.srcdoc = html;
  tab.node.append(page);
  return tab;
}
