/** Read a saved recording in the browser; whatever the file holds, nothing of it is run. */
import { Assembly } from './assembly';
import { CutOffError, DamagedFileError } from './errors';
import { readFrames } from './frames';
import type { FileRecording } from './recording';

/** Most bytes that a file may unpack to here; one million tasks take about 60 MB. */
export const MAX_BYTES = 2 ** 30;

/**
 * Return the recording in a file.
 *
 * A file that ends early is no error: what it holds is returned, with a `problem` that says so. With `partial` so
 * is what stands before the damage of a damaged file.
 *
 * Rejects with a DamagedFileError otherwise.
 */
export async function readRecording(
  file: Uint8Array<ArrayBuffer>,
  { partial = false, maxBytes = MAX_BYTES }: { partial?: boolean; maxBytes?: number } = {}
): Promise<FileRecording> {
  const assembly = new Assembly();
  let problem: string | null = null;
  try {
    for await (const frame of readFrames(file, maxBytes)) {
      assembly.add(frame);
    }
  } catch (error) {
    const isEarlyEnd = error instanceof CutOffError || (partial && error instanceof DamagedFileError);
    if (!assembly.begun || !isEarlyEnd) {
      throw error;
    }
    problem = error.message;
  }
  return assembly.recording(problem);
}
