/** The kinds of activities, how they are drawn, and where the seconds of executing tasks went. */
import { formatBytes, formatCount, formatDuration, printable } from '../../lib/format';
import type { Rgb } from '../../lib/palette';
import { parseColour } from '../../lib/palette';
import type { Theme } from '../../lib/theme';
import { trans } from '../../lib/translate';
import type { ActivitySum, CoverageColumns, SecondsOfPrefix } from '../../store';
import type { ActivityKind } from '../../wire';
import { ACTIVITIES } from '../../wire';
import { LegendRow } from '../ui/legend';
import type { ComponentChildren } from '../ui/render';
import type { TextTable } from '../ui/text-table';

export interface KindStyle {
  readonly light: Rgb;
  readonly dark: Rgb;
  /** Whether a pixel of CSS is of the colour, not of the paler one that it alternates with. */
  readonly isOn: (xPx: number, yPx: number) => boolean;
  /** The same for a swatch, of the custom properties `--on` and `--off`. */
  readonly css: string;
  /** Whether it is drawn as high as a bar: the thread did nothing else meanwhile. */
  readonly isWhole: boolean;
}

type Pattern = Pick<KindStyle, 'isOn' | 'css'>;

const place = (at: number, period: number): number => ((at % period) + period) % period;
const every = (at: number, period: number): boolean => place(at, period) < period / 2;

const DIAGONAL: Pattern = {
  isOn: (x, y) => every(x + y, 6),
  css: 'repeating-linear-gradient(135deg, var(--on) 0 2px, var(--off) 2px 4px)'
};
const BARS: Pattern = {
  isOn: x => every(x, 4),
  css: 'repeating-linear-gradient(90deg, var(--on) 0 2px, var(--off) 2px 4px)'
};
const CHECKS: Pattern = {
  isOn: (x, y) => every(x, 4) !== every(y, 4),
  css: 'repeating-conic-gradient(var(--on) 0 25%, var(--off) 0 50%) 0 0 / 4px 4px'
};
const DOTS: Pattern = {
  isOn: (x, y) => every(x, 4) && every(y, 4),
  css: 'repeating-conic-gradient(var(--on) 0 25%, var(--off) 0 100%) 0 0 / 4px 4px'
};
const CROSSES: Pattern = {
  isOn: (x, y) => place(x + y, 8) < 2 || place(x - y, 8) < 2,
  css: 'repeating-linear-gradient(135deg, var(--on) 0 1px, transparent 1px 4px), repeating-linear-gradient(45deg, var(--on) 0 1px, var(--off) 1px 4px)'
};
const PLAIN: Pattern = { isOn: () => true, css: 'var(--on)' };

const RED = { light: [208, 16, 32], dark: [255, 88, 88] } as const;
const ORANGE = { light: [214, 104, 0], dark: [255, 160, 64] } as const;
const BLACK = { light: [48, 0, 8], dark: [255, 214, 214] } as const;
const GREY = { light: [92, 99, 108], dark: [170, 178, 188] } as const;

export const KIND_STYLES: Record<ActivityKind, KindStyle> = {
  transfer: { ...RED, ...DIAGONAL, isWhole: false },
  'disk-read': { ...ORANGE, ...BARS, isWhole: false },
  'disk-write': { ...ORANGE, ...CHECKS, isWhole: false },
  deserialize: { ...GREY, ...DOTS, isWhole: false },
  serialize: { ...GREY, ...DOTS, isWhole: false },
  other: { ...GREY, ...PLAIN, isWhole: false },
  'failed-attempt': { ...BLACK, ...CROSSES, isWhole: true }
};

/** What stands between the marks of a pattern. */
export function gapOf([red, green, blue]: Rgb, paper: Rgb): Rgb {
  const pale = (from: number, to: number): number => Math.round(from + (to - from) * 0.72);
  return [pale(red, paper[0]), pale(green, paper[1]), pale(blue, paper[2])];
}

export function swatchStyle(style: KindStyle, isDark: boolean, paper: Rgb | null): Record<string, string> {
  const on = isDark ? style.dark : style.light;
  return { background: style.css, '--on': cssColour(on), '--off': cssColour(gapOf(on, paper ?? on)) };
}

export function cssColour([red, green, blue]: Rgb): string {
  return `rgb(${red} ${green} ${blue})`;
}

interface ActivityLegendProps {
  readonly sums: readonly ActivitySum[];
  /** How many activities are not here. */
  readonly missing: number;
  /** 1 for each kind that is hidden, by its code. */
  readonly hidden: Uint8Array;
  readonly theme: Theme;
  readonly toggle: (code: number) => void;
}

export function ActivityLegend({ sums, missing, hidden, theme, toggle }: ActivityLegendProps): ComponentChildren {
  const busy = trans.__('busy counts computing only');
  return (
    <ul class="tsk-legend tsk-activities" aria-label={trans.__('Activities of workers: press one to hide or show it')} hidden={sums.length === 0}>
      {sums.map(({ kind, n, seconds, nbytes }) => {
        const code = ACTIVITIES.indexOf(kind);
        const isShown = hidden[code] === 0;
        const amount = nbytes > 0 ? trans.__('%1 · %2', formatCount(n), formatBytes(nbytes)) : formatCount(n);
        const title = isShown ? trans.__('%1: %2 in all; press to hide', nameOf(kind), formatDuration(seconds)) : trans.__('%1: hidden, press to show', nameOf(kind));
        const look = swatchStyle(KIND_STYLES[kind], theme.dark, parseColour(theme.paper));
        return <LegendRow key={kind} kind={kind} name={nameOf(kind)} look={look} amount={amount} title={title} isShown={isShown} press={() => { toggle(code); }} />;
      })}
      <li key="/note" class="tsk-legend-note">{missing > 0 ? trans.__('%1; the longest are shown, %2 are not', busy, formatCount(missing)) : busy}</li>
    </ul>
  );
}

export function activityTable(sums: readonly ActivitySum[]): TextTable {
  return {
    caption: trans.__('Activities of workers besides computing'),
    columns: [trans.__('Activity'), trans.__('How often'), trans.__('In all'), trans.__('Bytes, where known')],
    rows: sums.map(({ kind, n, seconds, nbytes }) => [
      nameOf(kind), formatCount(n), formatDuration(seconds), nbytes > 0 ? formatBytes(nbytes) : trans.__('unknown')
    ])
  };
}

export function nameOf(kind: ActivityKind): string {
  return {
    transfer: trans.__('transfer'),
    'disk-read': trans.__('read from disk'),
    'disk-write': trans.__('written to disk'),
    deserialize: trans.__('deserialized'),
    serialize: trans.__('serialized'),
    other: trans.__('other'),
    'failed-attempt': trans.__('failed attempt')
  }[kind];
}

/** How much of a bar's height activities take. */
const SHARE = 0.42;
/** A column with any activity is at least so strong: a short transfer must not be lost. */
const LEAST = 0.4;
/** How strong activities are while a person looks for tasks. */
const BACK = 0.3;

export interface StripBox {
  /** Pixel row of the bar's upper edge, and its height; the image may cut it. */
  readonly top: number;
  readonly height: number;
  readonly ratio: number;
}

export interface StripColours {
  readonly dark: boolean;
  readonly paper: Rgb;
  /** The kinds by their code. */
  readonly styles: readonly KindStyle[];
  /** Whether a person looks for tasks, which these are not. */
  readonly isBack: boolean;
}

/** Where the strip of a bar begins. */
export function stripTop({ top, height, ratio }: StripBox): number {
  return top + height - Math.max(Math.round(height * SHARE), Math.round(3 * ratio));
}

/** Paint what a row has of activities over its bar, each column as strong as they took of its time. */
export function paintStrip(
  pixels: Uint32Array, width: number, box: StripBox, { cover, prefix: kind }: CoverageColumns, colours: StripColours
): void {
  const rows = Math.floor(pixels.length / width);
  const first = stripTop(box);
  const to = Math.min(box.top + box.height, rows);
  for (let x = 0; x < width; x += 1) {
    const share = cover[x] as number;
    const style = share > 0 ? colours.styles[kind[x] as number] : undefined;
    if (style === undefined) {
      continue;
    }
    const on = colours.dark ? style.dark : style.light;
    const off = gapOf(on, colours.paper);
    const strength = colours.isBack ? BACK : 1;
    const weight = Math.min(Math.max(share, LEAST), 1) * strength;
    for (let y = Math.max(style.isWhole ? box.top : first, 0); y < to; y += 1) {
      const place = y * width + x;
      // A line of paper keeps it apart from a task of a colour like its own.
      const isApart = !style.isWhole && y - first < box.ratio;
      const colour = isApart ? colours.paper : style.isOn(x / box.ratio, (y - box.top) / box.ratio) ? on : off;
      pixels[place] = over(pixels[place] as number, colour, y < first ? Math.min(share, 1) * strength : weight);
    }
  }
}

/** `share` of a colour on a pixel. */
function over(pixel: number, colour: Rgb, share: number): number {
  let mixed = 255 << 24;
  for (let i = 0; i < 3; i += 1) {
    const below = (pixel >>> (8 * i)) & 255;
    mixed |= Math.round(below + ((colour[i] as number) - below) * share) << (8 * i);
  }
  return mixed >>> 0;
}

/** So many prefixes have bars; the table has all. */
const MAX_BARS = 12;

const PARTS = [
  'cpu', 'off-cpu', 'executor', 'deserialize', 'serialize', 'decompress', 'compress', 'disk-read', 'disk-write', 'memory-read', 'failed', 'other'
] as const;
type Part = (typeof PARTS)[number];

/** What a bar shows an activity as: distributed's own by their names, users' own as other. */
function partOf(activity: string): Part {
  if (activity.endsWith('-noncpu')) {
    return 'off-cpu';
  }
  // The first two have no activity of their name: who meters one of these meters something else.
  return activity.endsWith('-cpu') ? 'cpu' : PARTS.slice(2).find(part => part === activity) ?? 'other';
}

function partsOf({ seconds }: SecondsOfPrefix): Float64Array {
  const sums = new Float64Array(PARTS.length);
  seconds.forEach((each, activity) => {
    const place = PARTS.indexOf(partOf(activity));
    sums[place] = (sums[place] as number) + Math.max(each, 0);
  });
  return sums;
}

export function Seconds({ prefixes, theme }: { readonly prefixes: readonly SecondsOfPrefix[]; readonly theme: Theme }): ComponentChildren {
  const all = prefixes.map(partsOf);
  const totals = PARTS.map((_, place) => all.reduce((sum, parts) => sum + (parts[place] as number), 0));
  const longestS = prefixes[0]?.totalS ?? 1;
  const styles = PARTS.map(part => styleOf(part, theme));
  const further = prefixes.length - MAX_BARS;
  return (
    <div class="tsk-seconds">
      <div class="tsk-seconds-title">{trans.__('Where the seconds of tasks went, all workers together: %1', formatDuration(prefixes.reduce((sum, { totalS }) => sum + totalS, 0)))}</div>
      {prefixes.slice(0, MAX_BARS).map(({ prefix, totalS }, i) => (
        <div class="tsk-seconds-row" key={prefix}>
          <span class="tsk-seconds-prefix" title={printable(prefix, 200)}>{printable(prefix, 60)}</span>
          <span class="tsk-seconds-bar" role="img" aria-label={wordsOf(all[i] as Float64Array)}>
            {PARTS.map((part, place) => {
              const seconds = all[i]?.[place] ?? 0;
              return seconds > 0 && (
                <span
                  key={part} data-part={part} title={trans.__('%1: %2', partName(part), formatDuration(seconds))}
                  style={{ width: `${(seconds / longestS) * 100}%`, ...styles[place] }}
                />
              );
            })}
          </span>
          <span class="tsk-seconds-total">{formatDuration(totalS)}</span>
        </div>
      ))}
      {further > 0 && <div>{trans._n('%2 more task type is in the table', '%2 more task types are in the table', further, formatCount(further))}</div>}
      <ul class="tsk-legend tsk-legend-plain tsk-seconds-legend">
        {PARTS.map((part, place) => (totals[place] as number) > 0 && (
          <LegendRow key={part} name={partName(part)} look={styles[place] ?? ''} amount={formatDuration(totals[place] as number)} />
        ))}
      </ul>
    </div>
  );
}

/** The same as a table of text, with the names that distributed's fine performance metrics have. */
export function secondsTable(prefixes: readonly SecondsOfPrefix[]): TextTable {
  return {
    caption: trans.__('Where the seconds of tasks went, all workers together'),
    columns: [trans.__('Task type'), trans.__('Spent on'), trans.__('Metered as'), trans.__('In all')],
    rows: prefixes.flatMap(({ prefix, seconds }) => [...seconds]
      .sort(([, a], [, b]) => b - a)
      .map(([activity, each]) => [printable(prefix, 200), partName(partOf(activity)), printable(activity, 60), formatDuration(each)]))
  };
}

function wordsOf(parts: Float64Array): string {
  return PARTS.flatMap((part, place) => {
    const seconds = parts[place] as number;
    return seconds > 0 ? [trans.__('%1 %2', partName(part), formatDuration(seconds))] : [];
  }).join(', ');
}

function styleOf(part: Part, theme: Theme): Record<string, string> {
  const background = GROUNDS[part];
  return background === undefined ? swatchStyle(KIND_STYLES[kindOf(part)], theme.dark, parseColour(theme.paper)) : { background };
}

function kindOf(part: Part): ActivityKind {
  return part === 'failed' ? 'failed-attempt' : ACTIVITIES.find(kind => kind === part) ?? 'other';
}

/** Those that no activity has. */
const GROUNDS: Partial<Record<Part, string>> = {
  cpu: 'var(--tsk-accent)',
  'off-cpu': 'color-mix(in srgb, var(--tsk-accent) 34%, var(--tsk-paper))',
  executor: 'color-mix(in srgb, var(--tsk-ink) 12%, var(--tsk-paper))',
  decompress: 'repeating-linear-gradient(0deg, var(--tsk-faint) 0 1px, var(--tsk-paper) 1px 3px)',
  compress: 'repeating-linear-gradient(45deg, var(--tsk-faint) 0 1px, var(--tsk-paper) 1px 4px)',
  'memory-read': 'color-mix(in srgb, var(--tsk-ink) 45%, var(--tsk-paper))',
  serialize: 'repeating-linear-gradient(90deg, var(--tsk-faint) 0 1px, var(--tsk-paper) 1px 3px)'
};

function partName(part: Part): string {
  const own: Partial<Record<Part, string>> = {
    cpu: trans.__('on the CPU'),
    'off-cpu': trans.__('off the CPU'),
    executor: trans.__('waiting for a thread'),
    decompress: trans.__('decompressed'),
    compress: trans.__('compressed'),
    'memory-read': trans.__('fetched from memory')
  };
  return own[part] ?? nameOf(kindOf(part));
}

export const ACTIVITIES_CSS = `
.tsk-activities { border-top: 1px solid var(--tsk-line); }
.tsk-activities .tsk-legend-note { color: var(--tsk-faint); }
[data-brief] .tsk-activities .tsk-legend-note { display: none; }
.taskscope-view [data-brief] :is(.tsk-activities, .tsk-gantt-legend:has(+ .tsk-activities:not([hidden]))) { max-height: 24px; }
@container (max-width: 520px) {
  [data-brief] .tsk-activities .tsk-legend-amount { display: none; }
}
`;
