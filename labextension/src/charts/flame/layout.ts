/** Where each call stands, zoomed into one of them; pure. */
import type { Rgb } from '../../lib/palette';
import { contrast, inkOn, parseColour } from '../../lib/palette';
import type { Theme } from '../../lib/theme';
import type { TextFitter } from '../ui/canvas';
import type { FlameNode } from './tree';
import { walk } from './tree';

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
  readonly root: FlameNode;
  readonly focus: FlameNode;
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
  return { root, focus, bars, heightPx: (depth + 1) * ROW_PX, widthPx };
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

const FONT_PX = 11;
const INSET_PX = 4;
const MIN_TEXT_PX = 24;
const TINT = 0.5;
const DIM = 0.16;

export interface FlameScene {
  readonly layout: FlameLayout;
  readonly theme: Theme;
  /** What the search found; null: nothing is searched for. */
  readonly found: ReadonlySet<FlameNode> | null;
  readonly texts: TextFitter;
  readonly colourOf: (node: FlameNode) => string;
  readonly nameOf: (node: FlameNode) => string;
}

export function drawFlame(context: CanvasRenderingContext2D, scene: FlameScene): void {
  const { layout, theme } = scene;
  context.font = `${FONT_PX}px ${theme.font}`;
  context.textBaseline = 'middle';
  for (const bar of layout.bars) {
    drawBar(context, scene, bar);
  }
}

function drawBar(context: CanvasRenderingContext2D, scene: FlameScene, bar: FlameBar): void {
  const { theme, found } = scene;
  const paper = parseColour(theme.paper) ?? [255, 255, 255];
  const strength = found === null || found.has(bar.node) ? TINT : DIM;
  const ground = mixed(parseColour(scene.colourOf(bar.node)) ?? [128, 128, 128], paper, strength);
  const gapPx = bar.widthPx > 3 ? 1 : 0;
  context.fillStyle = `rgb(${ground.join(', ')})`;
  context.fillRect(bar.xPx, bar.yPx, Math.max(bar.widthPx - gapPx, 0.5), ROW_PX - 1);
  if (bar.widthPx < MIN_TEXT_PX) {
    return;
  }
  context.fillStyle = readable(theme.ink, ground);
  const text = scene.texts.fit(context, scene.nameOf(bar.node), bar.widthPx - 2 * INSET_PX);
  context.fillText(text, bar.xPx + INSET_PX, bar.yPx + ROW_PX / 2);
}

function mixed(colour: Rgb, paper: Rgb, strength: number): Rgb {
  const part = (i: 0 | 1 | 2): number => Math.round(colour[i] * strength + paper[i] * (1 - strength));
  return [part(0), part(1), part(2)];
}

/** The page's ink where it can be read on the ground, else black or white. */
export function readable(ink: string, ground: Rgb): string {
  const own = parseColour(ink);
  return own !== null && contrast(own, ground) >= 4.5 ? ink : inkOn(ground);
}
