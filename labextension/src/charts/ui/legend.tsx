/** Legends: the colour or pattern of each thing, its name and its amount, and where that can be, a button that hides it. */
import { formatCount, printable } from '../../lib/format';
import { trans } from '../../lib/translate';
import type { ComponentChildren } from './render';

/** The style of a swatch, or the class that has it. */
export type SwatchLook = Readonly<Record<string, string>> | string;

export function Swatch({ look }: { readonly look: SwatchLook }): ComponentChildren {
  return typeof look === 'string' ? <span class={`tsk-swatch ${look}`} /> : <span class="tsk-swatch" style={look} />;
}

interface LegendRowProps {
  /** What it is, in whatever language its name is. */
  readonly kind?: string;
  readonly name: string;
  readonly look: SwatchLook;
  readonly amount: string;
  readonly title?: string;
  /** Whether it is shown, where a press hides it or shows it again. */
  readonly isShown?: boolean;
  /** Left out: it is no button. */
  readonly press?: () => void;
  /** The pointer or the focus came, or went. */
  readonly point?: (isOn: boolean) => void;
}

export function LegendRow({ kind, name, look, amount, title, isShown, press, point }: LegendRowProps): ComponentChildren {
  const content = (
    <>
      <Swatch look={look} />
      <span class="tsk-legend-name" title={press === undefined ? printable(name) : undefined}>{printable(name, 60)}</span>
      <span class="tsk-legend-amount">{amount}</span>
    </>
  );
  const [enter, leave] = [(): void => { point?.(true); }, (): void => { point?.(false); }];
  return (
    <li>
      {press === undefined ? content : (
        <button
          type="button" data-kind={kind} aria-pressed={isShown} title={title} onClick={press}
          {...{ onpointerenter: enter, onpointerleave: leave }} onFocus={enter} onBlur={leave}
        >
          {content}
        </button>
      )}
    </li>
  );
}

export interface LegendItem {
  readonly name: string;
  readonly look: SwatchLook;
  readonly amount: string;
}

/** More than these are only counted. */
const MAX_ITEMS = 24;

/** A legend that says what there is, without buttons. */
export function Legend({ items, label }: { readonly items: readonly LegendItem[]; readonly label?: string }): ComponentChildren {
  const further = items.length - MAX_ITEMS;
  return items.length > 0 && (
    <ul class="tsk-legend tsk-legend-plain" aria-label={label}>
      {items.slice(0, MAX_ITEMS).map(item => <LegendRow {...item} />)}
      {further > 0 && <li>{trans._n('%2 more', '%2 more', further, formatCount(further))}</li>}
    </ul>
  );
}

export const LEGEND_CSS = `
.tsk-legend { display: flex; flex-wrap: wrap; gap: 2px 6px; margin: 6px 0 0; padding: 0 5px; list-style: none; max-height: 166px; overflow: auto; }
.tsk-legend li { display: flex; align-items: center; gap: 6px; min-width: 0; max-width: 100%; }
.tsk-legend button {
  display: inline-flex; align-items: center; gap: 6px; min-width: 0; max-width: 100%; height: 22px; padding: 0 6px;
  border: 1px solid transparent; border-radius: 3px; background: transparent; color: var(--tsk-ink); font: inherit; cursor: pointer;
}
.tsk-legend button:not([aria-pressed]) { border-color: var(--tsk-line); }
.tsk-legend button:hover { background: color-mix(in srgb, var(--tsk-ink) 8%, transparent); }
.tsk-legend button:focus-visible { outline: 2px solid var(--tsk-accent); outline-offset: -1px; }
.tsk-legend button[aria-pressed='false'] .tsk-legend-name { text-decoration: line-through; }
.tsk-legend button[aria-pressed='false'] :is(.tsk-legend-name, .tsk-legend-amount) { color: var(--tsk-faint); }
.tsk-legend button[aria-pressed='false'] .tsk-swatch { background: transparent !important; box-shadow: inset 0 0 0 2px var(--tsk-faint); }
.tsk-legend-note { gap: 14px !important; padding: 0 6px; }
.tsk-legend-note > span { display: inline-flex; align-items: center; gap: 6px; }
.tsk-legend-name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; max-width: 24ch; color: var(--tsk-ink); }
.tsk-legend-amount { color: var(--tsk-faint); }
.tsk-legend-plain { gap: 3px 16px; margin: 4px 0 0; padding: 0; max-height: 8.9em; }
.tsk-swatch { display: inline-block; flex: none; width: 11px; height: 11px; border-radius: 2px; forced-color-adjust: none; }
`;
