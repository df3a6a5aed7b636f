/** Plots over time, one below the other in one track; pure geometry in CSS pixels. */
import type { ValueAxis } from '../../../lib/ticks';

/** What a plot asks for. */
export interface PlotSpec {
  readonly title: string;
  readonly axis: ValueAxis;
  readonly heightPx: number;
}

export interface Plot extends PlotSpec {
  readonly topPx: number;
}

/** Above each plot, for its title and the labels that stand on its top edge. */
export const TITLE_PX = 18;
const GAP_PX = 6;
const CHARACTER_PX = 6.3;

/** The plots at their places, and how high they are together. */
export function layoutPlots(specs: readonly PlotSpec[]): { readonly plots: readonly Plot[]; readonly heightPx: number } {
  let bottom = 0;
  const plots = specs.map(spec => {
    const topPx = bottom + TITLE_PX;
    bottom = topPx + spec.heightPx + GAP_PX;
    return { ...spec, topPx };
  });
  return { plots, heightPx: Math.max(bottom - GAP_PX, 0) };
}

/** How much room the labels of the value axes ask for. */
export function gutterPx(specs: readonly PlotSpec[]): number {
  const labels = specs.flatMap(spec => spec.axis.ticks.map(tick => tick.label.length));
  return Math.round(Math.max(...labels, 4) * CHARACTER_PX + 16);
}

/** Where a value lies; what is above the plot's top stays on it. */
export function yAt({ topPx, heightPx, axis }: Plot, value: number): number {
  return topPx + heightPx * (1 - Math.min(Math.max(value / axis.top, 0), 1));
}

export interface Box {
  readonly leftPx: number;
  readonly topPx: number;
  readonly widthPx: number;
  readonly heightPx: number;
}

/** The first of the places at which a label touches none of those that stand already; null: none is free. */
export function freePlace(places: readonly Box[], taken: readonly Box[]): Box | null {
  return places.find(place => !taken.some(other => touches(place, other))) ?? null;
}

function touches(a: Box, b: Box): boolean {
  return (
    a.leftPx < b.leftPx + b.widthPx &&
    b.leftPx < a.leftPx + a.widthPx &&
    a.topPx < b.topPx + b.heightPx &&
    b.topPx < a.topPx + a.heightPx
  );
}
