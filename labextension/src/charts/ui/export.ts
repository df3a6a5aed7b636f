/** What leaves a chart: tables for the clipboard, a picture as a file; a notice says how it went. */
import { formatCount, printable } from '../../lib/format';
import type { Theme } from '../../lib/theme';
import { trans } from '../../lib/translate';
import type { TextTable } from './text-table';
import { tabSeparated } from './text-table';

const SHOWN_MS = 6_000;
/** Of a path, or of why something could not be done. */
export const MAX_PATH_CHARS = 400;

/** A line that says what was done: seen for a while, and read aloud. */
export class Notice {
  text = '';
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param changed is called when the text is another */
  constructor(private readonly changed: () => void, signal: AbortSignal, private readonly shownMs = SHOWN_MS) {
    signal.addEventListener('abort', () => { clearTimeout(this.#timer); }, { once: true });
  }

  say(text: string): void {
    this.text = text;
    this.changed();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.text = '';
      this.changed();
    }, this.shownMs);
  }
}

export class Exporter {
  constructor(
    private readonly notice: Notice
  ) {}

  copy(tables: readonly TextTable[]): void {
    const rows = tables.reduce((sum, table) => sum + table.rows.length, 0);
    const caption = tables.length === 1 ? ` (${tables[0]?.caption ?? ''})` : '';
    const text = tables.map(tabSeparated).join('\n\n');
    const done = trans._n('copied %2 row', 'copied %2 rows', rows, formatCount(rows)) + caption;
    this.#tell(copyText(text).then(() => done), why => trans.__('could not copy: %1', why));
  }

  save(picture: HTMLCanvasElement, name: string): void {
    this.#tell(savePng(picture, name).then(() => trans.__('saved %1', name)), why => trans.__('could not save the picture: %1', why));
  }

  /** Say what is being done, and how it went. */
  tell(doing: string, done: Promise<string>, failed: (why: string) => string): void {
    this.notice.say(doing);
    this.#tell(done, failed);
  }

  #tell(done: Promise<string>, failed: (why: string) => string): void {
    done.then(
      text => { this.notice.say(text); },
      (error: unknown) => { this.notice.say(failed(printable(error instanceof Error ? error.message : String(error), MAX_PATH_CHARS))); }
    );
  }
}

/** Whether the page may save files: a sandboxed frame may not, and says nothing when it tries. */
export function maySaveFiles(): boolean {
  return window.self === window.top || window.origin !== 'null';
}

/** Copy text to the clipboard; rejects where the page may not. */
async function copyText(text: string): Promise<void> {
  // Absent on pages that are not served by https or localhost.
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (clipboard === undefined) {
    throw new Error('this page may not use the clipboard');
  }
  await clipboard.writeText(text);
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

export interface LegendEntry {
  readonly name: string;
  readonly colour: string;
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
