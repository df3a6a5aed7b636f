/** Round places for the labels of a value axis that starts at 0. */

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
