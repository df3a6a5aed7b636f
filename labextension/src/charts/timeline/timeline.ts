/**
 * The one timeline: any number of tracks on one time axis, with one cursor, one selection and one animation frame.
 * What is seen follows the store and the person; painting waits for frames.
 */
import { Seen } from '../../lib/seen';
import type { Span } from '../../lib/span';
import type { Theme } from '../../lib/theme';
import type { RunRange, TaskStore } from '../../store';
import type { Painted } from '../ui/frame-loop';
import { FrameLoop } from '../ui/frame-loop';
import type { Keeping } from '../ui/keeping';
import { LEGEND_CSS } from '../ui/legend';
import type { SavePicture } from '../ui/picture';
import { SHARED_CSS, adoptStyles, followTheme, prefersStill, readTheme, watchSizes } from '../ui/theme';
import { TOOLBAR_CSS } from '../ui/toolbar';
import { Section } from './section';
import { TIMELINE_CSS } from './style';
import type { ShownTime, Shows, View } from './time';
import { Navigator, ShownRuns, TimeAxis, shownTime } from './time';
import type { MakeTrack, SectionHost } from './track';

export interface TimelineOptions {
  /** Unmounts it. */
  readonly signal: AbortSignal;
  readonly firstRun?: number;
  /** Null or left out: and all that come. */
  readonly lastRun?: number | null;
  /** Which of these computes are shown; left out: all. */
  readonly shows?: Shows;
  /** Whether it starts by moving with the present; on where the window is open. */
  readonly follow?: boolean;
  /** Whether this is a recording that is over: nothing will come that could be followed. */
  readonly isOver?: boolean;
  /** Shared with other charts of the same computes; left out: its own. */
  readonly axis?: TimeAxis;
  /** Whether it begins with the lanes of tasks, and of the others one line of numbers. */
  readonly brief?: boolean;
  /** A person wants more charts, or fewer; left out: there is no button for that. */
  readonly onBrief?: (brief: boolean) => void;
  /** Writes files of what is shown; left out: nobody does. */
  readonly keeping?: Keeping | undefined;
  /** Saves pictures; left out: the page may not. */
  readonly savePicture?: SavePicture;
  /** The person switched following on or off. */
  readonly onFollow?: (follow: boolean) => void;
  /** The person chose a span, in seconds after the recorder's zero; null: no certain one. */
  readonly onTimeRange?: (range: [startS: number, stopS: number] | null) => void;
  /** A task was selected here or in another view of the recorder, or none. */
  readonly onSelectedKey?: (key: string | null) => void;
}

/** What a host can do with a timeline. */
export interface TimelineChart {
  /** Its tracks, top to bottom. */
  readonly els: readonly HTMLElement[];
  /** These three are not reported back. */
  setFollow(follow: boolean): void;
  setTimeRange(range: readonly [startS: number, stopS: number] | null): void;
  /** Select a task by its key, for all views of the recorder; null: none. */
  setSelectedKey(key: string | null): void;
  setBrief(brief: boolean): void;
  /** Show other computes. */
  setRunRange(runRange: RunRange): void;
  /** The span that is shown, null before the first compute. */
  timeRange(): [startS: number, stopS: number] | null;
}

/** Put a timeline of some tracks into `el`, until the signal aborts. */
export function mountTimeline(el: HTMLElement, store: TaskStore, makers: readonly MakeTrack[], options: TimelineOptions): TimelineChart {
  const timeline = new Timeline(store, makers, options);
  if (options.signal.aborted) {
    timeline.stop();
  } else {
    timeline.start(el);
  }
  return timeline;
}

export class Timeline implements TimelineChart, SectionHost {
  readonly signal: AbortSignal;
  readonly isOver: boolean;
  readonly axis: TimeAxis;
  readonly runRange: ShownRuns;
  readonly navigator: Navigator;
  readonly toggleBrief: (() => void) | null;
  readonly keeping: Keeping | null;
  readonly savePicture: SavePicture | null;
  theme: Theme;
  isBrief: boolean;
  readonly #sections: readonly Section[];
  readonly #report: Reporter;
  readonly #frames: FrameLoop;
  readonly #still = prefersStill();
  /** The computes of the last painting. */
  readonly #painted = new Seen();
  #wasLive = false;

  constructor(readonly store: TaskStore, makers: readonly MakeTrack[], options: TimelineOptions) {
    const { signal, firstRun = 0, lastRun = null, shows = 'all' } = options;
    this.signal = signal;
    this.isOver = options.isOver ?? false;
    this.isBrief = options.brief ?? false;
    const { onBrief } = options;
    this.keeping = options.keeping ?? null;
    this.savePicture = options.savePicture ?? null;
    this.toggleBrief = onBrief === undefined ? null : () => { onBrief(!this.isBrief); };
    this.axis = options.axis ?? new TimeAxis(options.follow ?? lastRun === null);
    this.runRange = new ShownRuns(store, { firstRun, lastRun }, this.axis, shows);
    this.#report = new Reporter(options);
    this.navigator = new Navigator(
      view => {
        this.runRange.refresh(view);
        return shownTime(store, this.runRange, view, this.axis.pausedAtS);
      },
      this.axis,
      view => { this.#report.view(view); }
    );
    this.theme = readTheme(document.body);
    this.#frames = new FrameLoop(() => this.#paint(), signal);
    const sections: Section[] = [];
    for (const make of makers) {
      const section = new Section(this, make);
      section.leads = !section.isTimeless && !sections.some(({ track, leads }) => leads && track?.isAbsent === undefined);
      if (section.track !== null) {
        sections.push(section);
      }
    }
    this.#sections = sections;
  }

  get els(): readonly HTMLElement[] {
    return this.#sections.map(({ root }) => root);
  }

  /** Whether anything may still come, so that pausing and clearing make sense. */
  get isLive(): boolean {
    return this.#wasLive || this.store.clock.active;
  }

  start(el: HTMLElement): void {
    const { signal } = this;
    const css = this.#sections.map(({ track }) => track?.css ?? '');
    [SHARED_CSS, TOOLBAR_CSS, LEGEND_CSS, TIMELINE_CSS, ...css].forEach(rules => { adoptStyles(el, rules); });
    el.append(...this.els);
    this.#sections.forEach(section => { section.start(); });
    followTheme(() => this.els[0], theme => {
      this.theme = theme;
      this.request();
    }, signal);
    this.store.subscribe(() => { this.#onNews(); }, signal);
    this.axis.subscribe(() => { this.request(); }, signal);
    this.store.selection.subscribe(selected => {
      this.#report.selectedKey(selected?.key ?? null);
      this.request();
    }, signal);
    watchSizes(this.els, () => { this.request(); }, signal);
    signal.addEventListener('abort', () => { this.stop(); }, { once: true });
    this.#paint();
    this.request();
  }

  stop(): void {
    this.#report.stop();
    this.#sections.forEach(section => { section.stop(); });
  }

  request(): void {
    this.#frames.request();
  }

  setFollow(follow: boolean): void {
    this.navigator.setFollow(follow);
  }

  setTimeRange(range: readonly [startS: number, stopS: number] | null): void {
    this.navigator.setTimeRange(range);
  }

  setBrief(brief: boolean): void {
    this.isBrief = brief;
    this.request();
  }

  setRunRange(runRange: RunRange): void {
    this.runRange.whole = runRange;
    this.request();
  }

  setSelectedKey(key: string | null): void {
    this.#report.knownKey(key);
    this.store.selection.select(key === null ? null : { key, ref: null }, this);
  }

  timeRange(): [startS: number, stopS: number] | null {
    const span = this.navigator.refresh()?.span;
    return span === undefined ? null : [span.startS, span.stopS];
  }

  choose(span: Span | null): void {
    if (span === null) {
      return;
    }
    if (this.#sections.some(({ track }) => track?.tellsRange === true)) {
      this.axis.select(span);
    } else {
      this.navigator.show(span);
    }
  }

  /** Leave out the computes that are over, or show them again. */
  toggleClear(): void {
    this.runRange.toggleClear();
    this.navigator.fit();
  }

  /** Show all computes of the session, or what runs now. */
  toggleAll(): void {
    this.axis.choose(this.axis.chosen === 'all' ? null : 'all');
  }

  #onNews(): void {
    this.#wasLive ||= this.store.clock.active;
    if (this.axis.pausedAtS === null) {
      this.request();
    }
  }

  /** Say how much of each section is shown: of those that a brief view has as a line of numbers, only the first that is there. */
  #divide(): void {
    const present = this.#sections.filter(({ track }) => track?.isAbsent?.() !== true);
    const line = present.find(({ track }) => track?.inBrief === 'head');
    const unfolds = line?.hasWords === true ? line : present[0];
    for (const section of this.#sections) {
      const part = !this.isBrief || section.track?.inBrief === 'all' ? 'all' : section === line ? 'head' : 'none';
      section.divide(part, section === unfolds);
    }
  }

  /** Other computes are shown: a time that was selected in those before is not theirs. */
  #forgetRange(time: ShownTime | null): void {
    const { range } = this.axis;
    if (this.#painted.isNew(this.runRange.id) && range !== null && time !== null && (range.stopS <= time.worked.startS || range.startS >= time.worked.stopS)) {
      this.axis.select(null);
    }
  }

  #paint(): Painted {
    const time = this.navigator.refresh();
    this.#forgetRange(time);
    this.#sections.forEach(section => { section.update(time); });
    this.#divide();
    const shown = this.#sections.filter(section => section.isShown);
    const leftPx = this.axis.reserve(this, Math.max(0, ...shown.map(section => section.gutterPx)), this.signal);
    const timed = shown.filter(section => !section.isTimeless);
    const outcomes = time === null ? [] : this.#sections.map(section => section.paint(time, section.isTimeless ? SIDE_PX : leftPx, section === timed[0] || section === timed.at(-1)));
    if (time?.growing === true && !this.#still) {
      return shown.length === 0 ? 'still' : 'growing';
    }
    return outcomes.includes('unfinished') ? 'unfinished' : outcomes.includes('approximate') ? 'approximate' : 'still';
  }
}

/** Left of a track that has no labels there. */
const SIDE_PX = 12;
const SETTLE_MS = 250;

class Reporter {
  #follow: boolean | null = null;
  #key: string | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly listeners: TimelineOptions) {}

  view(view: View): void {
    const follow = view.kind === 'follow';
    if (follow !== this.#follow) {
      this.#follow = follow;
      this.listeners.onFollow?.(follow);
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.listeners.onTimeRange?.(view.kind === 'free' ? [view.span.startS, view.span.stopS] : null);
    }, SETTLE_MS);
  }

  selectedKey(key: string | null): void {
    if (key !== this.#key) {
      this.#key = key;
      this.listeners.onSelectedKey?.(key);
    }
  }

  /** The host knows this key: it comes from there. */
  knownKey(key: string | null): void {
    this.#key = key;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
