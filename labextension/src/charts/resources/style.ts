/** The gauges' own rules. */

export const RESOURCES_CSS = `
.tsk-gauge { flex: 1 1 220px; min-width: 0; max-width: 460px; }
.tsk-gauge > div:first-child { display: flex; flex-wrap: wrap; align-items: baseline; column-gap: 8px; }
.tsk-gauge-name { font-weight: 600; }
.tsk-gauge-value { font-weight: 600; }
.tsk-gauge-detail { color: var(--tsk-faint); }
.tsk-gauge-bar {
  position: relative; height: 8px; margin: 2px 0; border: 1px solid var(--tsk-line); border-radius: 2px;
  background: color-mix(in srgb, var(--tsk-ink) 7%, var(--tsk-paper));
}
.tsk-gauge-fill { height: 100%; background: var(--tsk-accent); forced-color-adjust: none; }
.tsk-gauge-mark { position: absolute; top: -3px; bottom: -3px; width: 2px; margin-left: -1px; background: var(--tsk-ink); forced-color-adjust: none; }
`;
