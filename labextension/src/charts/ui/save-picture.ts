/** Saving a canvas as a PNG file. */

/** Offer a canvas as a PNG file of that name; rejects where the picture cannot be made. */
export async function savePng(canvas: HTMLCanvasElement, name: string): Promise<void> {
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
