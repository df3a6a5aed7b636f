/** The header of a panel in the page: whose kernel it shows, what is wrong with that; loaded with the first one that is seen. */

import { trans } from '../../../lib/translate';
import type { ComponentChildren } from '../../../charts/ui/render';
import { render } from '../../../charts/ui/render';
import { adoptStyles } from '../../../charts/ui/theme';
import { pinIcon } from './charts';

const CSS = `
.tsk-panel {
  display: flex; flex-direction: column; min-width: 0; overflow: hidden;
  background: var(--jp-layout-color0); color: var(--jp-ui-font-color1);
  font: 12px/1.45 var(--jp-ui-font-family); outline: none;
}
.tsk-panel-header { flex: none; min-width: 0; }
.tsk-panel-head {
  display: flex; align-items: center; gap: 4px; flex: none; min-height: 28px; padding: 0 4px 0 12px;
  border-bottom: 1px solid var(--jp-border-color2); background: var(--jp-layout-color1);
}
.tsk-panel-name { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-weight: 600; }
.tsk-panel-header button {
  display: inline-flex; align-items: center; justify-content: center; gap: 4px;
  min-width: 24px; height: 24px; padding: 0 4px;
  border: 1px solid transparent; border-radius: 3px; background: none; color: inherit; font: inherit; cursor: pointer;
}
.tsk-panel-header button[hidden], .tsk-panel-note[hidden] { display: none; }
.tsk-panel-header button:hover { background: var(--jp-layout-color2); }
.tsk-panel-header button:focus-visible { outline: 2px solid var(--jp-brand-color1); outline-offset: -1px; }
.tsk-panel-pin[aria-pressed='true'] {
  border-color: var(--jp-brand-color1); background: color-mix(in srgb, var(--jp-brand-color1) 16%, transparent);
}
.tsk-panel-note { display: flex; flex-wrap: wrap; align-items: center; gap: 6px 12px; flex: none; padding: 6px 12px; }
.tsk-panel-note > span { overflow-wrap: anywhere; }
.tsk-panel-offer { flex: 1 0 100%; margin: 0; color: var(--jp-ui-font-color2); overflow-wrap: anywhere; }
.tsk-panel-offer[hidden] { display: none; }
.tsk-panel-header .tsk-panel-load.tsk-panel-first { border-color: transparent; background: var(--jp-brand-color1); color: var(--jp-ui-inverse-font-color1, #ffffff); font-weight: 600; }
.tsk-panel-header .tsk-panel-load.tsk-panel-first:hover { background: var(--jp-brand-color0); }
.tsk-panel-header .tsk-panel-load { padding: 0 10px; border-color: var(--jp-border-color1); background: var(--jp-layout-color1); }
.tsk-panel-header .tsk-panel-load:disabled { color: var(--jp-ui-font-color2); cursor: default; }
.tsk-panel-body { flex: 1; min-height: 0; overflow: auto; }
.tsk-panel-body.tsk-former { filter: grayscale(1); }
.tsk-panel-body.tsk-former canvas { opacity: 0.6; }
`;

export interface Status {
  /** Null: all is well. */
  readonly text: string | null;
  /** Whether the kernel could load taskscope. */
  readonly mayLoad: boolean;
  /** Whether what is shown came from a kernel that is no more. */
  readonly former: boolean;
}

export interface HeaderActions {
  readonly setPinned: (pinned: boolean) => void;
  readonly load: () => void;
  /** Load it now, and from now on in each kernel that imports dask; null: that cannot be kept. */
  readonly loadAlways: (() => void) | null;
}

/** What is shown of the panel's kernel. */
export interface Shown extends Status {
  /** Of the notebook or console; empty: there is none. */
  readonly name: string;
  readonly pinned: boolean;
  readonly mayPin: boolean;
  readonly loading: boolean;
  /** Whether a kernel loads taskscope by itself, once it imports dask. */
  readonly loadsItself: boolean;
}

export function drawHeader(el: HTMLElement, props: Shown & HeaderActions): void {
  adoptStyles(document.body, CSS);
  render(<Header {...props} />, el);
}

function Header({ name, text, mayLoad, loading, loadsItself, pinned, mayPin, setPinned, load, loadAlways }: Shown & HeaderActions): ComponentChildren {
  const pinLabel = trans.__('Pin to this notebook');
  return (
    <>
      <div class="tsk-panel-head">
        <span class="tsk-panel-name" title={name}>{name}</span>
        <button
          type="button" class="tsk-panel-pin" title={pinLabel} aria-label={pinLabel} aria-pressed={pinned} hidden={!mayPin && !pinned}
          ref={addPin} onClick={() => { setPinned(!pinned); }}
        />
      </div>
      <div class="tsk-panel-note" hidden={text === null && !mayLoad}>
        <span role="status">{text}</span>
        <p class="tsk-panel-offer" hidden={!mayLoad}>
          {loadsItself
            ? trans.__('It loads itself as soon as this kernel imports dask.')
            : trans.__('Once it is loaded, each Dask compute of this kernel is shown here while it runs. Nothing else changes.')}
        </p>
        <button type="button" class="tsk-panel-load tsk-panel-first" hidden={!mayLoad} disabled={loading} onClick={load}>
          {loading ? trans.__('Loading, once the kernel is free') : trans.__('Load taskscope in this kernel')}
        </button>
        <button
          type="button" class="tsk-panel-load" title={trans.__('From now on each kernel that imports dask loads taskscope by itself')}
          hidden={!mayLoad || loading || loadsItself || loadAlways === null} onClick={() => { loadAlways?.(); }}
        >
          {trans.__('Always load it with dask')}
        </button>
      </div>
    </>
  );
}

/** JupyterLab's icons make elements of their own. */
function addPin(button: HTMLButtonElement | null): void {
  if (button?.childElementCount === 0) {
    pinIcon.element({ container: button, width: '14px', height: '14px' });
  }
}
