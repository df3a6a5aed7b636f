/**
 * The contract of a track: one row of charts on the timeline.
 *
 * The timeline owns time, gestures, keys, buttons, elements and what leaves it; a track says how high it is, draws
 * itself, finds what is under a point, and has words for what it shows. To add one, write a class for this and name
 * it in `../tracks.ts`; `ValueTrack` is what most begin from.
 */
import type { Span } from '../../lib/span';
import type { Theme } from '../../lib/theme';
import type { TaskStore } from '../../store';
import type { CanvasPoint } from '../ui/dom';
import type { Exporter, LegendEntry } from '../ui/export';
import type { Keeping } from '../ui/keeping';
import type { SavePicture } from '../ui/picture';
import type { ComponentChildren } from '../ui/render';
import type { TextTable } from '../ui/text-table';
import type { Command } from './commands';
import type { Box, Brush, Room } from './drawing';
import type { Navigator, ShownRuns, TimeAxis, ShownTime } from './time';

/** What is said of a place, beside it: facts of one thing, or what there is at a time, a line each. */
export type Tip =
  | { readonly kind: 'facts'; readonly facts: Facts; readonly colour: string | null }
  | { readonly kind: 'reading'; readonly lines: readonly string[] };

export interface Facts {
  readonly key: string;
  readonly rows: readonly (readonly [label: string, value: string])[];
  readonly note: string | null;
}

/** Whether what was drawn is all: the next frame goes on with it, or it can be drawn more exactly once nothing moves. */
export type Drawn = 'exact' | 'unfinished' | 'approximate';

/** How much of a track is in the page: all, its numbers in one line, or nothing. */
export type Part = 'all' | 'head' | 'none';

export interface Track {
  /** Of the files it is saved in. */
  readonly name: string;
  /** What it is, for those who do not see it. */
  readonly label: string;
  /** Classes of its part of the page; the first is what the classes of the parts begin with. */
  readonly classes: readonly [prefix: string, ...others: string[]];
  readonly css: string;
  /** How much of it a brief view shows, its numbers at least; left out: nothing. */
  readonly inBrief?: Exclude<Part, 'none'>;

  /** Bring everything up to date with the store; returns what to say where there is nothing to draw, else null. */
  update(time: ShownTime | null): string | null;
  /** What its words, tables and elements are made of, after `update`: they are made anew where any of it is another. */
  shown(): readonly unknown[];

  /** How much room its labels ask for left of the plot. */
  gutterPx(widthPx: number): number;
  /** @param isBrief whether it is in a brief view, which is low */
  heightPx(isBrief: boolean): number;
  /** Draw onto an empty canvas; the time axis and the cursor are the timeline's. */
  draw(brush: Brush): Drawn;
  /** What there is at a point; null: the pointer is elsewhere, or on nothing. Changes nothing that is drawn. */
  hit(point: CanvasPoint | null, timeS: number | null, room: Room, time: ShownTime): Tip | null;

  /** In a line, for a picture of it. */
  title(): string;
  /** In a sentence, for those who do not see it. */
  description(time: ShownTime): string;
  legend(): readonly LegendEntry[];
  /** The same as tables; the same array while they are the same, where they take long to make. */
  tables(): readonly TextTable[];

  /** Elements above it, under it, and over its canvas. */
  head(): ComponentChildren;
  foot(): ComponentChildren;
  bar?(): ComponentChildren;
  overlay?(room: Room): ComponentChildren;
  /** What was done, to be read aloud. */
  said?(): string;
  /** Whether it is not in the page at all, for there never was anything of the kind. */
  isAbsent?(): boolean;

  /** What a person can do to it, besides what the timeline offers for all tracks. */
  commands(): readonly Command[];
  /** Whether its width is no time: it has no ruler, no cursor in time, and no gestures and keys that move in time. */
  readonly isTimeless?: true;
  /** Whether it tells what ran in the range of time that a person selects. */
  readonly tellsRange?: true;
  /** Whether a drag chooses a span even without shift. */
  isBoxing?(): boolean;
  click?(point: CanvasPoint): void;
  /** What the pointer is on, after `hit`; null: nothing that could be outlined. */
  hovered?(room: Room): Box | null;
  /** How the pointer looks after `hit`. */
  cursor?(): string;
}

/** What a timeline and its tracks have in common. */
export interface TimelineParts {
  readonly store: TaskStore;
  readonly runRange: ShownRuns;
  readonly axis: TimeAxis;
  readonly navigator: Navigator;
  readonly signal: AbortSignal;
  /** Paint soon. */
  request(): void;
}

export interface TrackContext extends TimelineParts {
  readonly exporter: Exporter;
  /** Bring the elements up to date now, not with the next picture. */
  render(): void;
  theme(): Theme;
  /** Have keys go to the canvas. */
  focus(): void;
  /** Move the cursor by a step, and read out what is there; null: no cursor. */
  stepCursor(direction: 1 | -1 | null): void;
  /** The room of the last painting; null: there was none. */
  room(): Room | null;
  scrollTo(topPx: number): void;
  /** Whether it is in sight, or only scrolled away: not in a panel or tab that is hidden. */
  isSeen(): boolean;
}

export type MakeTrack = (context: TrackContext) => Track | null;

export interface SectionHost extends TimelineParts {
  readonly theme: Theme;
  readonly isLive: boolean;
  /** Whether nothing can come any more. */
  readonly isOver: boolean;
  readonly isBrief: boolean;
  /** Shows or hides what a brief view leaves out; null: nobody may here. */
  readonly toggleBrief: (() => void) | null;
  /** Writes files of what is shown; null: nobody does. */
  readonly keeping: Keeping | null;
  /** Null: the page may save no pictures. */
  readonly savePicture: SavePicture | null;
  /** A person chose a span: it is selected where a track tells what ran there, else shown. */
  choose(span: Span | null): void;
  toggleClear(): void;
  toggleAll(): void;
}
