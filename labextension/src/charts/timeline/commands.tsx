/** What a person can do to a chart: one list, from which its buttons, its menu, its keys and the list of its keys are made. */
import type { Span } from '../../lib/span';
import { clamp, widthS } from '../../lib/span';
import { trans } from '../../lib/translate';
import type { PopoverProps } from '../ui/popover';
import { Popover } from '../ui/popover';
import type { ComponentChildren } from '../ui/render';
import { Fragment } from '../ui/render';
import type { ButtonSpec, MenuSpec } from '../ui/toolbar';
import type { Navigator, TimeAxis } from './time';

/** The groups of a menu, in its order. */
const GROUPS = ['view', 'computes', 'save', 'help'] as const;
type Group = (typeof GROUPS)[number];

export interface Command extends Omit<ButtonSpec, 'text' | 'act'> {
  /** What its button or its line in the menu reads; left out: it has keys only. */
  readonly text?: string;
  /** Where that stands: among the buttons, or in a group of the menu. */
  readonly at?: 'bar' | Group;
  /** Its keys as events name them; with `Shift+` before those that need it. */
  readonly keys?: readonly string[];
  /** The keys as a person reads them, and what they do. */
  readonly shown?: string;
  readonly does?: string;
  readonly run: (key: string) => void;
}

/** What the keys of every track ask for. */
export interface TimeKeys {
  /** Scale by `factor` around a place of the canvas; null: its middle. */
  zoom(factor: number, atPx: number | null): void;
  pan(px: number): void;
  fit(): void;
  toggleFollow(): void;
}

const PAN_PX = 80;
const ZOOM = 1.5;

/** How a view of time stands. */
export interface TimeState {
  /** Whether this track has the buttons for all of the timeline. */
  readonly leads: boolean;
  readonly isFollowing: boolean;
  /** Whether nothing can come any more that could be followed. */
  readonly isOver: boolean;
}

export function timeCommands(to: TimeKeys, { leads, isFollowing, isOver }: TimeState): Command[] {
  const bar = leads ? { at: 'bar' } as const : {};
  const rare = { ...bar, isRare: true };
  return [
    { keys: ['ArrowLeft', 'a', 'A', 'ArrowRight', 'd', 'D'], shown: trans.__('← → or A D'), does: trans.__('move in time'), run: key => { to.pan(['ArrowLeft', 'a', 'A'].includes(key) ? -PAN_PX : PAN_PX); } },
    { keys: ['w', 'W', '+', '=', 's', 'S', '-', '_'], shown: trans.__('+ − or W S'), does: trans.__('zoom'), run: key => { to.zoom(['w', 'W', '+', '='].includes(key) ? 1 / ZOOM : ZOOM, null); } },
    { text: '−', label: trans.__('Zoom out'), ...rare, run: () => { to.zoom(2, null); } },
    { text: '+', label: trans.__('Zoom in'), ...rare, run: () => { to.zoom(0.5, null); } },
    {
      text: trans.__('Fit'), label: trans.__('Fit: show everything (Home)'), ...bar,
      keys: ['Home', '0'], shown: trans.__('Home'), does: trans.__('show everything'), run: () => { to.fit(); }
    },
    {
      text: trans.__('Follow'), label: trans.__('Follow live (F)'), ...rare, pressed: isFollowing, hidden: isOver && !isFollowing,
      keys: ['f', 'F', 'End'], shown: 'F', does: trans.__('follow the present'), run: () => { to.toggleFollow(); }
    }
  ];
}

/** Steps of an end of the selected time over all that is in sight. */
const RANGE_STEPS = 50;

/** The commands of tracks that tell what ran in the time that is selected. */
export function rangeCommands({ axis, navigator }: { readonly axis: TimeAxis; readonly navigator: Navigator }): Command[] {
  const move = (edge: keyof Span, direction: 1 | -1): void => {
    const { time } = navigator;
    if (time !== null) {
      const { bounds, span } = time;
      const range = axis.range ?? span;
      const stepS = widthS(span) / RANGE_STEPS;
      const toS = range[edge] + direction * stepS;
      axis.select(edge === 'startS'
        ? { ...range, startS: clamp(toS, bounds.startS, Math.max(range.stopS - stepS, bounds.startS)) }
        : { ...range, stopS: clamp(toS, Math.min(range.startS + stepS, bounds.stopS), bounds.stopS) });
    }
  };
  return [
    { keys: ['x', 'X'], shown: 'X', does: trans.__('select the time in sight: what ran there'), run: () => { axis.select(navigator.time?.span ?? null); } },
    { keys: ['Shift+ArrowLeft', 'Shift+ArrowRight'], shown: trans.__('Shift+← →'), does: trans.__('move the end of the selected time'), run: key => { move('stopS', key === 'ArrowLeft' ? -1 : 1); } },
    { keys: ['Shift+a', 'Shift+A', 'Shift+d', 'Shift+D'], shown: trans.__('Shift+A D'), does: trans.__('move its beginning'), run: key => { move('startS', /a/i.test(key) ? -1 : 1); } }
  ];
}

/** Run the command that a key stands for; false if it stands for none. */
export function press(commands: readonly Command[], key: string, shift = false): boolean {
  const named = (name: string): Command | undefined => commands.find(({ keys }) => keys?.includes(name));
  const found = (shift ? named(`Shift+${key}`) : undefined) ?? named(key);
  found?.run(key);
  return found !== undefined;
}

export function buttonsAt(commands: readonly Command[], place: NonNullable<Command['at']>): ButtonSpec[] {
  return commands.flatMap(({ at, text, run, ...look }) => (at === place && text !== undefined ? [{ ...look, text, act: () => { run(''); } }] : []));
}

/** What a menu offers, as commands of one of its groups. */
export function commandsOf(specs: readonly ButtonSpec[], at: Group): Command[] {
  return specs.map(({ act, ...look }) => ({ ...look, at, run: act }));
}

export function menuOf(commands: readonly Command[]): MenuSpec {
  const labels = { view: trans.__('View'), computes: trans.__('Computes'), save: trans.__('Copy and save'), help: trans.__('Help') };
  const groups = GROUPS.map(at => ({ label: labels[at], items: buttonsAt(commands, at) })).filter(({ items }) => items.length > 0);
  return { text: '⋯', label: trans.__('More actions'), groups };
}

interface KeyHelpProps extends Pick<PopoverProps, 'isOpen' | 'opener' | 'close'> {
  readonly commands: readonly Command[];
}

export function KeyHelp({ commands, ...props }: KeyHelpProps): ComponentChildren {
  return (
    <Popover {...props} class="tsk-track-help" role="dialog" label={trans.__('Keyboard shortcuts')}>
      <dl>{commands.map(({ shown, does }) => shown !== undefined && <Fragment><dt>{shown}</dt><dd>{does}</dd></Fragment>)}</dl>
    </Popover>
  );
}
