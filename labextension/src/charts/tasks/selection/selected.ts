/** What is said and drawn of the selected task: its facts, its dependencies, and the cell that computed it. */
import { formatDuration, printable } from '../../../lib/format';
import { trans } from '../../../lib/translate';
import type { Links, TaskStore } from '../../../store';
import type { RevealCell } from '../../ui/cell-link';
import type { Selection } from './card';
import type { Found, FoundOpen, FoundTask } from '../finding/find-task';
import type { Picker } from '../finding/selection';
import type { Neighbours } from './neighbours';
import { neighboursOf } from './neighbours';
import { linesText, relationsOf, unknownText } from './relations';
import type { Relation, Scene } from '../scene';
import { statusWord, tipOf } from '../words';

export class SelectedTask {
  /** Null: no task of these computes is selected. */
  card: Selection | null = null;
  /** What it depends on, and what needs it; empty while that is not known. */
  neighbours: readonly Neighbours[] = [];
  /** Grows whenever `neighbours` are others. */
  version = 0;
  /** Lines to what it needs and from what needs it. */
  relations: readonly Relation[] = [];
  /** In one sentence, to be read aloud. */
  said = '';
  /** Whether the lines are wanted. */
  isRelating = false;
  #links: Links | null = null;
  #news = -1;

  constructor(
    private readonly store: TaskStore,
    private readonly picker: Picker,
    private readonly reveal: RevealCell | undefined
  ) {}

  update(scene: Scene): void {
    const { store } = this;
    const selected = this.picker.selected(scene);
    if (selected === null) {
      const { current } = store.selection;
      this.clear();
      this.said = current === null ? '' : trans.__('%1 is not among these tasks', current.key.slice(0, 80));
      return;
    }
    const links = selected.kind === 'ended' ? store.links(selected.ref.row) : null;
    this.#meet(links, scene);
    const isDrawn = this.isRelating && links !== null && selected.kind === 'ended';
    this.relations = isDrawn ? relationsOf(store, selected, links) : [];
    const note = links === null ? '' : links.kind !== 'known' ? unknownText(links) : isDrawn ? linesText(links, this.relations) : '';
    const run = store.tables.runs.get(selected.kind === 'ended' ? selected.detail.run : selected.bar.task.run);
    this.card = {
      facts: tipOf(selected, scene, store.tables),
      colour: colourOf(store, selected) ?? '',
      note,
      isOpen: selected.kind === 'open',
      showCell: run === undefined ? null : (this.reveal?.(run) ?? null)
    };
    this.said = `${this.#sentence(selected)} ${this.card.note}`.trim();
  }

  clear(): void {
    this.card = null;
    this.relations = [];
    this.#meet(null, null);
  }

  /** Bring the neighbours up to date, where links or tasks are others. */
  #meet(links: Links | null, scene: Scene | null): void {
    if (links !== this.#links || (links !== null && this.#news !== this.store.version)) {
      [this.#links, this.#news] = [links, this.store.version];
      this.neighbours = links === null || scene === null ? [] : neighboursOf(links, scene, this.picker);
      this.version += 1;
    }
  }

  #sentence(found: FoundTask | FoundOpen): string {
    if (found.kind === 'open') {
      return trans.__('selected %1 on %2: running', printable(found.bar.task.key, 80), found.label);
    }
    const { key, status, startS, stopS } = found.detail;
    return trans.__('selected %1 on %2: %3 after %4', printable(key, 80), found.label, statusWord(status), formatDuration(stopS - startS));
  }
}

/** The colour of what was found; null: it has none. */
export function colourOf(store: TaskStore, found: Found): string | null {
  const { tables } = store;
  switch (found.kind) {
    case 'ended':
      return store.colour(tables.prefixId(found.detail.prefix));
    case 'open':
      return store.colour(tables.prefixId(tables.groups[found.bar.task.group]?.prefix ?? ''));
    case 'worker':
      return null;
  }
}
