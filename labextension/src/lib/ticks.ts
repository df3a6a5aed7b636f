/** Round places for the labels of an axis: of time, and of values that start at 0. */
import type { Span } from './span';
import { widthS } from './span';

export interface Tick {
  readonly timeS: number;
  readonly label: string;
}

const LONG_STEPS_S = [
  60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 345600, 604800
];

/** The step of at most `maxTicks` ticks: 1, 2 or 5 times a power of ten, whole minutes, hours or days. */
export function tickStepS(spanS: number, maxTicks: number): number {
  const rough = spanS / Math.max(maxTicks, 1);
  if (rough > 30) {
    const last = LONG_STEPS_S[LONG_STEPS_S.length - 1] ?? 604800;
    return LONG_STEPS_S.find(step => step >= rough) ?? Math.ceil(rough / last) * last;
  }
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find(f => f * power >= rough * (1 - 1e-9)) ?? 10;
  return factor === 5 && power === 10 ? 60 : Math.min(factor * power, 60);
}

/** Ticks inside of `span`, labelled as time after `zeroS`. */
export function timeTicks(span: Span, zeroS: number, maxTicks: number): Tick[] {
  const step = tickStepS(widthS(span), maxTicks);
  const first = Math.ceil((span.startS - zeroS) / step - 1e-9);
  const last = Math.floor((span.stopS - zeroS) / step + 1e-9);
  const ticks: Tick[] = [];
  for (let i = first; i <= last; i += 1) {
    const sinceZeroS = i * step;
    ticks.push({ timeS: zeroS + sinceZeroS, label: tickLabel(sinceZeroS, step) });
  }
  return ticks;
}

/** As many digits as tell neighbours apart: `12.345 s` at steps of a millisecond. */
export function tickLabel(seconds: number, stepS: number): string {
  const size = Math.abs(seconds);
  if (size < stepS / 2) {
    return '0 s';
  }
  const sign = seconds < 0 ? '-' : '';
  if (size >= 60) {
    return sign + clockLabel(size, stepS);
  }
  const [factor, unit] = size >= 1 ? [1, 's'] : size >= 1e-3 ? [1e3, 'ms'] : [1e6, 'µs'];
  return `${sign}${fixed(size * factor, stepS * factor)} ${unit}`;
}

/** Days, hours, minutes and seconds, as far as they are not 0. */
function clockLabel(seconds: number, stepS: number): string {
  const minutes = Math.floor((seconds + stepS * 1e-6) / 60);
  const rest = Math.max(seconds - minutes * 60, 0);
  const parts = [
    [Math.floor(minutes / 1440), 'd'],
    [Math.floor(minutes / 60) % 24, 'h'],
    [minutes % 60, 'min'],
    [rest < stepS / 2 ? 0 : fixed(rest, stepS), 's']
  ] as const;
  return parts
    .filter(([n]) => Number(n) > 0)
    .map(([n, unit]) => `${n} ${unit}`)
    .join(' ');
}

function fixed(value: number, step: number): string {
  const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step) - 1e-9)));
  return String(Number(value.toFixed(digits)));
}

export interface ValueAxis {
  /** The value at the top: no value is above it. */
  readonly top: number;
  readonly ticks: readonly { readonly value: number; readonly label: string }[];
}

/** An axis up to `most` with at most `maxTicks` labels above 0, at 1, 2 or 5 times a power of ten. */
export function valueAxis(most: number, maxTicks: number, format: (value: number) => string, whole = false): ValueAxis {
  const step = stepFor(most > 0 ? most : 1, Math.max(maxTicks, 1), whole);
  const top = Math.ceil((most > 0 ? most : 1) / step - 1e-9) * step;
  const count = Math.round(top / step);
  const ticks = Array.from({ length: count + 1 }, (_, i) => ({ value: i * step, label: format(i * step) }));
  return { top, ticks };
}

function stepFor(most: number, maxTicks: number, whole: boolean): number {
  const rough = most / maxTicks;
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find(f => f * power >= rough * (1 - 1e-9)) ?? 10;
  return whole ? Math.max(factor * power, 1) : factor * power;
}
