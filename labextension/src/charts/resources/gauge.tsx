/** A value now, its peak and its limit: as text, and as a bar with a mark. */
import { clamp } from '../../lib/span';
import type { ComponentChildren } from '../ui/render';

export interface GaugeReading {
  readonly name: string;
  readonly value: string;
  /** What else there is to say: peak, limit. */
  readonly detail: string;
  /** Parts of the limit, 0 to 1; null: unknown. */
  readonly share: number | null;
  readonly peakShare: number | null;
}

export function Gauge({ name, value, detail, share, peakShare }: GaugeReading): ComponentChildren {
  const percent = clamp((share ?? 0) * 100, 0, 100);
  return (
    <div class="tsk-gauge">
      <div>
        <span class="tsk-gauge-name">{name}</span><span class="tsk-gauge-value">{value}</span><span class="tsk-gauge-detail">{detail}</span>
      </div>
      <div
        class="tsk-gauge-bar" role="meter" aria-label={name} aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.round(percent)}
        aria-valuetext={`${value}, ${detail}`}
      >
        <div class="tsk-gauge-fill" style={{ width: `${percent}%` }} />
        <div class="tsk-gauge-mark" hidden={peakShare === null} style={{ left: `${clamp((peakShare ?? 0) * 100, 0, 100)}%` }} />
      </div>
    </div>
  );
}

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
