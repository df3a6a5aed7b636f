/** What of a panel outlives a reload: its pin, and per recorder the span of time and the hidden prefixes. */
import type { IStateDB } from '@jupyterlab/statedb';
import type { ReadonlyPartialJSONValue } from '@lumino/coreutils';

import type { View } from '../../../charts/timeline/time';
import type { TimeAxis } from '../../../charts/timeline/time';
import { Field } from '../../../wire/check';
import type { Pin } from './target';

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

/** Workspaces are files that may come from anywhere: of one that does not fit nothing is used. */
function parse(saved: unknown): PanelMemory {
  try {
    const panel = new Field(saved, 'panel');
    return {
      pin: panel.at('pin').orNull(pin => ({ path: pin.at('path').text(), kernelId: pin.at('kernelId').text() })),
      views: new Map(panel.at('views').list().map(entryOf))
    };
  } catch {
    return NOTHING;
  }
}

function entryOf(entry: Field): [string, ChartView] {
  const [recorder, chart] = entry.tuple(2) as [Field, Field];
  return [recorder.text(), { view: viewOf(chart.at('view')), hidden: chart.at('hidden').list().map(prefix => prefix.text()) }];
}

function viewOf(view: Field): View {
  const kind = view.at('kind').oneOf(['fit', 'follow', 'free']);
  switch (kind) {
    case 'fit':
      return { kind };
    case 'follow':
      return { kind, widthS: view.at('widthS').orNull(widthS => widthS.number()) };
    case 'free': {
      const span = view.at('span');
      const [startS, stopS] = [span.at('startS').number(), span.at('stopS').number()];
      return startS < stopS ? { kind, span: { startS, stopS } } : span.fail('a span that ends after it begins');
    }
  }
}

const SETTLE_MS = 300;

/** How a panel's chart was looked at, per recorder, so that it is found as it was left. */
export class Views {
  /** @param changed is called some time after a gesture */
  constructor(
    saved: ReadonlyMap<string, ChartView>,
    private readonly _changed: () => void
  ) {
    this._hidden = new Map([...saved].map(([recorder, { hidden }]) => [recorder, hidden]));
    this._left = new Map([...saved].map(([recorder, { view }]) => [recorder, view]));
  }

  /** What to keep of it. */
  get all(): ReadonlyMap<string, ChartView> {
    const views = [...this._left, ...[...this._axes].map(([recorder, { view }]) => [recorder, view] as const)];
    return new Map(views.map(([recorder, view]) => [recorder, { view, hidden: this.hidden(recorder) }]));
  }

  /** The time axis of a recorder; changes of its view are noted until `signal` aborts. */
  axis(recorder: string, newAxis: () => TimeAxis, signal: AbortSignal): TimeAxis {
    const axis = this._axes.get(recorder) ?? newAxis();
    const left = this._left.get(recorder);
    if (left !== undefined) {
      axis.show(left);
      this._left.delete(recorder);
    }
    // The one that was looked at last is forgotten last.
    this._axes.delete(recorder);
    this._axes.set(recorder, axis);
    for (const former of [...this._axes.keys()].slice(0, -MAX_VIEWS)) {
      this._axes.delete(former);
      this._hidden.delete(former);
    }
    let { view } = axis;
    axis.subscribe(() => {
      if (axis.view !== view) {
        ({ view } = axis);
        this._soon();
      }
    }, signal);
    return axis;
  }

  hidden(recorder: string): readonly string[] {
    return this._hidden.get(recorder) ?? [];
  }

  setHidden(recorder: string, prefixes: readonly string[]): void {
    this._hidden.set(recorder, prefixes);
    this._soon();
  }

  dispose(): void {
    clearTimeout(this._timer);
  }

  private _soon(): void {
    clearTimeout(this._timer);
    this._timer = setTimeout(this._changed, SETTLE_MS);
  }

  /** Of recorders that have no axis yet: charts come with the first one that is seen. */
  private readonly _left: Map<string, View>;
  private readonly _axes = new Map<string, TimeAxis>();
  private readonly _hidden: Map<string, readonly string[]>;
  private _timer: ReturnType<typeof setTimeout> | undefined;
}
