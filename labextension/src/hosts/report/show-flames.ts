/** Puts the flame graph of the widget into a page that carries its profile, in the picture's place. */
import { decodeFlame } from '../../charts/flame/data';
import { mountFlame } from '../../charts/flame/track';
import { element } from '../../charts/ui/dom';
import { unpack } from './data';
import type { Shown } from './show';

/**
 * Show the profile of each data element, until `signal` aborts: in front of the picture, which is there without
 * scripts and is folded away then. It has the time axis of the charts of the page: what is selected there is its time.
 *
 * A page whose data is damaged stays as it is; the error goes to its console.
 */
export async function showFlames(signal: AbortSignal, reports: Promise<readonly Shown[]>): Promise<void> {
  const [shown] = await reports;
  if (shown === undefined) {
    return;
  }
  for (const script of document.querySelectorAll('script.taskscope-profile')) {
    try {
      const wire = JSON.parse(script.textContent) as Record<string, unknown>;
      const data = decodeFlame({ ...wire, columns: await unpack(wire.data, wire.bytes, 'profile') });
      const el = element('div', { class: 'taskscope-view' });
      const picture = script.closest('section')?.querySelector('.taskscope-picture');
      (picture ?? script).before(el);
      mountFlame(el, shown.store, { signal, axis: shown.axis, isOver: true }).show(data, null);
      picture?.removeAttribute('open');
    } catch (error) {
      reportError(error);
    }
  }
}
