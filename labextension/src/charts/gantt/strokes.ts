/** Lines and shapes that several layers of the canvas draw. */

export function line(context: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}

/** Fill and outline a closed shape. */
export function shape(context: CanvasRenderingContext2D, corners: readonly (readonly [x: number, y: number])[]): void {
  context.beginPath();
  corners.forEach(([x, y], i) => {
    if (i === 0) {
      context.moveTo(x, y);
    } else {
      context.lineTo(x, y);
    }
  });
  context.closePath();
  context.fill();
  context.stroke();
}

/** Draw only inside of a box. */
export function clipped(context: CanvasRenderingContext2D, box: readonly [x: number, y: number, width: number, height: number], draw: () => void): void {
  context.save();
  context.beginPath();
  context.rect(...box);
  context.clip();
  draw();
  context.restore();
}
