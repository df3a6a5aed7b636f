/** Keys, what a person reads about them, and what they do: one table. */
import { trans } from '../../lib/translate';
import type { ComponentChildren } from '../ui/render';
import { Fragment } from '../ui/render';

export interface Key {
  /** As events name them; with `Shift+` before those that need it. */
  readonly keys: readonly string[];
  /** As a person reads them. */
  readonly shown: string;
  readonly does: string;
  act(key: string): void;
}

/** What the keys of every track ask for. */
export interface TimeKeys {
  /** Scale by `factor` around a place of the canvas; null: its middle. */
  zoom(factor: number, atPx: number | null): void;
  pan(px: number): void;
  fit(): void;
  toggleFollow(): void;
  /** Show this list, or no longer. */
  help(): void;
}

/** What a track adds: `moves` stand beside those in time. */
export interface OwnKeys {
  readonly moves?: readonly Key[];
  readonly others?: readonly Key[];
}

const PAN_PX = 80;
const ZOOM = 1.5;

/** All keys of a track, in the order in which they are listed. */
export function keyTable(to: TimeKeys, { moves = [], others = [] }: OwnKeys = {}): Key[] {
  return [
    { keys: ['ArrowLeft', 'a', 'A', 'ArrowRight', 'd', 'D'], shown: trans.__('← → or A D'), does: trans.__('move in time'), act: key => { to.pan(['ArrowLeft', 'a', 'A'].includes(key) ? -PAN_PX : PAN_PX); } },
    { keys: ['w', 'W', '+', '=', 's', 'S', '-', '_'], shown: trans.__('+ − or W S'), does: trans.__('zoom'), act: key => { to.zoom(['w', 'W', '+', '='].includes(key) ? 1 / ZOOM : ZOOM, null); } },
    ...moves,
    { keys: ['Home', '0'], shown: trans.__('Home'), does: trans.__('show everything'), act: () => { to.fit(); } },
    { keys: ['f', 'F', 'End'], shown: 'F', does: trans.__('follow the present'), act: () => { to.toggleFollow(); } },
    ...others,
    { keys: ['?'], shown: '?', does: trans.__('this list'), act: () => { to.help(); } }
  ];
}

/** Do what a key stands for; false if it stands for nothing. */
export function press(table: readonly Pick<Key, 'keys' | 'act'>[], key: string, shift = false): boolean {
  const named = (name: string): (typeof table)[number] | undefined => table.find(({ keys }) => keys.includes(name));
  const found = (shift ? named(`Shift+${key}`) : undefined) ?? named(key);
  found?.act(key);
  return found !== undefined;
}

interface KeyHelpProps {
  readonly keys: readonly Pick<Key, 'shown' | 'does'>[];
  readonly class: string;
  readonly hidden: boolean;
}

/** The table, for those who ask for it. */
export function KeyHelp({ keys, ...attributes }: KeyHelpProps): ComponentChildren {
  return (
    <dl {...attributes} aria-label={trans.__('Keyboard shortcuts')}>
      {keys.map(({ shown, does }) => <Fragment><dt>{shown}</dt><dd>{does}</dd></Fragment>)}
    </dl>
  );
}
