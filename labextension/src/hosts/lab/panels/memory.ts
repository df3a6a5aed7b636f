/** What of a panel outlives a reload: its pin, and per recorder the span of time and the hidden prefixes. */
import type { IStateDB } from '@jupyterlab/statedb';
import type { ReadonlyPartialJSONValue } from '@lumino/coreutils';

import type { View } from '../../../charts/timeline';
import type { Pin } from './subject';

export interface ChartView {
  readonly view: View;
  readonly hidden: readonly string[];
}

export interface PanelMemory {
  readonly pin: Pin | null;
  /** By recorder, the one that was looked at last at the end. */
  readonly views: ReadonlyMap<string, ChartView>;
}

export const NOTHING: PanelMemory = { pin: null, views: new Map() };

/** Views of more recorders are forgotten. */
const MAX_VIEWS = 8;

export class Memory {
  /** @param db null: nothing outlives the page */
  constructor(private readonly _db: IStateDB | null) {}

  async load(panel: string): Promise<PanelMemory> {
    return this._db === null ? NOTHING : parse(await this._db.fetch(keyOf(panel)));
  }

  save(panel: string, { pin, views }: PanelMemory): void {
    const saved = { pin, views: [...views].slice(-MAX_VIEWS) };
    void this._db?.save(keyOf(panel), saved as unknown as ReadonlyPartialJSONValue);
  }

  forget(panel: string): void {
    void this._db?.remove(keyOf(panel));
  }
}

function keyOf(panel: string): string {
  return `taskscope-panel:${panel}`;
}

/** Workspaces are files that may come from anywhere: what does not fit is left out. */
function parse(saved: unknown): PanelMemory {
  const { pin, views } = fields(saved);
  return { pin: parsePin(pin), views: new Map((Array.isArray(views) ? views : []).flatMap(parseEntry)) };
}

export function parsePin(saved: unknown): Pin | null {
  const { path, kernelId } = fields(saved);
  return typeof path === 'string' && typeof kernelId === 'string' ? { path, kernelId } : null;
}

function parseEntry(saved: unknown): [string, ChartView][] {
  if (!Array.isArray(saved) || typeof saved[0] !== 'string') {
    return [];
  }
  const { view, hidden } = fields(saved[1]);
  const parsed = parseView(view);
  const prefixes = Array.isArray(hidden) ? hidden.filter(prefix => typeof prefix === 'string') : [];
  return parsed === null ? [] : [[saved[0], { view: parsed, hidden: prefixes }]];
}

function parseView(saved: unknown): View | null {
  const { kind, widthS, span } = fields(saved);
  const { startS, stopS } = fields(span);
  switch (kind) {
    case 'fit':
      return { kind };
    case 'follow':
      return { kind, widthS: isFinite(widthS) && widthS > 0 ? widthS : null };
    case 'free':
      return isFinite(startS) && isFinite(stopS) && startS < stopS ? { kind, span: { startS, stopS } } : null;
    default:
      return null;
  }
}

function fields(saved: unknown): Record<string, unknown> {
  return typeof saved === 'object' && saved !== null ? (saved as Record<string, unknown>) : {};
}

function isFinite(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}
