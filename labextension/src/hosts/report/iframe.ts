/** What a static result's frame and the page around it send each other; a page without our extension sends nothing. */

/** Marks their messages. */
export const KIND = 'taskscope:result';

/** From the frame: the height of its content, 0 before there is any. */
export interface FromFrame {
  readonly kind: typeof KIND;
  readonly height: number;
}

/** From the page: how it looks, and whether the person has unfolded more charts. */
export interface FromPage {
  readonly kind: typeof KIND;
  readonly dark: boolean;
  readonly brief: boolean;
  readonly variables: Readonly<Record<string, string>>;
}

/** What charts use of the page's theme. */
export const VARIABLES = [
  ...['layout-color0', 'layout-color1', 'layout-color2', 'border-color1', 'border-color2', 'ui-font-color1', 'ui-font-color2', 'ui-font-family'],
  ...['brand-color1', 'error-color1', 'success-color1', 'warn-color1', 'code-font-family']
].map(name => `--jp-${name}`);

/** Take the looks of the page around this frame, and call `setBrief` as the person folds more charts there; returns what sends a height. */
export function followPage(setBrief: (brief: boolean) => void, signal: AbortSignal): (height: number) => void {
  const send = (height: number): void => {
    if (window.parent !== window) {
      // Nothing of the recording is in it; a frame without an origin cannot name the page that it is in.
      window.parent.postMessage({ kind: KIND, height } satisfies FromFrame, '*');
    }
  };
  const onMessage = ({ data, source }: MessageEvent<Partial<FromPage> | null>): void => {
    if (source === window.parent && source !== window && data?.kind === KIND) {
      const { style } = document.documentElement;
      Object.entries(data.variables ?? {}).forEach(([name, value]) => { style.setProperty(name, value); });
      style.colorScheme = data.dark === true ? 'dark' : 'light';
      document.body.dataset.jpThemeLight = String(data.dark !== true);
      setBrief(data.brief === true);
    }
  };
  window.addEventListener('message', onMessage, { signal });
  send(0);
  return send;
}
