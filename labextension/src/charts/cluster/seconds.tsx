/** Where the seconds of executing tasks went: a bar for each prefix, of what workers metered. */
import { formatCount, formatDuration, printable } from '../../lib/format';
import { parseColour } from '../../lib/palette';
import type { Theme } from '../../lib/theme';
import { trans } from '../../lib/translate';
import type { SecondsOfPrefix } from '../../store';
import type { ActivityKind } from '../../wire';
import { ACTIVITIES } from '../../wire';
import type { ComponentChildren } from '../ui/render';
import type { TextTable } from '../ui/tables';
import { KIND_STYLES, nameOf as kindName, swatchStyle } from './kinds';

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

/** The seconds of each part, in the order of the parts. */
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
                  key={part} data-part={part} title={trans.__('%1: %2', nameOf(part), formatDuration(seconds))}
                  style={{ width: `${(seconds / longestS) * 100}%`, ...styles[place] }}
                />
              );
            })}
          </span>
          <span class="tsk-seconds-total">{formatDuration(totalS)}</span>
        </div>
      ))}
      {further > 0 && <div>{trans._n('%2 more task type is in the table', '%2 more task types are in the table', further, formatCount(further))}</div>}
      <div class="tsk-seconds-legend">
        {PARTS.map((part, place) => (totals[place] as number) > 0 && (
          <span key={part}><span class="tsk-gantt-swatch" style={styles[place]} />{trans.__('%1 %2', nameOf(part), formatDuration(totals[place] as number))}</span>
        ))}
      </div>
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
      .map(([activity, each]) => [printable(prefix, 200), nameOf(partOf(activity)), printable(activity, 60), formatDuration(each)]))
  };
}

function wordsOf(parts: Float64Array): string {
  return PARTS.flatMap((part, place) => {
    const seconds = parts[place] as number;
    return seconds > 0 ? [trans.__('%1 %2', nameOf(part), formatDuration(seconds))] : [];
  }).join(', ');
}

function styleOf(part: Part, theme: Theme): Record<string, string> {
  const background = GROUNDS[part];
  return background === undefined ? swatchStyle(KIND_STYLES[kindOf(part)], theme.dark, parseColour(theme.paper)) : { background };
}

/** The kind of activity that a part is drawn as. */
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

function nameOf(part: Part): string {
  const own: Partial<Record<Part, string>> = {
    cpu: trans.__('on the CPU'),
    'off-cpu': trans.__('off the CPU'),
    executor: trans.__('waiting for a thread'),
    decompress: trans.__('decompressed'),
    compress: trans.__('compressed'),
    'memory-read': trans.__('fetched from memory')
  };
  return own[part] ?? kindName(kindOf(part));
}
