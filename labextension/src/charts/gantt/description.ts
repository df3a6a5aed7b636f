/** The chart in words: state line, legend, label and tables, kept up to date. */
import type { Translate } from '../../lib/translate';
import type { RunWindow, TaskStore } from '../../store';
import { runsOfOthers } from '../../wire';
import { setText } from '../ui/dom';
import type { Emphasis } from './emphasis';
import type { Legend, PrefixSummary } from './legend';
import { summarise } from './legend';
import type { Scene } from './model';
import type { Parts } from './parts';
import { labelText, stateText } from './words';

const TABLE_MS = 5000;

export class Description {
  prefixes: readonly PrefixSummary[] = [];
  #seen = '';
  #tableMs = -Infinity;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #scene: Scene | null = null;

  constructor(
    private readonly store: TaskStore,
    private readonly window: RunWindow,
    private readonly emphasis: Emphasis,
    private readonly parts: Parts,
    private readonly legend: Legend,
    private readonly fillTables: (prefixes: readonly PrefixSummary[], scene: Scene | null) => void,
    private readonly t: Translate
  ) {}

  /** Say what changed since the last time. */
  refresh(scene: Scene | null): void {
    const seen = `${this.store.version} ${this.emphasis.version} ${scene?.held ?? ''} ${this.window.firstRun}`;
    this.#scene = scene;
    if (this.#seen === seen) {
      return;
    }
    this.#seen = seen;
    const { tables } = this.store;
    const rows = tables.progressIn(this.window);
    const counted = { runs: tables.runsIn(this.window), rows };
    this.prefixes = summarise(rows, runsOfOthers(counted.runs));
    const text = scene === null ? '' : stateText(this.store, scene, counted, this.emphasis.nHidden, this.t);
    setText(this.parts.state, text);
    this.legend.refresh(this.prefixes, this.store.failures(this.window).reduce((n, kind) => n + (kind.status === 'lost' ? kind.n : 0), 0));
    this.#refreshTables();
  }

  /** There is somebody to fill the tables now. */
  tablesAreHere(): void {
    this.fillTables(this.prefixes, this.#scene);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** Tables are for screen readers too, which should not be interrupted ten times a second. */
  #refreshTables(): void {
    const scene = this.#scene;
    const dueMs = this.#tableMs + TABLE_MS - performance.now();
    if (dueMs > 0 && scene?.growing === true) {
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        this.#refreshTables();
      }, dueMs);
      return;
    }
    this.fillTables(this.prefixes, scene);
    if (scene !== null) {
      this.#tableMs = performance.now();
      this.parts.canvas.setAttribute('aria-label', labelText(scene, this.prefixes, this.t));
    }
  }
}
