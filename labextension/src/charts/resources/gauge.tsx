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
