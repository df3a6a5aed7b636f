/** The chart in words: state line, legend, label and table, kept up to date. */
import type { Translate } from '../../lib/translate';
import type { RunWindow, TaskStore } from '../../store';
import { setText } from '../ui/dom';
import type { PrefixSummary } from './legend';
import { fillLegend, fillTable, summarise } from './legend';
import type { Scene } from './model';
import type { Parts } from './parts';
import { labelText, stateText } from './words';

const TABLE_MS = 5000;

export class Description {
  #seenVersion = -1;
  #tableMs = -Infinity;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #latest: { scene: Scene | null; prefixes: PrefixSummary[] } = { scene: null, prefixes: [] };

  constructor(
    private readonly store: TaskStore,
    private readonly window: RunWindow,
    private readonly parts: Parts,
    private readonly t: Translate
  ) {}

  /** Say what changed since the last time. */
  refresh(scene: Scene | null): void {
    if (this.#seenVersion === this.store.version) {
      return;
    }
    this.#seenVersion = this.store.version;
    const prefixes = summarise(this.store.tables.progressIn(this.window));
    this.#latest = { scene, prefixes };
    setText(this.parts.state, scene === null ? '' : stateText(this.store, scene, prefixes, this.t));
    const colours = this.store.colours(this.window);
    const colourOf = (prefix: string): string => colours.colour(this.store.tables.prefixId(prefix));
    fillLegend(this.parts.legend, prefixes, colourOf, this.t);
    this.#refreshTable();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** The table is for screen readers, which should not be interrupted ten times a second. */
  #refreshTable(): void {
    const { scene, prefixes } = this.#latest;
    const dueMs = this.#tableMs + TABLE_MS - performance.now();
    if (dueMs > 0 && scene?.growing === true) {
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        this.#refreshTable();
      }, dueMs);
      return;
    }
    fillTable(this.parts.table, prefixes, this.t);
    if (scene !== null) {
      this.#tableMs = performance.now();
      this.parts.canvas.setAttribute('aria-label', labelText(scene, prefixes, this.t));
    }
  }
}
