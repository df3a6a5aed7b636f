/**
 * The one plain script of a page: it unpacks the packed one, and lets it run.
 *
 * That becomes an element of its own, which the page's policy knows by its hash, so that none has to allow `eval`.
 */
async function load(): Promise<void> {
  const packed = document.querySelector('script.taskscope-script')?.textContent ?? '';
  const bytes = Uint8Array.from(atob(packed), character => character.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  const script = document.createElement('script');
  script.textContent = await new Response(unpacked).text();
  // It runs as it is added; an older browser does not know its syntax.
  const note = ({ error }: ErrorEvent): void => { sayWhy(error); };
  addEventListener('error', note);
  document.body.append(script);
  removeEventListener('error', note);
}

/** Below the picture, which is there without scripts and stays. */
function sayWhy(error: unknown): void {
  const note = document.createElement('p');
  note.className = 'taskscope-still';
  note.textContent = 'DecompressionStream' in window && !(error instanceof SyntaxError)
    ? `The interactive chart cannot be unpacked (${String(error)}). The picture shows the same tasks.`
    : 'The interactive chart needs a newer browser (Chrome 97, Firefox 113, Safari 16.4). The picture shows the same tasks.';
  (document.querySelector('.taskscope-place') ?? document.body).append(note);
}

load().catch(sayWhy);
