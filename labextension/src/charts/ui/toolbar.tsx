/** A toolbar as WAI-ARIA describes it: one stop for Tab, arrows between its buttons, rarer things in a menu. */
import type { ComponentChildren } from './render';
import { Component } from './render';

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
    const rare = buttons.filter(({ isRare }) => isRare === true);
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
        <Menu {...menu} items={[...rare.map(spec => ({ ...spec, text: spec.label ?? spec.text })), ...menu.items]} tab={tab(buttons.length)} focused={focus(buttons.length)} />
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

/** Between a menu and its button, or the page's edge. */
const EDGE_PX = 2;

interface MenuProps extends MenuSpec {
  readonly tab: number;
  readonly focused: () => void;
}

/** A button that opens a menu of actions: arrows move, Escape closes it and gives the focus back. */
class Menu extends Component<MenuProps, { readonly open: boolean }> {
  override state = { open: false };
  #el: HTMLElement | null = null;
  readonly #gone = new AbortController();

  override componentDidMount(): void {
    const { signal } = this.#gone;
    document.addEventListener('pointerdown', event => {
      if (this.state.open && this.#el !== null && !event.composedPath().includes(this.#el)) {
        this.setState({ open: false });
      }
    }, { signal });
    // It stays with its button.
    document.addEventListener('scroll', () => {
      if (this.state.open) {
        this.#place();
      }
    }, { signal, capture: true, passive: true });
  }

  override componentDidUpdate(_: MenuProps, before: { readonly open: boolean }): void {
    if (before.open !== this.state.open) {
      this.#place();
    }
  }

  override componentWillUnmount(): void {
    this.#gone.abort();
  }

  override render({ text, label, items, tab, focused }: MenuProps): ComponentChildren {
    const { open } = this.state;
    return (
      <div class="tsk-menu" ref={el => { this.#el = el; }} onKeyDown={this.#onKey} onFocusOut={this.#onFocusOut}>
        <button
          type="button" title={label} aria-label={label} aria-haspopup="menu" aria-expanded={open} tabIndex={tab} onFocus={focused}
          onClick={() => { this.#show(!open, 0); }}
        >
          {text}
        </button>
        <div class="tsk-menu-list" popover="manual" role="menu" aria-label={label} hidden={!open}>
          {items.map(({ text: item, act, hidden, pressed, isRare }) => (
            <button
              type="button" role={pressed === undefined ? 'menuitem' : 'menuitemcheckbox'} aria-checked={pressed} tabIndex={-1} hidden={hidden === true} data-rare={isRare}
              onClick={() => {
                this.#show(false);
                this.#opener?.focus();
                act();
              }}
            >
              {item}
            </button>
          ))}
        </div>
      </div>
    );
  }

  get #opener(): HTMLButtonElement | null {
    return this.#el?.querySelector('button') ?? null;
  }

  /** Above all else, where there is room for it: a low panel or cell cuts off what it holds. Old browsers have it below its button. */
  #place(): void {
    const [list, opener] = [this.#el?.querySelector<HTMLElement>('.tsk-menu-list'), this.#opener];
    if (list === null || list === undefined || opener === null || !('showPopover' in list)) {
      return;
    }
    if (!this.state.open) {
      list.hidePopover();
      return;
    }
    list.showPopover();
    const { top, bottom, right } = opener.getBoundingClientRect();
    const { clientWidth, clientHeight } = document.documentElement;
    const below = clientHeight - bottom;
    const isAbove = list.scrollHeight + 2 * EDGE_PX > below && top > below;
    Object.assign(list.style, {
      top: isAbove ? 'auto' : `${bottom + EDGE_PX}px`,
      bottom: isAbove ? `${clientHeight - top + EDGE_PX}px` : 'auto',
      right: `${Math.max(Math.min(clientWidth - right, clientWidth - list.offsetWidth - EDGE_PX), EDGE_PX)}px`,
      maxHeight: `${(isAbove ? top : below) - 2 * EDGE_PX}px`
    });
  }

  #items(): HTMLButtonElement[] {
    return [...(this.#el?.querySelectorAll<HTMLButtonElement>('[role^=menuitem]') ?? [])].filter(isSeen);
  }

  #show(open: boolean, focus?: 0 | -1): void {
    this.setState({ open });
    if (open && focus !== undefined) {
      this.#items().at(focus)?.focus();
    }
  }

  readonly #onKey = (event: KeyboardEvent): void => {
    const items = this.#items();
    const at = items.indexOf(event.target as HTMLButtonElement);
    if (event.key === 'Escape' && this.state.open) {
      this.#show(false);
      this.#opener?.focus();
    } else if (event.target === this.#opener && ['ArrowDown', 'ArrowUp'].includes(event.key)) {
      this.#show(true, event.key === 'ArrowUp' ? -1 : 0);
    } else if (at >= 0 && ['ArrowDown', 'ArrowUp', 'Home', 'End'].includes(event.key)) {
      const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key] ?? 0;
      items[(to + items.length) % items.length]?.focus();
    } else {
      return;
    }
    event.preventDefault();
  };

  readonly #onFocusOut = ({ relatedTarget }: FocusEvent): void => {
    if (relatedTarget instanceof Node && this.#el?.contains(relatedTarget) === false) {
      this.setState({ open: false });
    }
  };
}

export const TOOLBAR_CSS = `
.tsk-toolbar { display: flex; flex-wrap: wrap; gap: 4px; }
.tsk-toolbar [hidden], .tsk-menu [hidden] { display: none !important; }
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
.tsk-menu-list [aria-checked='true']::before { content: '✓ '; }
.tsk-chart .tsk-toolbar .tsk-menu-list [data-rare] { display: none; }
@container (max-width: 520px) {
  .tsk-chart .tsk-toolbar > [data-rare] { display: none; }
  .tsk-chart .tsk-toolbar .tsk-menu-list [data-rare] { display: inline-flex; }
}
.tsk-menu-list {
  position: absolute; z-index: 20; right: 0; top: 100%; margin-top: 2px; padding: 4px;
  display: flex; flex-direction: column; min-width: 180px; max-width: 80vw;
  border: 1px solid var(--tsk-line); border-radius: 4px;
  background: var(--tsk-raised); box-shadow: 0 2px 10px rgb(0 0 0 / 22%);
}
.tsk-menu-list:popover-open { position: fixed; inset: auto; margin: 0; overflow: auto; }
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
