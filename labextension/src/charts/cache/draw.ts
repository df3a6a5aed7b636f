/** The stack of what was held, and its peak. */
import type { Brush } from '../timeline/drawing/brush';
import type { Plot } from '../timeline/drawing/plots';
import { yAt } from '../timeline/drawing/plots';
import type { Stack } from './stack';

/** Draw a stack whose columns are as wide as a device pixel. */
export function drawStack(brush: Brush, plot: Plot, stack: Stack, colourOf: (prefix: number) => string): void {
  const { context, room, ratio } = brush;
  const width = stack.prefixes.length;
  const bottoms = new Float64Array(stack.columns);
  const tops = new Float64Array(stack.columns);
  // Edges on whole pixels, or neighbours would shine through each other.
  const snap = (y: number): number => Math.round(y * ratio) / ratio;
  const xAt = (column: number): number => room.plotLeftPx + column / ratio;
  stack.prefixes.forEach((prefix, place) => {
    let some = false;
    for (let c = stack.from; c < stack.to; c += 1) {
      const amount = stack.amounts[c * width + place] as number;
      some ||= amount > 0;
      tops[c] = (bottoms[c] as number) + amount;
    }
    if (!some) {
      return;
    }
    context.beginPath();
    for (let c = stack.from; c < stack.to; c += 1) {
      const y = snap(yAt(plot, tops[c] as number));
      context.lineTo(xAt(c), y);
      context.lineTo(xAt(c + 1), y);
    }
    for (let c = stack.to - 1; c >= stack.from; c -= 1) {
      const y = snap(yAt(plot, bottoms[c] as number));
      context.lineTo(xAt(c + 1), y);
      context.lineTo(xAt(c), y);
    }
    context.fillStyle = colourOf(prefix);
    context.fill();
    bottoms.set(tops);
  });
}
