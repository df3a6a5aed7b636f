/** How busy a drawn chart looks: what part of the bars' ground is covered with a bar's colour. */

type Pixel = readonly [number, number, number];

/** Read the plot of a chart that has one prefix. */
export function apparentBusy(canvas: HTMLCanvasElement, ground: Pixel, bar: Pixel): number {
  const { data, width, height } = pixelsOf(canvas);
  const share = (x: number, y: number): number | null => {
    const at = 4 * (y * width + x);
    return shareOf([data[at] ?? 0, data[at + 1] ?? 0, data[at + 2] ?? 0], ground, bar);
  };
  const across = Array.from({ length: width }, (_, x) => x);
  const isBar = (y: number): boolean => across.filter(x => share(x, y) !== null).length > width / 2;
  // The topmost row of each bar: white letters further down would pass for ground, which is nearly white.
  const rows = Array.from({ length: height }, (_, y) => y).filter(y => isBar(y) && !isBar(y - 1));
  const columns = across.filter(x => rows.filter(y => share(x, y) !== null).length > rows.length / 2);
  const [left, right] = [columns[0] ?? 0, columns.at(-1) ?? 0];
  let sum = 0;
  for (const y of rows) {
    for (let x = left; x <= right; x += 1) {
      // An edge stands on a bar.
      sum += share(x, y) ?? 1;
    }
  }
  return sum / (rows.length * (right - left + 1));
}

function pixelsOf(canvas: HTMLCanvasElement): ImageData {
  const copy = document.createElement('canvas');
  copy.width = canvas.width;
  copy.height = canvas.height;
  const context = copy.getContext('2d', { willReadFrequently: true });
  if (context === null) {
    throw new Error('this page has no canvas');
  }
  context.drawImage(canvas, 0, 0);
  return context.getImageData(0, 0, copy.width, copy.height);
}

/** Where between ground and bar a pixel lies, 0 to 1; null if it is neither. */
function shareOf(pixel: Pixel, ground: Pixel, bar: Pixel): number | null {
  const step = bar.map((value, i) => value - (ground[i] ?? 0));
  const along = step.reduce((sum, d, i) => sum + d * ((pixel[i] ?? 0) - (ground[i] ?? 0)), 0);
  const share = along / step.reduce((sum, d) => sum + d * d, 0);
  const off = step.reduce((sum, d, i) => sum + Math.abs((pixel[i] ?? 0) - (ground[i] ?? 0) - share * d), 0);
  return off > 6 || share < -0.01 || share > 1.01 ? null : Math.min(Math.max(share, 0), 1);
}
