/** What is wrong with a file; the message completes "cannot show it: ". */

/** A file that cannot be read: damaged, of another tool, of a newer version, or larger than it may be. */
export class DamagedFileError extends Error {
  override readonly name: string = 'DamagedFileError';
}

/** A file that ends before its last part, as one does whose process was killed. */
export class CutOffError extends DamagedFileError {
  override readonly name = 'CutOffError';
}

/** @throws DamagedFileError naming the expectation, unless the condition holds. */
export function demand(condition: boolean, expectation: string): asserts condition {
  if (!condition) {
    throw new DamagedFileError(`it contradicts itself: ${expectation}`);
  }
}
