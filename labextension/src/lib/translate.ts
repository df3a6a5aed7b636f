/** User-visible text: a page has one language, which JupyterLab's translator gives; everywhere else it is English. */

/** What of JupyterLab's bundles is used; its extractor of strings knows `trans.__('…')` and `trans._n('…', '…', n)` by these names. */
export interface TranslationBundle {
  /** `%1`, `%2`, … in a message stand for the values. */
  __(message: string, ...values: string[]): string;
  /** `%1` stands for `n`, bare; `%2`, … for the values. */
  _n(one: string, many: string, n: number, ...values: string[]): string;
}

export const english: TranslationBundle = {
  __: filled,
  _n: (one, many, n, ...values) => filled(n === 1 ? one : many, String(n), ...values)
};

/** The page's translator. */
export let trans: TranslationBundle = english;

/** Have the page speak the language of a bundle. */
export function setTranslator(bundle: TranslationBundle): void {
  trans = bundle;
}

function filled(message: string, ...values: string[]): string {
  return message.replace(/%(\d)/g, (whole, place: string) => values[Number(place) - 1] ?? whole);
}
