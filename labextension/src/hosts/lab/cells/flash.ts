/** Draws the eye to an element for a moment. */
import { adoptStyles } from '../../../charts/ui/theme';

const FLASH_MS = 1_500;

// Where the person wants no movement, the outline stands still and goes.
const CSS = `
.tsk-flash { outline: 2px solid var(--jp-brand-color1, #1565c0); outline-offset: -2px; }
@media (prefers-reduced-motion: no-preference) {
  .tsk-flash { animation: tsk-flash ${FLASH_MS}ms ease-in; }
  @keyframes tsk-flash { to { outline-color: transparent; } }
}
`;

const ends = new WeakMap<HTMLElement, ReturnType<typeof setTimeout>>();

export function flash(el: HTMLElement): void {
  adoptStyles(el, CSS);
  clearTimeout(ends.get(el));
  el.classList.add('tsk-flash');
  ends.set(
    el,
    setTimeout(() => {
      el.classList.remove('tsk-flash');
    }, FLASH_MS)
  );
}
