/** A chart as a picture in a file; the result of a cell has no such script, for its frame may not save files. */
import { printable } from '../../lib/format';
import type { Theme } from '../../lib/theme';
import { trans } from '../../lib/translate';
import type { Exporter, LegendEntry } from './export';

/** What a picture is made of, besides the canvas. */
export interface PictureWords {
  readonly name: string;
  readonly title: string;
  readonly legend: readonly LegendEntry[];
}

export type SavePicture = typeof savePicture;

/** Save the chart of `canvas` with words around it. */
export function savePicture(exporter: Exporter, canvas: HTMLCanvasElement, { name, title, legend }: PictureWords, theme: Theme): void {
  exporter.tell('', savePng(pictureOf(canvas, title, legend, theme), name).then(() => trans.__('saved %1', name)), why => trans.__('could not save the picture: %1', why));
}

/** Offer a canvas as a PNG file of that name; rejects where the picture cannot be made. */
async function savePng(canvas: HTMLCanvasElement, name: string): Promise<void> {
  const blob = await new Promise<Blob | null>(resolve => {
    canvas.toBlob(resolve, 'image/png');
  });
  if (blob === null) {
    throw new Error('the browser could not make a picture of this size');
  }
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

const TITLE_PX = 28;
const ROW_PX = 20;
const MARGIN_PX = 12;

/** Draw the chart of `canvas` with words around it; what is hidden, because there is nothing to plot, is left out. */
export function pictureOf(canvas: HTMLCanvasElement, title: string, legend: readonly LegendEntry[], theme: Theme): HTMLCanvasElement {
  const isShown = canvas.clientWidth > 0;
  const ratio = isShown ? canvas.width / canvas.clientWidth : window.devicePixelRatio || 1;
  const widthPx = canvas.width / ratio;
  const plotPx = isShown ? canvas.height : 0;
  const picture = document.createElement('canvas');
  const context = picture.getContext('2d');
  if (context === null) {
    return picture;
  }
  const font = `12px ${theme.font}`;
  context.font = font;
  const places = legendPlaces(legend, widthPx, name => context.measureText(name).width);
  const rows = (places.at(-1)?.row ?? -1) + 1;
  picture.width = canvas.width;
  picture.height = Math.round((TITLE_PX + rows * ROW_PX + MARGIN_PX) * ratio) + plotPx;
  context.fillStyle = theme.paper;
  context.fillRect(0, 0, picture.width, picture.height);
  if (isShown) {
    context.drawImage(canvas, 0, Math.round(TITLE_PX * ratio));
  }
  context.scale(ratio, ratio);
  context.font = font;
  context.textBaseline = 'middle';
  context.fillStyle = theme.ink;
  context.fillText(title, MARGIN_PX, TITLE_PX / 2, widthPx - 2 * MARGIN_PX);
  const topPx = TITLE_PX + plotPx / ratio + MARGIN_PX / 2;
  legend.forEach(({ colour }, i) => {
    const { x, row, name } = places[i] ?? { x: 0, row: 0, name: '' };
    const y = topPx + (row + 0.5) * ROW_PX;
    context.fillStyle = colour;
    context.fillRect(x, y - 5.5, 11, 11);
    context.fillStyle = theme.ink;
    context.fillText(name, x + 17, y);
  });
  return picture;
}

function legendPlaces(legend: readonly LegendEntry[], widthPx: number, measure: (name: string) => number): { x: number; row: number; name: string }[] {
  let x = MARGIN_PX;
  let row = 0;
  return legend.map(entry => {
    const name = printable(entry.name, 60);
    const needsPx = measure(name) + 17 + 16;
    if (x > MARGIN_PX && x + needsPx > widthPx) {
      x = MARGIN_PX;
      row += 1;
    }
    const place = { x, row, name };
    x += needsPx;
    return place;
  });
}
