/** The bars of a flame graph on a canvas. */
import { contrast, inkOn, parseColour } from '../../lib/palette';
import type { Rgb } from '../../lib/palette';
import type { Theme } from '../../lib/theme';
import type { TextFitter } from '../ui/canvas';
import type { FlameBar, FlameLayout } from './layout';
import { ROW_PX } from './layout';
import type { FlameNode } from './tree';

const FONT_PX = 11;
const INSET_PX = 4;
const MIN_TEXT_PX = 24;
const TINT = 0.5;
const DIM = 0.16;

export interface FlameScene {
  readonly layout: FlameLayout;
  readonly theme: Theme;
  readonly focus: FlameNode;
  /** Where the keyboard or the pointer is. */
  readonly cursor: FlameNode | null;
  /** What the search found; null: nothing is searched for. */
  readonly found: ReadonlySet<FlameNode> | null;
  readonly texts: TextFitter;
  readonly colourOf: (node: FlameNode) => string;
  readonly nameOf: (node: FlameNode) => string;
}

export function drawFlame(context: CanvasRenderingContext2D, scene: FlameScene): void {
  const { layout, theme } = scene;
  context.fillStyle = theme.paper;
  context.fillRect(0, 0, layout.widthPx, layout.heightPx);
  context.font = `${FONT_PX}px ${theme.font}`;
  context.textBaseline = 'middle';
  for (const bar of layout.bars) {
    drawBar(context, scene, bar);
  }
  const cursor = layout.bars.find(bar => bar.node === scene.cursor);
  if (cursor !== undefined) {
    context.strokeStyle = theme.ink;
    context.lineWidth = 2;
    context.strokeRect(cursor.xPx + 1, cursor.yPx + 1, Math.max(cursor.widthPx - 2, 1), ROW_PX - 3);
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
