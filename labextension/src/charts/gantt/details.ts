/** The details of what is under the pointer, and of what is selected with its dependencies. */
import { printable, formatDuration } from '../../lib/format';
import type { Translate } from '../../lib/translate';
import type { RevealCell } from '../ui/cell-link';
import { setText } from '../ui/dom';
import { makeButton, setPressed } from '../ui/toolbar';
import type { Actions, Stage } from './actions';
import type { BarLayerTip } from './bar-layer';
import { Card } from './card';
import type { Found, FoundOpen, FoundTask } from './find-task';
import type { Scene } from './model';
import type { Overlay } from './picture';
import { paintRelations, relationsOf, relationsText } from './relations';
import { Tooltip, tipOf } from './tooltip';

export interface DetailsHost extends Stage {
  readonly actions: Actions;
  readonly signal: AbortSignal;
  readonly reveal: RevealCell;
  colourOf(prefix: string): string;
}

export class Details {
  readonly #tooltip = new Tooltip();
  readonly #card: Card;
  readonly #relate: HTMLButtonElement;
  readonly #toCell: HTMLButtonElement;
  #showCell: (() => void) | null = null;

  constructor(private readonly host: DetailsHost) {
    const { t, signal, parts, actions } = host;
    const relate = t('Dependencies: draw what it needs and what needs it (R)');
    this.#relate = makeButton(t('Dependencies'), relate, () => { actions.toggleRelations(); }, signal);
    this.#toCell = makeButton(t('Go to the cell'), t('Go to the cell that computed it'), () => { this.#showCell?.(); }, signal);
    const zoom = t('Zoom to it: the selected task fills the chart (Z)');
    const close = (): void => {
      actions.clearSelection();
      parts.canvas.focus();
    };
    this.#card = new Card(parts.card, [
      this.#relate,
      this.#toCell,
      makeButton(t('Zoom to it'), zoom, () => { actions.zoomToSelected(); }, signal),
      makeButton(t('Close'), t('Close: select nothing (Escape)'), close, signal)
    ]);
    parts.plot.append(this.#tooltip.el);
  }

  /** There is no picture. */
  hide(): void {
    this.#tooltip.hide();
    this.#card.hide();
  }

  /** Say what is under the pointer, beside it; null: nothing is. */
  point(found: Found | BarLayerTip | null, scene: Scene): void {
    const { picker: { pointer }, store, t } = this.host;
    if (found === null || pointer === null) {
      this.#tooltip.hide();
    } else if (found.kind === 'layer') {
      this.#tooltip.show(found.content, found.colour, pointer);
    } else {
      this.#tooltip.show(tipOf(found, scene, store.tables, t), this.#colourOf(found), pointer);
    }
  }

  /** Say what is selected; returns the lines to what it needs and to what needs it. */
  select(selected: FoundTask | FoundOpen | null, scene: Scene): Overlay | null {
    const { store, parts: { said }, t, relating, reveal } = this.host;
    if (selected === null) {
      const { current } = store.selection;
      this.#card.hide();
      setText(said, current === null ? '' : t('%1 is not among these tasks', current.key.slice(0, 80)));
      return null;
    }
    const links = relating && selected.kind === 'ended' ? store.links(selected.ref.row) : null;
    const relations = links === null || selected.kind === 'open' ? [] : relationsOf(store, selected, links);
    const note = links === null ? '' : relationsText(links, relations, t);
    const run = store.tables.runs.get(selected.kind === 'ended' ? selected.detail.run : selected.bar.task.run);
    this.#showCell = run === undefined ? null : reveal(run);
    setPressed(this.#relate, relating);
    this.#relate.disabled = selected.kind === 'open';
    this.#toCell.hidden = this.#showCell === null;
    this.#card.show(tipOf(selected, scene, store.tables, t), this.#colourOf(selected) ?? '', note);
    setText(said, `${selectionText(selected, t)} ${note}`.trim());
    return relations.length === 0 ? null : (context, picture) => { paintRelations(context, picture, relations); };
  }

  #colourOf(found: Found): string | null {
    const { groups } = this.host.store.tables;
    switch (found.kind) {
      case 'ended':
        return this.host.colourOf(found.detail.prefix);
      case 'open':
        return this.host.colourOf(groups[found.bar.task.group]?.prefix ?? '');
      case 'worker':
        return null;
    }
  }
}

/** The selected task in one sentence. */
function selectionText(found: FoundTask | FoundOpen, t: Translate): string {
  if (found.kind === 'open') {
    return t('selected %1 on %2: running', printable(found.bar.task.key, 80), found.label);
  }
  const { key, status, startS, stopS } = found.detail;
  return t('selected %1 on %2: %3 after %4', printable(key, 80), found.label, t(status), formatDuration(stopS - startS));
}
