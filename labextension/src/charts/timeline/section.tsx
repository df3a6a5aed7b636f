/** One track in the page: its elements, its canvas, and what a person does to it. */
import { Seen } from '../../lib/seen';
import { clamp, pxAt, widthS } from '../../lib/span';
import { trans } from '../../lib/translate';
import { fitCanvas, pixelRatio } from '../ui/canvas';
import { type CanvasPoint, element, keepKeys } from '../ui/dom';
import { Exporter, Notice } from '../ui/export';
import type { Painted } from '../ui/frame-loop';
import { type ComponentChildren, render } from '../ui/render';
import { type TextTable, Table } from '../ui/text-table';
import { dress } from '../ui/theme';
import { type ToolbarSpec, Toolbar } from '../ui/toolbar';
import { type Command, type TimeKeys, KeyHelp, buttonsAt, commandsOf, menuOf, press, timeCommands } from './commands';
import { type Room, AXIS_PX, Brush, paintSpans, paintTimeAxis, roomOf, trackWidthPx } from './drawing';
import { type Intents, listenToGestures } from './gestures';
import type { ShownTime } from './time';
import { Over, TipBox } from './tip';
import type { MakeTrack, Part, SectionHost, Tip, Track } from './track';

/** Tables are for screen readers too, which should not be interrupted ten times a second. */
const TABLE_MS = 5000;
/** How much stands below a track that has no axis. */
const FOOT_PX = 4;
const HINT_MS = 1600;
/** Steps of the cursor over all that is in sight. */
const KEY_STEPS = 50;

export class Section implements Intents, TimeKeys {
  readonly root: HTMLElement;
  readonly track: Track | null;
  /** Whether it has the buttons that concern the whole timeline. */
  leads = false;
  readonly #canvas: HTMLCanvasElement;
  readonly #context: CanvasRenderingContext2D | null;
  readonly #scroll: HTMLElement;
  readonly #tips: HTMLElement;
  readonly #over: HTMLElement;
  readonly #notice: Notice;
  /** Words that stand over the chart for a moment. */
  readonly #hint: Notice;
  readonly #exporter: Exporter;
  #part: Part = 'all';
  #unfolds = false;
  #nothing: string | null = '';
  #time: ShownTime | null = null;
  #room: Room | null = null;
  #pointer: CanvasPoint | null = null;
  readonly #key = Symbol('section');
  /** What is under the pointer was clicked: until it moves, no tip stands over what that opened. */
  #clicked = false;
  #hadTip = false;
  #bandPx: readonly [number, number] | null = null;
  #isOver = false;
  #helping = false;
  /** The computes that the list of keys was opened over. */
  readonly #helped = new Seen();
  #tabling = false;
  #tableTimer: ReturnType<typeof setTimeout> | undefined;
  #tableMs = -Infinity;
  readonly #tabled = new Seen();
  #tables: readonly ComponentChildren[] = [];
  #tablesOf: readonly TextTable[] = [];
  #description = '';
  readonly #rendered = new Seen();
  readonly #drawn = new Seen();

  constructor(private readonly timeline: SectionHost, make: MakeTrack) {
    const { signal, store, runRange, axis, navigator } = timeline;
    this.#notice = new Notice(() => { this.render(); }, signal);
    this.#hint = new Notice(() => { this.render(); }, signal, HINT_MS);
    this.#exporter = new Exporter(this.#notice);
    this.track = make({
      store, runRange, axis, navigator, signal, exporter: this.#exporter,
      request: () => { timeline.request(); },
      render: () => { this.render(); },
      theme: () => timeline.theme, focus: () => { this.#canvas.focus(); },
      stepCursor: direction => { this.#step(direction); },
      room: () => this.#room,
      scrollTo: topPx => { this.#scroll.scrollTop = topPx; },
      isSeen: () => !document.hidden && this.root.getClientRects().length > 0
    });
    this.root = element('section', { role: 'group' });
    this.render();
    const part = (selector: string): HTMLElement => this.root.querySelector<HTMLElement>(selector) ?? element('div');
    this.#canvas = this.root.querySelector('canvas') ?? element('canvas');
    this.#scroll = part('.tsk-track-scroll');
    this.#tips = part('.tsk-track-tips');
    this.#over = part('.tsk-track-moving');
    this.#context = this.track === null ? null : this.#canvas.getContext('2d', { alpha: false });
  }

  start(): void {
    const { signal } = this.timeline;
    keepKeys(this.root, signal);
    this.#scroll.addEventListener('scroll', () => { this.timeline.request(); }, { signal, passive: true });
    this.#canvas.addEventListener('focus', () => { this.#hint.say(''); }, { signal });
    listenToGestures(this.#canvas, this, from => this.track?.isBoxing?.() === true || this.#isOnAxis(from), signal);
  }

  stop(): void {
    this.#isOver = true;
    clearTimeout(this.#tableTimer);
    render(null, this.#tips);
    render(null, this.#over);
    render(null, this.root);
    this.root.remove();
  }

  get isTimeless(): boolean {
    return this.track?.isTimeless === true;
  }

  get isShown(): boolean {
    return this.#part === 'all' && this.#hasPlot && this.track?.isAbsent?.() !== true;
  }

  /** Whether there is anything to draw, besides words. */
  get #hasPlot(): boolean {
    return this.#nothing === null && this.track !== null && this.track.heightPx(this.timeline.isBrief) > 0;
  }

  /** Whether there is anything to say of it. */
  get hasWords(): boolean {
    return this.#nothing === null;
  }

  /** How much room the labels ask for; 0 while there is no picture. */
  get gutterPx(): number {
    return this.isShown && this.track !== null ? this.track.gutterPx(this.#widthPx) : 0;
  }

  /** Whether keys have moved the cursor here. */
  get #isKeyed(): boolean {
    return this.timeline.axis.keyedBy === this.#key;
  }

  get #widthPx(): number {
    return trackWidthPx(this.#scroll.clientWidth);
  }

  /** Bring words up to date. */
  update(time: ShownTime | null): void {
    const said = this.track?.update(time) ?? null;
    const cleared = time === null && this.timeline.axis.sinceRun !== null ? trans.__('cleared: waiting for the next compute') : null;
    this.#time = time;
    if (this.#helped.isNew(this.timeline.runRange.id)) {
      this.#helping = false;
    }
    this.#nothing = cleared ?? (time === null ? (said ?? '') : said);
    if (this.#nothing !== null) {
      this.#tell(null, null);
    }
    this.render();
  }

  /** @param unfolds whether it has the button that shows more charts */
  divide(part: Part, unfolds: boolean): void {
    this.#part = part;
    this.#unfolds = unfolds;
    this.render();
  }

  /** Draw what there is; the row of a track that is not in sight stays as it is. */
  paint(time: ShownTime, leftPx: number, hasAxis: boolean): Painted {
    const { track } = this;
    if (track === null || !this.isShown) {
      this.#tell(null, null);
      return 'still';
    }
    const { isBrief } = this.timeline;
    const heightPx = track.heightPx(isBrief);
    const footPx = hasAxis ? AXIS_PX : FOOT_PX;
    const content = this.#scroll.firstElementChild as HTMLElement;
    const whole = `${heightPx + footPx}px`;
    if (content.style.height !== whole) {
      content.style.height = whole;
    }
    const room = roomOf({ widthPx: this.#widthPx, heightPx, leftPx, scrollPx: this.#scroll.scrollTop, span: time.span, zeroS: time.zeroS, isBrief });
    const shown = `${room.heightPx + footPx}px`;
    if (this.#scroll.style.height !== shown) {
      this.#scroll.style.height = shown;
    }
    const before = this.#room;
    this.#room = room;
    if (before?.plotLeftPx !== room.plotLeftPx || before.heightPx !== room.heightPx || before.scrollPx !== room.scrollPx) {
      this.render();
    }
    this.#point(track, time, room);
    return this.#draw(track, time, room, hasAxis, footPx);
  }

  /** Bring elements up to date; cheap where nothing changed. */
  render(): void {
    const { track } = this;
    if (track === null || this.#isOver) {
      return;
    }
    this.#refreshTables(track);
    const commands = this.#commands(track);
    const tools = this.#tools(commands);
    const room = this.#room;
    const isOther = this.#rendered.isNew(
      this.#part, this.#unfolds, this.timeline.isBrief, track.label, this.#nothing, this.#hasPlot, this.#notice.text, this.#hint.text, this.#helping, this.#tabling, this.#tables, this.#description,
      room?.plotLeftPx, room?.heightPx, room?.scrollPx, tools.hidden, this.timeline.theme.dark, this.timeline.theme.accent, ...track.shown(),
      ...[...tools.buttons, ...tools.menu.groups.flatMap(({ items }) => items)].flatMap(({ text, pressed, hidden }) => [text, pressed, hidden])
    );
    if (!isOther) {
      return;
    }
    const isShown = this.#nothing === null;
    const [prefix] = track.classes;
    this.root.className = ['tsk-chart', ...track.classes].join(' ');
    dress(this.root, this.timeline.theme);
    this.root.setAttribute('aria-label', track.label);
    this.root.dataset.part = this.#part;
    this.root.hidden = track.isAbsent?.() === true || this.#part === 'none' || (this.#part === 'head' && !isShown);
    render(
      <>
        <div class={`tsk-track-top ${prefix}-top`} hidden={!isShown && tools.hidden}>
          <span class="tsk-track-title" aria-hidden="true">{track.label}</span>
          {track.head()}
          {this.#unfolds && this.#unfolder()}
          <Toolbar {...tools} />
        </div>
        <div class="tsk-notice" role="status">{this.#notice.text}</div>
        {track.bar?.()}
        <div class={`tsk-track-plot ${prefix}-plot`}>
          <div class={`tsk-track-scroll ${prefix}-scroll`} hidden={!this.#hasPlot}>
            <div class="tsk-track-content">
              <div class={`tsk-track-view ${prefix}-view`}>
                <canvas tabIndex={0} role="application" aria-roledescription={trans.__('chart')} aria-label={this.#description} />
                <div class="tsk-track-moving" aria-hidden="true" />
                {room !== null && track.overlay?.(room)}
              </div>
            </div>
          </div>
          <div class={`tsk-track-empty ${prefix}-empty`} hidden={isShown}>{this.#nothing}</div>
          <div class={`tsk-track-hint ${prefix}-hint`} aria-hidden="true" hidden={this.#hint.text === ''}>{this.#hint.text}</div>
          <div class="tsk-track-tips" />
        </div>
        {track.foot()}
        <KeyHelp commands={commands} isOpen={this.#helping} opener={() => this.root.querySelector('.tsk-menu > button')} close={isByKey => { this.help(); if (isByKey) { this.#canvas.focus(); } }} />
        {/* A table is as wide as its words, so it is a box around it that is hidden. What scrolls has to be reached by keys, what is not seen must not be. */}
        <div class={`tsk-text-table ${prefix}-tables${this.#tabling ? '' : ' tsk-hidden'}`} role="group" aria-label={trans.__('Tables')} tabIndex={this.#tabling ? 0 : -1}>
          {this.#tables}
        </div>
        <div class="tsk-hidden" role="status">{track.said?.()}</div>
      </>,
      this.root
    );
  }

  zoom(factor: number, atPx: number | null = null): void {
    this.#withRoom(room => { this.timeline.navigator.zoom(factor, atPx, room); });
  }

  pan(px: number): void {
    this.#withRoom(room => { this.timeline.navigator.pan(px, room); });
  }

  choose(edgesPx: readonly [number, number]): void {
    this.#withRoom(room => {
      this.timeline.choose(this.timeline.navigator.spanOf(edgesPx, room));
    });
    this.#canvas.focus();
  }

  band(edgesPx: readonly [number, number] | null): void {
    this.#bandPx = this.isTimeless ? null : edgesPx;
    this.timeline.request();
  }

  fit(): void {
    this.timeline.navigator.fit();
  }

  toggleFollow(): void {
    this.timeline.navigator.toggleFollow();
  }

  press(key: string, shift: boolean): boolean {
    return this.track !== null && press(this.#commands(this.track), key, shift);
  }

  hover(point: CanvasPoint | null): void {
    this.#pointer = point;
    this.#clicked = false;
    this.timeline.axis.point(point === null || this.#room === null || this.isTimeless ? null : this.timeline.navigator.timeAt(point.xPx, this.#room));
    this.timeline.request();
  }

  click(point: CanvasPoint): void {
    this.#canvas.focus();
    this.track?.click?.(point);
    this.#clicked = true;
    this.timeline.request();
  }

  help(): void {
    this.#helping = !this.#helping;
    this.render();
  }

  hint(): void {
    // Else the wheel did something: it scrolled the track.
    if (this.#scroll.scrollHeight <= this.#scroll.clientHeight) {
      this.#hint.say(trans.__('Click the chart first, or hold Ctrl, to zoom'));
    }
  }

  #step(direction: 1 | -1 | null): void {
    const { axis, navigator: { time } } = this.timeline;
    if (direction === null) {
      this.hover(null);
    } else if (time !== null) {
      const { startS, stopS } = time.span;
      const fromS = axis.cursorS ?? (direction > 0 ? startS : stopS);
      axis.point(clamp(fromS + (direction * widthS(time.span)) / KEY_STEPS, startS, stopS), this.#key);
    }
  }

  /** Whether a place is on the ruler below the track. */
  #isOnAxis({ yPx }: CanvasPoint): boolean {
    return this.#room !== null && yPx >= this.#room.heightPx;
  }

  /** Do what moves in time. */
  #withRoom(act: (room: Room) => void): void {
    if (this.#room !== null && !this.isTimeless) {
      act(this.#room);
    }
  }

  /** Everything that a person can do here, in the order of the buttons, the menu and the list of keys. */
  #commands(track: Track): readonly Command[] {
    const { timeline, leads } = this;
    const { isLive, isOver, axis, navigator } = timeline;
    const [isPaused, isCleared] = [axis.pausedAtS !== null, axis.sinceRun !== null];
    const [hide, show] = this.#tables.length < 2 ? [trans.__('Hide the table'), trans.__('Show as a table')] : [trans.__('Hide the tables'), trans.__('Show as tables')];
    const ofAll: Command[] = [
      { text: axis.chosen === 'all' ? trans.__('Show the latest compute only') : trans.__('Show all computes'), at: 'computes', run: () => { timeline.toggleAll(); }, hidden: !timeline.runRange.mayShowAll },
      { text: isCleared ? trans.__('Show all computes again') : trans.__('Clear, show new tasks only'), at: 'computes', run: () => { timeline.toggleClear(); }, hidden: !isLive && !isCleared }
    ];
    return [
      ...(this.isTimeless ? [] : timeCommands(this, { leads, isFollowing: navigator.following, isOver })),
      ...(leads
        ? [{ text: trans.__('Pause'), label: trans.__('Pause display (still recording)'), at: 'bar', isRare: true, run: () => { timeline.runRange.togglePause(); }, pressed: isPaused, hidden: !isLive && !isPaused } as const]
        : []),
      ...track.commands(),
      { text: this.#tabling ? hide : show, at: 'view', run: () => { this.#tabling = !this.#tabling; this.render(); } },
      { text: trans.__('Save as PNG'), at: 'save', run: () => { this.#savePicture(track); }, hidden: timeline.savePicture === null },
      ...(leads ? [...commandsOf(timeline.keeping?.files(this.#exporter, timeline.store.tables.runsIn(timeline.runRange)) ?? [], 'save'), ...ofAll] : []),
      { text: trans.__('Keyboard shortcuts'), at: 'help', keys: ['?'], shown: '?', does: trans.__('this list'), run: () => { this.help(); } }
    ];
  }

  #tools(commands: readonly Command[]): ToolbarSpec {
    return {
      label: trans.__('View'),
      hidden: this.#nothing !== null && !(this.leads && this.timeline.axis.sinceRun !== null),
      buttons: buttonsAt(commands, 'bar'),
      menu: menuOf(commands)
    };
  }

  #unfolder(): ComponentChildren {
    const { isBrief, toggleBrief } = this.timeline;
    return toggleBrief !== null && (
      <div class="tsk-bar tsk-unfold">
        <button type="button" aria-expanded={!isBrief} onClick={toggleBrief}>{isBrief ? trans.__('More charts') : trans.__('Fewer charts')}</button>
      </div>
    );
  }

  #savePicture(track: Track): void {
    this.timeline.savePicture?.(this.#exporter, this.#canvas, { name: `taskscope-${track.name}.png`, title: track.title(), legend: track.legend() }, this.timeline.theme);
  }

  #refreshTables(track: Track): void {
    const time = this.#time;
    if (!this.#tabled.isNew(time?.growing, ...track.shown())) {
      return;
    }
    const dueMs = this.#tableMs + TABLE_MS - performance.now();
    if (dueMs > 0 && time?.growing === true) {
      this.#tabled.forget();
      this.#tableTimer ??= setTimeout(() => {
        this.#tableTimer = undefined;
        this.render();
      }, dueMs);
      return;
    }
    const tables = track.tables();
    if (tables !== this.#tablesOf) {
      this.#tablesOf = tables;
      this.#tables = tables.map(table => <Table {...table} />);
    }
    if (time !== null) {
      this.#tableMs = performance.now();
      this.#description = track.description(time);
    }
  }

  /** Find what is under the pointer, or at the cursor that keys move, and say it. */
  #point(track: Track, time: ShownTime, room: Room): void {
    const { axis, navigator } = this.timeline;
    const atCursor = axis.cursorS === null || this.isTimeless ? null : { xPx: room.plotLeftPx + pxAt(time.span, room.plotWidthPx, axis.cursorS), yPx: 0 };
    const at = this.#isKeyed ? atCursor : this.#pointer;
    const timeS = this.#isKeyed ? axis.cursorS : at === null ? null : navigator.timeAt(at.xPx, room);
    const tip = track.hit(this.#pointer, timeS, room, time);
    const cursor = this.#pointer !== null && !this.isTimeless && this.#isOnAxis(this.#pointer) ? 'col-resize' : (track.cursor?.() ?? '');
    if (this.#canvas.style.cursor !== cursor) {
      this.#canvas.style.cursor = cursor;
    }
    this.#tell(this.#clicked && tip?.kind === 'facts' ? null : tip, at);
    const band = this.#bandPx?.map(px => clamp(px, room.plotLeftPx, room.plotLeftPx + room.plotWidthPx)) as [number, number] | undefined;
    render(<Over room={room} cursorPx={atCursor?.xPx ?? null} bandPx={band ?? null} box={track.hovered?.(room) ?? null} />, this.#over);
  }

  #tell(tip: Tip | null, at: CanvasPoint | null): void {
    if (tip !== null || this.#hadTip) {
      this.#hadTip = tip !== null;
      render(<TipBox tip={tip} at={at} aloud={this.#isKeyed} />, this.#tips);
    }
  }

  #draw(track: Track, time: ShownTime, room: Room, hasAxis: boolean, footPx: number): Painted {
    const { theme, axis, store } = this.timeline;
    const ratio = pixelRatio();
    const { span, nowS, growing } = time;
    const isOther = this.#drawn.isNew(
      ...track.shown(), store.version, span.startS, span.stopS, growing && nowS, room.widthPx, room.heightPx, room.plotLeftPx, room.scrollPx,
      hasAxis, ratio, theme, axis.pausedAtS, axis.range
    );
    if (this.#context === null || !isOther) {
      return 'still';
    }
    const context = this.#context;
    fitCanvas(this.#canvas, room.widthPx, room.heightPx + footPx, ratio);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = theme.paper;
    context.fillRect(0, 0, this.#canvas.width, this.#canvas.height);
    const brush = new Brush(context, room, time, theme, ratio);
    const outcome = track.draw(brush);
    if (hasAxis) {
      paintTimeAxis(brush);
    }
    if (!this.isTimeless) {
      paintSpans(brush, axis.range, hasAxis);
    }
    if (outcome === 'exact') {
      return 'still';
    }
    this.#drawn.forget();
    return outcome;
  }
}
