/** The rules of what only clusters have. */

export const WORKERS_CSS = `
.tsk-workers[hidden] { display: none !important; }
.tsk-worker-picker { flex: 1 0 100%; }
.tsk-worker-picker select {
  max-width: min(320px, 100%); height: 26px; border: 1px solid var(--tsk-line); border-radius: 3px;
  background: var(--tsk-paper); color: var(--tsk-ink); font: inherit;
}
.tsk-worker-picker select:focus-visible { outline: 2px solid var(--tsk-accent); }
`;
