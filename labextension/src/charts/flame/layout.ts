/** Where each call stands, zoomed into one of them; pure. */
import { type FlameNode, walk } from './tree';

export const ROW_PX = 18;
const MIN_BAR_PX = 0.5;
/** As deep as the recorder keeps stacks, with what stands above them: browsers have no canvas of any height. */
const MAX_ROWS = 258;

export interface FlameBar {
  readonly node: FlameNode;
  readonly xPx: number;
  readonly widthPx: number;
  readonly yPx: number;
}

export interface FlameLayout {
  readonly bars: readonly FlameBar[];
  readonly heightPx: number;
  readonly widthPx: number;
}

/** Calls narrower than half a pixel, and what they called, are left out; those that lead to `focus` are as wide as all. */
export function layoutFlame(root: FlameNode, focus: FlameNode, widthPx: number): FlameLayout {
  const bars: FlameBar[] = [];
  const above = new Set<FlameNode>();
  for (let node: FlameNode | null = focus; node !== null; node = node.parent) {
    above.add(node);
  }
  const scale = focus.seconds > 0 ? widthPx / focus.seconds : 0;
  let depth = 0;
  walk(root, node => {
    const leads = above.has(node);
    if (!leads && node.depth <= focus.depth) {
      return false;
    }
    const barPx = leads ? widthPx : node.seconds * scale;
    if (barPx < MIN_BAR_PX || node.depth >= MAX_ROWS) {
      return false;
    }
    const xPx = leads ? 0 : (node.fromS - focus.fromS) * scale;
    bars.push({ node, xPx, widthPx: barPx, yPx: node.depth * ROW_PX });
    depth = Math.max(depth, node.depth);
    return true;
  });
  return { bars, heightPx: (depth + 1) * ROW_PX, widthPx };
}

/** The bar at a place, null where there is none. */
export function barAt(layout: FlameLayout, xPx: number, yPx: number): FlameBar | null {
  const found = layout.bars.find(
    bar => yPx >= bar.yPx && yPx < bar.yPx + ROW_PX && xPx >= bar.xPx && xPx < bar.xPx + bar.widthPx
  );
  return found ?? null;
}

export type Direction = 'up' | 'down' | 'left' | 'right';

/** The bar that an arrow key leads to from a call. */
export function neighbour(layout: FlameLayout, from: FlameNode, direction: Direction): FlameNode {
  const isDrawn = (node: FlameNode): boolean => layout.bars.some(bar => bar.node === node);
  if (direction === 'up') {
    return from.parent ?? from;
  }
  if (direction === 'down') {
    return from.children.find(isDrawn) ?? from;
  }
  const row = layout.bars.filter(bar => bar.node.depth === from.depth).sort((a, b) => a.xPx - b.xPx);
  const at = row.findIndex(bar => bar.node === from);
  return row[at + (direction === 'left' ? -1 : 1)]?.node ?? from;
}
