/** The flame graph in a page: bars, search, timeline, and the same as text. */
import { formatCount } from '../../lib/format';
import type { Theme } from '../../lib/theme';
import type { TranslationBundle } from '../../lib/translate';
import { english } from '../../lib/translate';
import type { BoundKey } from '../timeline/keys';
import { press } from '../timeline/keys';
import { TextFitter, fitCanvas, pixelRatio } from '../ui/canvas';
import { element, keepKeys, pointOf, setText } from '../ui/dom';
import type { Painted } from '../ui/frames';
import { FrameLoop } from '../ui/frames';
import { readTheme, watchTheme } from '../ui/page-theme';
import { SHARED_CSS, adoptStyles } from '../ui/styles';
import type { TextTable } from '../ui/tables';
import type { FlameData } from './data';
import { drawFlame } from './draw';
import { type Direction, type FlameLayout, barAt, layoutFlame, neighbour } from './layout';
import { FLAME_CSS } from './style';
import { type Bins, Timeline, keptBins } from './timeline';
import { type FlameNode, findSame, growTree, walk } from './tree';
import { describeAll, describeNode, nameOf, ownTimes } from './words';

const GROUND = '#8b949e';

const ARROWS: Readonly<Record<string, Direction>> = { ArrowUp: 'up', ArrowDown: 'down', ArrowLeft: 'left', ArrowRight: 'right' };

/** Says which colours prefixes have: those of the charts beside this one. */
export interface FlameColours {
  /** What gives a prefix its colour now; asked for once per painting. */
  current(): (prefix: string) => string;
  /** Have `changed` called when they may be others. */
  subscribe(changed: () => void, signal: AbortSignal): void;
}

export interface FlameOptions {
  /** Unmounts the chart. */
  readonly signal: AbortSignal;
  readonly trans?: TranslationBundle;
}

export interface FlameChart {
  /** Show other samples; `note` says why there are none, or fewer than was run. */
  show(data: FlameData | null, note: string | null): void;
}

/** Put a flame graph into `el`, until the signal aborts. */
export function mount(el: HTMLElement, colours: FlameColours, options: FlameOptions): FlameChart {
  const view = new FlameView(colours, options);
  if (!options.signal.aborted) {
    [SHARED_CSS, FLAME_CSS].forEach(css => { adoptStyles(el, css); });
    el.append(view.el);
    view.start();
  }
  return view;
}

class FlameView implements FlameChart {
  readonly el: HTMLElement;
  private readonly _trans: TranslationBundle;
  readonly #signal: AbortSignal;
  readonly #frames: FrameLoop;
  readonly #canvas = element('canvas', { tabindex: '0', role: 'application' });
  readonly #plot = element('div', { class: 'tsk-flame-plot' }, this.#canvas);
  readonly #texts = new TextFitter();
  /** The canvas's label names them. */
  readonly #keys: readonly Pick<BoundKey, 'keys' | 'act'>[] = [
    { keys: Object.keys(ARROWS), act: (_, key) => { this.#move(key); } },
    { keys: ['Enter', ' '], act: () => { this.#zoom(this.#cursor ?? this.#focus); } },
    { keys: ['Escape'], act: () => { this.#zoom(this.#focus?.parent ?? this.#root); } },
    { keys: ['Home'], act: () => { this.#zoom(this.#root); } },
    { keys: ['/'], act: () => { this.#search.focus(); } }
  ];
  readonly #prefixes: HTMLSelectElement;
  readonly #search: HTMLInputElement;
  readonly #out: HTMLButtonElement;
  readonly #sum = element('span', { class: 'tsk-flame-sum' });
  readonly #said = element('p', { class: 'tsk-flame-said', role: 'status' });
  readonly #note = element('p', { class: 'tsk-flame-note' });
  readonly #table = element('table');
  readonly #timeline: Timeline;
  readonly #body: HTMLElement;
  #theme: Theme;
  #data: FlameData | null = null;
  #root: FlameNode | null = null;
  #focus: FlameNode | null = null;
  #cursor: FlameNode | null = null;
  #layout: FlameLayout | null = null;
  #prefix: string | null = null;
  #bins: Bins | null = null;

  constructor(
    private readonly colours: FlameColours,
    options: FlameOptions
  ) {
    const trans = (this._trans = options.trans ?? english);
    const signal = (this.#signal = options.signal);
    this.#theme = readTheme(document.body);
    this.#frames = new FrameLoop(() => this.#paint(), signal);
    this.#prefixes = element('select', { 'aria-label': trans.__('Tasks shown') });
    this.#search = element('input', { type: 'search', placeholder: trans.__('Find a function'), 'aria-label': trans.__('Find a function') });
    this.#out = element('button', { type: 'button' }, trans.__('Zoom out'));
    this.#timeline = new Timeline(trans, bins => { this.#bins = bins; this.#grow(); }, signal);
    const head = element('div', { class: 'tsk-flame-head' }, this.#prefixes, this.#search, this.#out, this.#sum);
    const table = element(
      'details', {}, element('summary', {}, trans.__('As a table')),
      element('div', { class: 'tsk-flame-table', tabindex: '0', role: 'group', 'aria-label': trans.__('As a table') }, this.#table)
    );
    this.#body = element('div', {}, head, this.#plot, this.#said, this.#timeline.el, table);
    this.el = element('div', { class: 'tsk-chart tsk-flame', role: 'group', 'aria-label': trans.__('Profile') }, this.#note, this.#body);
  }

  start(): void {
    const signal = this.#signal;
    const onTheme = (): void => {
      this.#theme = readTheme(document.body);
      this.el.classList.toggle('tsk-dark', this.#theme.dark);
      this.#frames.request();
    };
    onTheme();
    watchTheme(onTheme, signal);
    keepKeys(this.el, signal);
    this.#prefixes.addEventListener('change', () => { this.#prefix = this.#prefixes.value === '' ? null : this.#prefixes.value; this.#grow(); }, { signal });
    this.#out.addEventListener('click', () => { this.#zoom(this.#root); }, { signal });
    this.#search.addEventListener('input', () => { this.#tellSearch(); }, { signal });
    this.#canvas.addEventListener('click', event => { this.#onClick(event); }, { signal });
    this.#canvas.addEventListener('pointermove', event => { this.#point(this.#nodeAt(event)); }, { signal });
    this.#canvas.addEventListener('keydown', event => {
      if (press(this.#keys, event.key)) {
        event.preventDefault();
      }
    }, { signal });
    this.colours.subscribe(() => { this.#frames.request(); }, signal);
    if (typeof ResizeObserver === 'function') {
      const observer = new ResizeObserver(() => { this.#frames.request(); });
      observer.observe(this.el);
      signal.addEventListener('abort', () => { observer.disconnect(); }, { once: true });
    }
    signal.addEventListener('abort', () => { this.el.remove(); }, { once: true });
    this.show(this.#data, null);
  }

  show(data: FlameData | null, note: string | null): void {
    const isEmpty = data === null || data.bin.length === 0;
    this.#bins = data === null || this.#data === null ? null : keptBins(this.#data, data, this.#bins);
    this.#data = isEmpty ? null : data;
    this.#body.hidden = isEmpty;
    this.#note.hidden = note === null && !isEmpty;
    setText(this.#note, note ?? (isEmpty ? this._trans.__('no samples yet') : ''));
    if (!isEmpty) {
      this.#fillPrefixes(data);
      this.#grow();
    }
  }

  #move(key: string): void {
    const at = this.#cursor ?? this.#focus;
    if (this.#layout !== null && at !== null) {
      this.#point(neighbour(this.#layout, at, ARROWS[key] ?? 'up'));
    }
  }

  #fillTable({ caption, columns, rows }: TextTable): void {
    const heads = columns.map(cell => element('th', { scope: 'col' }, cell));
    const body = rows.map(cells => element('tr', {}, ...cells.map(cell => element('td', {}, cell))));
    this.#table.replaceChildren(
      element('caption', {}, caption), element('thead', {}, element('tr', {}, ...heads)), element('tbody', {}, ...body)
    );
  }

  #fillPrefixes(data: FlameData): void {
    const names = data.prefixes;
    if (this.#prefixes.options.length !== names.length + 1) {
      const options = names.map(name => element('option', { value: name }, name));
      this.#prefixes.replaceChildren(element('option', { value: '' }, this._trans.__('all prefixes')), ...options);
      this.#prefixes.value = this.#prefix ?? '';
    }
  }

  #grow(): void {
    const data = this.#data;
    if (data === null) {
      return;
    }
    const place = this.#prefix === null ? -1 : data.prefixes.indexOf(this.#prefix);
    const prefix = place < 0 ? null : place;
    const root = growTree(data, { prefix, bins: this.#bins });
    this.#root = root;
    this.#focus = this.#focus === null ? root : findSame(root, this.#focus);
    this.#cursor = this.#cursor === null ? null : findSame(root, this.#cursor);
    this.#timeline.show(data, prefix, this.#bins, data.startS[0] ?? 0);
    setText(this.#sum, describeAll(data, root, this._trans));
    this.#fillTable(ownTimes(data, root, this._trans));
    this.#canvas.setAttribute(
      'aria-label',
      this._trans.__('Flame graph: %1. Arrows move, Enter zooms in, Escape out', describeAll(data, root, this._trans))
    );
    this.#tell();
    this.#frames.request();
  }

  #zoom(node: FlameNode | null): void {
    this.#focus = node;
    this.#tell();
    this.#frames.request();
  }

  #point(node: FlameNode | null): void {
    if (node !== this.#cursor) {
      this.#cursor = node;
      this.#tell();
      this.#frames.request();
    }
  }

  #tell(): void {
    this.#out.disabled = this.#focus === this.#root;
    const node = this.#cursor ?? this.#focus;
    if (this.#data !== null && this.#root !== null && node !== null) {
      setText(this.#said, describeNode(this.#data, node, this.#root, this._trans));
    }
  }

  #found(): ReadonlySet<FlameNode> | null {
    const wanted = this.#search.value.trim().toLowerCase();
    if (wanted === '' || this.#root === null || this.#data === null) {
      return null;
    }
    const data = this.#data;
    const found = new Set<FlameNode>();
    walk(this.#root, node => {
      const file = node.kind === 'function' ? (data.functions[node.place]?.file ?? '') : '';
      if (node.kind !== 'all' && `${nameOf(data, node, this._trans)} ${file}`.toLowerCase().includes(wanted)) {
        found.add(node);
      }
      return true;
    });
    return found;
  }

  #tellSearch(): void {
    const found = this.#found();
    if (found !== null) {
      setText(this.#said, this._trans._n('%2 call found', '%2 calls found', found.size, formatCount(found.size)));
    } else {
      this.#tell();
    }
    this.#frames.request();
  }

  #nodeAt(event: MouseEvent): FlameNode | null {
    const { xPx, yPx } = pointOf(this.#canvas, event);
    return this.#layout === null ? null : (barAt(this.#layout, xPx, yPx)?.node ?? null);
  }

  #onClick(event: MouseEvent): void {
    const node = this.#nodeAt(event);
    if (node !== null) {
      this.#zoom(node);
    }
  }

  #paint(): Painted {
    const [data, root, focus] = [this.#data, this.#root, this.#focus];
    const widthPx = this.#plot.clientWidth;
    const context = this.#canvas.getContext('2d');
    if (data === null || root === null || focus === null || widthPx === 0 || context === null) {
      return 'still';
    }
    const ratio = pixelRatio();
    const layout = layoutFlame(root, focus, widthPx);
    this.#layout = layout;
    fitCanvas(this.#canvas, widthPx, layout.heightPx, ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const colour = this.colours.current();
    drawFlame(context, {
      layout,
      theme: this.#theme,
      focus,
      cursor: this.#cursor,
      found: this.#found(),
      texts: this.#texts,
      colourOf: node => (node.kind === 'all' ? GROUND : colour(data.prefixes[node.prefix] ?? '')),
      nameOf: node => nameOf(data, node, this._trans)
    });
    this.#timeline.paint(this.#theme, widthPx, ratio);
    return 'still';
  }
}
