/** How toolbars, their menus and text fields look in every chart. */

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
.tsk-menu-list {
  position: absolute; z-index: 20; right: 0; top: 100%; margin-top: 2px; padding: 4px;
  display: flex; flex-direction: column; min-width: 180px; max-width: 80vw;
  border: 1px solid var(--tsk-line); border-radius: 4px;
  background: var(--tsk-raised); box-shadow: 0 2px 10px rgb(0 0 0 / 22%);
}
.tsk-chart .tsk-toolbar .tsk-menu-list button { justify-content: flex-start; border-color: transparent; height: 26px; }
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
