/** What a section has of the timeline it stands in. */
import type { Span } from '../../lib/span';
import type { Theme } from '../../lib/theme';
import type { TaskStore } from '../../store';
import type { Keeping } from '../ui/keeping';
import type { Navigator, ShownWindow, TimeAxis } from './time';

export interface SectionHost {
  readonly store: TaskStore;
  readonly window: ShownWindow;
  readonly axis: TimeAxis;
  readonly navigator: Navigator;
  readonly signal: AbortSignal;
  readonly theme: Theme;
  readonly isDark: boolean;
  readonly isCleared: boolean;
  readonly isLive: boolean;
  /** Whether nothing can come any more. */
  readonly isOver: boolean;
  readonly isBrief: boolean;
  /** Shows or hides what a brief view leaves out; null: nobody may here. */
  readonly toggleBrief: (() => void) | null;
  /** Writes files of what is shown; null: nobody does. */
  readonly keeping: Keeping | null;
  /** How often the store had news. */
  readonly news: number;
  /** Paint soon. */
  request(): void;
  /** A person chose a span: it is selected where a track tells what ran there, else shown. */
  choose(span: Span | null): void;
  togglePause(): void;
  toggleClear(): void;
  toggleAll(): void;
}
