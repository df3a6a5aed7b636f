/** A toolbar as WAI-ARIA describes it: one stop for Tab, arrows between its buttons, rarer things in a menu. */
import type { ComponentChildren } from './render';
import { Component } from './render';
import { POPOVER_CSS, Popover } from './popover';

export interface ButtonSpec {
  readonly text: string;
  /** What it does, for tooltips and screen readers; left out: its text says it. */
  readonly label?: string;
  readonly act: () => void;
  /** Left out: it is no toggle. */
  readonly pressed?: boolean;
  readonly hidden?: boolean;
  readonly disabled?: boolean;
  /** Where there is little room, whether it stands in the menu instead. */
  readonly isRare?: boolean;
}

export interface ToolbarSpec {
  readonly label: string;
  readonly buttons: readonly ButtonSpec[];
  /** Stands last, and opens a list of others. */
  readonly menu: MenuSpec;
  readonly hidden?: boolean;
}

export interface MenuSpec {
  readonly text: string;
  readonly label: string;
  /** What belongs together, under the name of that; what is rare comes first in the first. */
  readonly groups: readonly MenuGroup[];
}

export interface MenuGroup {
  readonly label: string;
  readonly items: readonly ButtonSpec[];
}

export function Button({ text, label, act, pressed, hidden, disabled }: ButtonSpec): ComponentChildren {
  return (
    <button
      type="button" title={label ?? text} aria-label={label === text ? undefined : label} aria-pressed={pressed}
      hidden={hidden === true} disabled={disabled === true} onClick={act}
    >
      {text}
    </button>
  );
}

export class Toolbar extends Component<ToolbarSpec, { readonly stop: number | null }> {
  override state = { stop: null };

  override render({ label, buttons, menu, hidden }: ToolbarSpec): ComponentChildren {
    const isHere = (at: number | null): boolean => at === buttons.length || (at !== null && buttons[at] !== undefined && buttons[at].hidden !== true);
    const { stop: last } = this.state;
    // What is always seen can always be reached.
    const stop = isHere(last) ? last : [...buttons.keys(), buttons.length].find(at => isHere(at) && buttons[at]?.isRare !== true);
    const rare = buttons.filter(({ isRare }) => isRare === true).map(spec => ({ ...spec, text: spec.label ?? spec.text }));
    const groups = menu.groups.map(({ items, ...group }, i) => ({ ...group, items: i === 0 ? [...rare, ...items] : items }));
    const tab = (at: number): number => (at === stop ? 0 : -1);
    const focus = (at: number) => () => { this.setState({ stop: at }); };
    return (
      <div class="tsk-toolbar" role="toolbar" aria-label={label} hidden={hidden === true} onKeyDown={onToolbarKey}>
        {buttons.map((spec, at) => (
          <button
            type="button" title={spec.label} aria-label={spec.label} aria-pressed={spec.pressed}
            hidden={spec.hidden === true} data-rare={spec.isRare} tabIndex={tab(at)} onClick={spec.act} onFocus={focus(at)}
          >
            {spec.text}
          </button>
        ))}
        <Menu {...menu} groups={groups} tab={tab(buttons.length)} focused={focus(buttons.length)} />
      </div>
    );
  }
}

/** Where there is little room, what is rare is no longer among the buttons. */
function isSeen(button: HTMLButtonElement): boolean {
  return getComputedStyle(button).display !== 'none';
}

/** Arrows move between the buttons that are there; those of an open menu have their own. */
function onToolbarKey(event: KeyboardEvent): void {
  const toolbar = event.currentTarget as HTMLElement;
  const buttons = [...toolbar.querySelectorAll<HTMLButtonElement>(':scope > button, :scope > .tsk-menu > button')].filter(isSeen);
  const at = buttons.indexOf(event.target as HTMLButtonElement);
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: buttons.length - 1 }[event.key];
  if (at >= 0 && to !== undefined) {
    event.preventDefault();
    buttons[(to + buttons.length) % buttons.length]?.focus();
  }
}

interface MenuProps extends MenuSpec {
  readonly tab: number;
  readonly focused: () => void;
}

/** A button that opens a menu of actions: arrows move, Escape closes it and gives the focus back. */
class Menu extends Component<MenuProps, { readonly open: boolean }> {
  override state = { open: false };
  #el: HTMLElement | null = null;

  override render({ text, label, groups, tab, focused }: MenuProps): ComponentChildren {
    const { open } = this.state;
    return (
      <div class="tsk-menu" ref={el => { this.#el = el; }} onKeyDown={this.#onKey}>
        <button
          type="button" title={label} aria-label={label} aria-haspopup="menu" aria-expanded={open} tabIndex={tab} onFocus={focused}
          onClick={() => { this.#show(!open, 0); }}
        >
          {text}
        </button>
        <Popover class="tsk-menu-list" role="menu" label={label} isOpen={open} opener={() => this.#opener} close={isByKey => { this.#close(isByKey); }}>
          {groups.map(({ label: name, items }) => (
            <div role="group" aria-label={name} hidden={items.every(({ hidden }) => hidden)}>
              {items.map(({ text: item, act, hidden, pressed, isRare }) => (
                <button
                  type="button" role={pressed === undefined ? 'menuitem' : 'menuitemcheckbox'} aria-checked={pressed} tabIndex={-1} hidden={hidden === true} data-rare={isRare}
                  onClick={() => {
                    this.#close(true);
                    act();
                  }}
                >
                  {item}
                </button>
              ))}
            </div>
          ))}
        </Popover>
      </div>
    );
  }

  get #opener(): HTMLButtonElement | null {
    return this.#el?.querySelector('button') ?? null;
  }

  #items(): HTMLButtonElement[] {
    return [...(this.#el?.querySelectorAll<HTMLButtonElement>('[role^=menuitem]') ?? [])].filter(isSeen);
  }

  #show(open: boolean, focus: 0 | -1): void {
    this.setState({ open });
    if (open) {
      this.#items().at(focus)?.focus();
    }
  }

  #close(isByKey: boolean): void {
    this.setState({ open: false });
    if (isByKey) {
      this.#opener?.focus();
    }
  }

  readonly #onKey = (event: KeyboardEvent): void => {
    const items = this.#items();
    const at = items.indexOf(event.target as HTMLButtonElement);
    if (event.target === this.#opener && ['ArrowDown', 'ArrowUp'].includes(event.key)) {
      this.#show(true, event.key === 'ArrowUp' ? -1 : 0);
    } else if (at >= 0 && ['ArrowDown', 'ArrowUp', 'Home', 'End'].includes(event.key)) {
      const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key] ?? 0;
      items[(to + items.length) % items.length]?.focus();
    } else {
      return;
    }
    event.preventDefault();
  };
}

export const TOOLBAR_CSS = `${POPOVER_CSS}
.tsk-toolbar { display: flex; flex-wrap: wrap; gap: 4px; }
.tsk-chart :is(.tsk-toolbar, .tsk-bar) button {
  display: inline-flex; align-items: center; justify-content: center;
  min-width: 26px; height: 24px; padding: 0 8px;
  border: 1px solid var(--tsk-line); border-radius: 3px;
  background: transparent; color: var(--tsk-ink); font: inherit; cursor: pointer; white-space: nowrap;
}
.tsk-chart :is(.tsk-toolbar, .tsk-bar) button:hover { background: color-mix(in srgb, var(--tsk-ink) 8%, transparent); }
.tsk-chart :is(.tsk-toolbar, .tsk-bar, .tsk-menu-list) button:focus-visible { outline: 2px solid var(--tsk-accent); outline-offset: 1px; }
.tsk-chart :is(.tsk-toolbar, .tsk-bar) button:disabled { color: var(--tsk-faint); opacity: 0.55; cursor: default; }
.tsk-chart :is(.tsk-toolbar, .tsk-bar) button[aria-pressed='true'] {
  border-color: var(--tsk-accent);
  background: color-mix(in srgb, var(--tsk-accent) 16%, transparent);
  font-weight: 600;
}
.tsk-menu { position: relative; }
.tsk-menu-list [aria-checked='true']::before { content: '✓\\a0'; }
.tsk-chart .tsk-toolbar .tsk-menu-list [data-rare] { display: none; }
@container (max-width: 520px) {
  .tsk-chart .tsk-toolbar > [data-rare] { display: none; }
  .tsk-chart .tsk-toolbar .tsk-menu-list [data-rare] { display: inline-flex; }
}
.tsk-menu-list { min-width: 180px; padding: 4px; }
.tsk-menu-list > div { display: flex; flex-direction: column; }
.tsk-menu-list > div::before { content: attr(aria-label); padding: 4px 8px 0; color: var(--tsk-faint); font-size: 11px; }
.tsk-chart .tsk-toolbar .tsk-menu-list button { flex: none; justify-content: flex-start; border-color: transparent; height: 26px; }
.tsk-text-table:not(.tsk-hidden) { overflow: auto; max-height: 420px; margin: 8px 12px 0; }
.tsk-text-table:focus-visible { outline: 2px solid var(--tsk-accent); }
.tsk-chart .tsk-text-table table { border-collapse: collapse; margin: 0 0 10px; font: inherit; color: inherit; }
.tsk-text-table caption { text-align: start; padding: 2px 0; }
.tsk-text-table :is(th, td) { padding: 2px 12px 2px 0; text-align: end; border-bottom: 1px solid var(--tsk-line); }
.tsk-text-table :is(th, td):first-child { text-align: start; }
.tsk-bar { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 8px; }
.tsk-bar input[type='search'] {
  flex: 1 1 140px; min-width: 90px; max-width: 320px; height: 24px; padding: 0 8px;
  border: 1px solid var(--tsk-faint); border-radius: 3px;
  background: var(--tsk-raised); color: var(--tsk-ink); font: inherit;
}
.tsk-bar input[type='search']:focus-visible { outline: 2px solid var(--tsk-accent); outline-offset: 0; }
`;
