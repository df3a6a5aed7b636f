/** A box above everything else, beside its opener; Escape, a press elsewhere and a focus that moves elsewhere close it. */
import type { ComponentChildren } from './render';
import { Component } from './render';

export interface PopoverProps {
  readonly class: string;
  readonly role: 'menu' | 'dialog';
  readonly label: string;
  readonly isOpen: boolean;
  readonly opener: () => HTMLElement | null;
  /** @param isByKey whether the focus has to go back to where it was */
  readonly close: (isByKey: boolean) => void;
  readonly children: ComponentChildren;
}

/** Between a box and its opener, or the page's edge. */
const EDGE_PX = 2;

export class Popover extends Component<PopoverProps> {
  #el: HTMLElement | null = null;
  readonly #gone = new AbortController();

  override componentDidMount(): void {
    const { signal } = this.#gone;
    document.addEventListener('pointerdown', event => {
      const path = event.composedPath();
      if (![this.#el, this.props.opener()].some(el => el !== null && path.includes(el))) {
        this.#close(false);
      }
    }, { signal });
    // It stays with its opener.
    document.addEventListener('scroll', () => { this.#place(); }, { signal, capture: true, passive: true });
  }

  override componentDidUpdate(before: PopoverProps): void {
    const { isOpen } = this.props;
    if (before.isOpen !== isOpen) {
      this.#show(isOpen);
    }
  }

  override componentWillUnmount(): void {
    this.#gone.abort();
  }

  override render({ class: classes, role, label, isOpen, children }: PopoverProps): ComponentChildren {
    return (
      <div
        class={`tsk-popover ${classes}`} popover="manual" role={role} aria-label={label} tabIndex={-1} hidden={!isOpen}
        ref={el => { this.#el = el; }} onKeyDown={this.#onKey} onFocusOut={this.#onFocusOut}
      >
        {children}
      </div>
    );
  }

  /** Browsers without popovers show it below its opener. */
  #show(isOpen: boolean): void {
    const el = this.#el;
    if (el === null) {
      return;
    }
    if ('showPopover' in el) {
      el.togglePopover(isOpen);
      this.#place();
    }
    if (isOpen && this.props.role === 'dialog') {
      el.focus();
    }
  }

  /** Where there is room for it: a low panel or cell cuts off what it holds. */
  #place(): void {
    const [el, opener] = [this.#el, this.props.opener()];
    if (!this.props.isOpen || el === null || opener === null) {
      return;
    }
    const { clientWidth, clientHeight } = document.documentElement;
    const box = opener.getBoundingClientRect();
    // The opener may be out of sight.
    const [top, bottom] = [Math.min(box.top, clientHeight), Math.max(box.bottom, 0)];
    const below = clientHeight - bottom;
    const isAbove = el.scrollHeight + 2 * EDGE_PX > below && top > below;
    Object.assign(el.style, {
      top: isAbove ? 'auto' : `${bottom + EDGE_PX}px`,
      bottom: isAbove ? `${clientHeight - top + EDGE_PX}px` : 'auto',
      right: `${Math.max(Math.min(clientWidth - box.right, clientWidth - el.offsetWidth - EDGE_PX), EDGE_PX)}px`,
      maxHeight: `${(isAbove ? top : below) - 2 * EDGE_PX}px`
    });
  }

  #close(isByKey: boolean): void {
    if (this.props.isOpen) {
      this.props.close(isByKey);
    }
  }

  readonly #onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') {
      event.preventDefault();
      this.#close(true);
    }
  };

  readonly #onFocusOut = ({ relatedTarget }: FocusEvent): void => {
    if (relatedTarget instanceof Node && this.#el?.contains(relatedTarget) === false) {
      this.#close(false);
    }
  };
}

export const POPOVER_CSS = `
.tsk-popover {
  position: fixed; inset: auto; margin: 0; max-width: calc(100vw - 4px); overflow: auto;
  border: 1px solid var(--tsk-line); border-radius: 4px; outline: none;
  color: var(--tsk-ink); background: var(--tsk-raised); box-shadow: 0 2px 10px rgb(0 0 0 / 22%);
}
`;
