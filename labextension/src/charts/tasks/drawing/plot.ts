/** The bars as pixels of one image: each row measured, then painted by its exact coverage. */
import type { Rgb } from '../../../lib/palette';
import { parseColour } from '../../../lib/palette';
import { pxAt } from '../../../lib/span';
import type { Theme } from '../../../lib/theme';
import type { Tick } from '../../../lib/ticks';
import type { CoverageColumns, TaskStore } from '../../../store';
import { MARK } from '../../../store';
import type { Drawn } from '../../timeline/track';
import type { LaneLayer } from '../lane-layer';
import type { Row } from '../rows';
import type { CoverageQuery, Matches, Picture } from '../scene';
import { coverageQuery } from '../scene';
import type { BarColours } from './bars';
import { mix, pack, paintBars } from './bars';
import { MeasuredRows } from './measured';

const BLACK: Rgb = [0, 0, 0];

export class Plot {
  #image: ImageData | null = null;
  readonly #rows = new MeasuredRows();
  /** What is looked for, and what of each row that is. */
  #matches: Matches | null = null;
  #found = new MeasuredRows();

  constructor(private readonly layer: LaneLayer | null) {}

  /** How exact what was painted is. */
  get drawn(): Drawn {
    const parts = this.#matches === null ? [this.#rows] : [this.#rows, this.#found];
    if (parts.some(({ rowsPending }) => rowsPending > 0)) {
      return 'unfinished';
    }
    return parts.some(({ isApproximate }) => isApproximate) || this.layer?.isApproximate === true ? 'approximate' : 'exact';
  }

  /** Paint into `context`, whose pixels are `ratio` to one of CSS; returns what each row in sight has of what is looked for, null: no bars. */
  paint(context: CanvasRenderingContext2D, store: TaskStore, picture: Picture, ticks: readonly Tick[], ratio: number): (CoverageColumns | null)[] {
    const { layout, scene, theme } = picture;
    const columns = Math.max(Math.round(layout.plotWidthPx * ratio), 1);
    const rows = Math.max(Math.round(layout.plotHeightPx * ratio), 1);
    if (this.#image?.width !== columns || this.#image.height !== rows) {
      this.#image = context.createImageData(columns, rows);
    }
    const pixels = new Uint32Array(this.#image.data.buffer);
    const colours = barColours(picture);
    pixels.fill(pack(colours.paper));
    const query = coverageQuery(store, scene, picture.filter, columns);
    const shown = layout.boxes.map(box => box.row);
    const measured = this.#rows.measure(store, scene, shown, query);
    const found = this.#measureFound(picture, shown, query);
    measured.forEach((coverage, i) => {
      const topPx = layout.boxes[i]?.topPx;
      if (coverage !== null && topPx !== undefined) {
        const top = Math.round((topPx + (layout.rowPx - layout.barPx) / 2) * ratio);
        const height = Math.round(layout.barPx * ratio);
        const part = found?.[i] ?? null;
        paintBars(pixels, columns, { top, height, ratio }, coverage, colours, part);
        paintTraces(pixels, columns, top + height, coverage, part === null ? colours.prefix : () => colours.other);
        if (part !== null) {
          paintTraces(pixels, columns, top + height, part, colours.prefix);
        }
      }
    });
    this.layer?.draw(pixels, columns, picture, ratio);
    const places = ticks.map(tick => Math.round(pxAt(scene.span, columns, tick.timeS)));
    paintGrid(pixels, columns, places, colours, theme);
    context.putImageData(this.#image, Math.round(layout.plotLeftPx * ratio), 0);
    return found ?? measured;
  }

  #measureFound({ scene: { open }, matches }: Picture, rows: readonly Row[], query: CoverageQuery): (CoverageColumns | null)[] | null {
    if (matches !== this.#matches) {
      this.#matches = matches;
      this.#found = new MeasuredRows();
    }
    if (matches === null) {
      return null;
    }
    const inFlight = new Map(Array.from(open, ([lane, bars]) => [lane, bars.filter(({ task }) => matches.hasOpen(task))]));
    return this.#found.measure({ epoch: '', lane: id => matches.lane(id) }, { open: inFlight }, rows, query);
  }
}

/** Below the bar, a dot for tasks too short for their exact coverage to be seen. */
function paintTraces(pixels: Uint32Array, width: number, y: number, { cover, marks, prefix }: CoverageColumns, colourOf: (prefix: number) => Rgb): void {
  const row = pixels.subarray(y * width, (y + 1) * width);
  const faint = (x: number): boolean => (cover[x] ?? 0) < 0.2;
  for (let x = 0; x < row.length; x += 1) {
    if (((marks[x] ?? 0) & MARK.any) !== 0 && faint(x) && faint(x - 1) && faint(x + 1)) {
      row[x] = pack(colourOf(prefix[x] ?? 0));
    }
  }
}

/** Lines at the ticks, only where nothing was drawn. */
function paintGrid(pixels: Uint32Array, width: number, places: number[], colours: BarColours, theme: Theme): void {
  const paper = pack(colours.paper);
  const ground = pack(colours.ground);
  const grid = mix(colours.paper, parseColour(theme.line) ?? colours.ground, 0.8);
  for (const x of places) {
    for (let i = x; x >= 0 && x < width && i < pixels.length; i += width) {
      if (pixels[i] === paper || pixels[i] === ground) {
        pixels[i] = grid;
      }
    }
  }
}

function barColours({ theme, prefixColour, filter }: Picture): BarColours {
  const parsed = (text: string): Rgb => parseColour(text) ?? BLACK;
  const known = new Map<number, Rgb>();
  return {
    ground: parsed(theme.lane),
    paper: parsed(theme.paper),
    ink: parsed(theme.ink),
    other: theme.dark ? [74, 82, 92] : [196, 202, 209],
    error: parsed(theme.error),
    errorGap: theme.dark ? [48, 8, 8] : [40, 0, 0],
    focus: filter.focus,
    prefix: id => {
      let colour = known.get(id);
      if (colour === undefined) {
        colour = parsed(prefixColour(id));
        known.set(id, colour);
      }
      return colour;
    }
  };
}
