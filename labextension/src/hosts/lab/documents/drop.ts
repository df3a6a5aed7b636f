/** Files dropped from the desktop anywhere but on the file browser, which takes them itself: upload and open. */
import { EXTENSION } from './factory';

export interface DropTarget {
  /** Put a file where the person is in the file browser; gives its path. */
  upload(file: File): Promise<string>;
  open(path: string): Promise<unknown>;
  /** Say that it did not work; the reason is what `upload` or `open` rejected with. */
  failed(reason: unknown): void;
}

/** Have recordings that are dropped on `el` opened, until `signal` aborts; all other files are left alone. */
export function openDropped(el: HTMLElement, target: DropTarget, signal: AbortSignal): void {
  el.addEventListener('dragover', event => {
    // What is dragged has no name yet; without this there will be no drop to look at.
    if (!event.defaultPrevented && event.dataTransfer?.types.includes('Files') === true) {
      event.preventDefault();
      event.dataTransfer.dropEffect = 'copy';
    }
  }, { signal });
  el.addEventListener('drop', event => {
    const files = [...(event.dataTransfer?.files ?? [])].filter(file => file.name.toLowerCase().endsWith(EXTENSION));
    if (!event.defaultPrevented && files.length > 0) {
      event.preventDefault();
      void openAll(files, target);
    }
  }, { signal });
}

async function openAll(files: readonly File[], target: DropTarget): Promise<void> {
  for (const file of files) {
    try {
      await target.open(await target.upload(file));
    } catch (reason) {
      target.failed(reason);
    }
  }
}
