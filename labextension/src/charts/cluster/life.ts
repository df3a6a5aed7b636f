/** What becomes of workers: marks where it happened, on the lanes of each and in the workers' chart. */
import { formatDuration, printable } from '../../lib/format';
import { parseColour } from '../../lib/palette';
import { clamp, pxAt, widthS } from '../../lib/span';
import type { Span } from '../../lib/span';
import { trans } from '../../lib/translate';
import type { Tables } from '../../store';
import { pack } from '../tasks/bars';
import type { LaneLayout, Painting, Scene } from '../tasks/scene';
import type { Row } from '../tasks/rows';
import type { Brush, Plot } from '../timeline/drawing';
import type { Tip } from '../timeline/track';
import type { TextTable } from '../ui/text-table';

const BLACK = [0, 0, 0] as const;
const WIDE_PX = 2;
const NEAR_PX = 4;
/** Where the pointer has no place of its own, what happened within this share of what is in sight is near. */
const NEAR = 0.006;

/** Something that has happened to a worker. */
export interface Happening {
  readonly timeS: number;
  readonly worker: string;
  readonly text: string;
  readonly isBad: boolean;
}

/** Those of one worker, by address; of all where it is null. */
export function happenings({ remarks }: Tables, of: string | null = null): Happening[] {
  return remarks.flatMap(({ timeS, worker, event, text, level }) =>
    timeS === null || worker === null || event === null || (of !== null && of !== worker) ? [] : [{ timeS, worker, text, isBad: level === 'warning' }]
  );
}

/** Upright lines in the rows of the workers to which something happened, in an image of `width` pixels a row. */
export function paintLife(pixels: Uint32Array, width: number, { layout, scene, theme }: Painting, tables: Tables, ratio: number): void {
  const told = happenings(tables);
  if (told.length === 0) {
    return;
  }
  const [bad, plain] = [theme.error, theme.ink].map(colour => pack(parseColour(colour) ?? BLACK));
  const nRows = Math.floor(pixels.length / width);
  for (const { row, topPx } of layout.boxes) {
    const worker = workerOf(row, tables);
    const [from, to] = [Math.max(Math.round(topPx * ratio), 0), Math.min(Math.round((topPx + layout.rowPx) * ratio), nRows)];
    for (const { timeS, isBad } of told.filter(one => one.worker === worker)) {
      const left = Math.round(pxAt(scene.span, width, timeS) - (WIDE_PX * ratio) / 2);
      const [first, last] = [left, Math.round(left + WIDE_PX * ratio)].map(x => clamp(x, 0, width)) as [number, number];
      for (let y = from; y < to; y += 1) {
        pixels.fill((isBad ? bad : plain) as number, y * width + first, y * width + last);
      }
    }
  }
}

/** What happened to the worker of a row next to a place, `x` pixels into the plot. */
export function hitLife(row: Row, x: number, { span, zeroS }: Scene, { plotWidthPx }: LaneLayout, tables: Tables): Tip | null {
  const near = happenings(tables, workerOf(row, tables) ?? '').filter(({ timeS }) => Math.abs(pxAt(span, plotWidthPx, timeS) - x) <= NEAR_PX);
  const [first] = near;
  return first === undefined ? null : {
    kind: 'facts',
    facts: { key: row.label, rows: near.map(({ timeS, text }) => [trans.__('at %1', formatDuration(timeS - zeroS)), printable(text, 200)] as const), note: null },
    colour: null
  };
}

/** The same lines in a plot of the workers. */
export function drawLife(brush: Brush, plot: Plot, told: readonly Happening[]): void {
  for (const { timeS, isBad } of told) {
    const x = Math.round(brush.xAt(timeS)) + 0.5;
    brush.context.strokeStyle = isBad ? brush.theme.error : brush.theme.faint;
    brush.line(x, plot.topPx, x, plot.topPx + plot.heightPx);
  }
}

export function lifeAt(told: readonly Happening[], timeS: number, span: Span, zeroS: number): string[] {
  return told
    .filter(one => Math.abs(one.timeS - timeS) <= widthS(span) * NEAR)
    .map(one => trans.__('%1 at %2', printable(one.text, 200), formatDuration(one.timeS - zeroS)));
}

export function lifeTable(told: readonly Happening[], zeroS: number): TextTable {
  return {
    caption: trans.__('What became of workers'),
    columns: [trans.__('At'), trans.__('What')],
    rows: told.map(({ timeS, text }) => [formatDuration(timeS - zeroS), printable(text, 200)])
  };
}

function workerOf(row: Row, tables: Tables): string | undefined {
  return row.kind === 'worker' ? row.worker : tables.lanes[row.id]?.worker;
}
