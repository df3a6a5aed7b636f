/** User-visible text; the hosts pass JupyterLab's translator, everything else gets English. */

/** `%1`, `%2`, … in `message` stand for the values. */
export type Translate = (message: string, ...values: string[]) => string;

export const english: Translate = (message, ...values) =>
  message.replace(/%(\d)/g, (whole, place: string) => values[Number(place) - 1] ?? whole);
