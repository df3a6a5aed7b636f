/** Puts the flame graph of the widget into a page that carries its profile, in the picture's place. */
import type { FlameColours } from '../../charts/flame/view';
import { mount } from '../../charts/flame/view';
import { decodeFlame } from '../../charts/flame/data';
import { element } from '../../charts/ui/dom';
import { paletteColour } from '../../lib/palette';
import { unpack } from './data';

/**
 * Show the profile of each data element, until `signal` aborts: in front of the picture, which is there without
 * scripts and is folded away then.
 *
 * A page whose data is damaged stays as it is; the error goes to its console.
 */
export async function showFlames(signal: AbortSignal): Promise<void> {
  for (const script of document.querySelectorAll('script.taskscope-profile')) {
    try {
      const wire = JSON.parse(script.textContent) as Record<string, unknown>;
      const data = decodeFlame({ ...wire, columns: await unpack(wire.data, wire.bytes, 'profile') });
      const el = element('div', { class: 'taskscope-view' });
      const picture = script.closest('section')?.querySelector('.taskscope-picture');
      (picture ?? script).before(el);
      mount(el, coloursOf(wire.colours), { signal }).show(data, null);
      picture?.removeAttribute('open');
    } catch (error) {
      reportError(error);
    }
  }
}

/** A prefix has the colour of its number, as in the charts of the same page. */
function coloursOf(numbers: unknown): FlameColours {
  const known = new Map(Object.entries(typeof numbers === 'object' && numbers !== null ? numbers : {}));
  return {
    current: () => prefix => paletteColour(Number(known.get(prefix) ?? 0)),
    subscribe: () => undefined
  };
}
