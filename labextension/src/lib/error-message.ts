/**
 * What a thrown value says: a module of its own, as JupyterLab loads it at its start and the formats of numbers
 * only with the first chart.
 */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
