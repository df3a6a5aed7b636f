/** What the selected task needs and what needs it: listed as buttons that lead there, and stepped to by keys. */
import { formatCount, printable } from '../../../lib/format';
import { trans } from '../../../lib/translate';
import type { Link, Links } from '../../../store';
import { MAX_LINKS } from '../../../wire';
import type { ComponentChildren } from '../../ui/render';
import type { FoundOpen, FoundTask } from '../finding/find-task';
import type { Picker } from '../finding/selection';
import { openOf, placeOfBar } from '../finding/selection';
import type { Scene } from '../scene';

export type Side = 'dependency' | 'dependent';

/** The task at the other end of a dependency. */
export interface Neighbour {
  readonly key: string;
  /** Null: nothing of it can be selected, for it is data, has not begun, or is not held. */
  readonly task: FoundTask | FoundOpen | null;
}

/** Those of a task on one side; `total` are of all, of which not more are listed than fit. */
export interface Neighbours {
  readonly side: Side;
  readonly total: number;
  readonly listed: readonly Neighbour[];
}

/** What a task depends on, the last to end first, and what needs it, the first to begin first: who waited for whom. */
export function neighboursOf(links: Links, scene: Scene, picker: Picker): readonly Neighbours[] {
  if (links.kind !== 'known') {
    return [];
  }
  const listed = (list: readonly Link[], rank: (task: FoundTask | FoundOpen) => number): Neighbour[] => {
    const rankOf = ({ task }: Neighbour): number => (task === null ? Number.MAX_VALUE : rank(task));
    return list.map(({ key, place }) => {
      const ended = place === null ? null : picker.ended(place, scene);
      return { key: ended?.detail.key ?? key, task: ended ?? openOf(scene, key) };
    }).sort((a, b) => rankOf(a) - rankOf(b));
  };
  return [
    { side: 'dependency', total: links.nDependencies, listed: listed(links.dependencies, task => -placeOfBar(task, scene.nowS).stopS) },
    { side: 'dependent', total: links.nDependents, listed: listed(links.dependents, task => placeOfBar(task, scene.nowS).startS) }
  ];
}

function heading({ side, total }: Neighbours): string {
  const n = formatCount(total);
  return side === 'dependency' ? trans._n('Depends on %2 task', 'Depends on %2 tasks', total, n) : trans._n('Needed by %2 task', 'Needed by %2 tasks', total, n);
}

/** What became of those that are not listed; empty: all are. */
function unlistedText({ total, listed }: Neighbours): string {
  const n = total - listed.length;
  const text = listed.length >= MAX_LINKS
    ? trans.__('and %1 more: at most %2 are listed', formatCount(n), formatCount(MAX_LINKS))
    : trans.__('and %1 of which there is nothing to show: data, or tasks that did not run', formatCount(n));
  return n === 0 ? '' : text;
}

interface NeighbourListProps {
  readonly neighbours: Neighbours;
  readonly goTo: (task: FoundTask | FoundOpen) => void;
}

export function NeighbourList({ neighbours, goTo }: NeighbourListProps): ComponentChildren {
  const title = heading(neighbours);
  const unlisted = unlistedText(neighbours);
  return (
    <div class="tsk-gantt-links">
      <span>{title}</span>
      <ul aria-label={title} hidden={neighbours.listed.length === 0}>
        {neighbours.listed.map(({ key, task }) => (
          <li>
            {task === null
              ? <span title={trans.__('Data, not begun, or no longer kept: there is nothing to select')}>{printable(key, 60)}</span>
              : <button type="button" title={printable(key, 400)} onClick={() => { goTo(task); }}>{printable(key, 60)}</button>}
          </li>
        ))}
      </ul>
      {unlisted !== '' && <span>{unlisted}</span>}
    </div>
  );
}
