/** The legend of activities: a button for each kind, which shows or hides it. */
import { formatBytes, formatCount, formatDuration } from '../../lib/format';
import { parseColour } from '../../lib/palette';
import type { Theme } from '../../lib/theme';
import { trans } from '../../lib/translate';
import type { ActivitySum } from '../../store';
import type { ActivityKind } from '../../wire';
import { ACTIVITIES } from '../../wire';
import type { ComponentChildren } from '../ui/render';
import type { TextTable } from '../ui/tables';
import { KIND_STYLES, swatchStyle } from './kinds';

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
    <ul class="tsk-gantt-legend tsk-activities" aria-label={trans.__('Activities of workers: press one to hide or show it')} hidden={sums.length === 0}>
      {sums.map(({ kind, n, seconds, nbytes }) => {
        const code = ACTIVITIES.indexOf(kind);
        const isShown = hidden[code] === 0;
        const took = formatDuration(seconds);
        return (
          <li key={kind}>
            <button
              type="button" data-kind={kind} aria-pressed={isShown} onClick={() => { toggle(code); }}
              title={isShown ? trans.__('%1: %2 in all; press to hide', nameOf(kind), took) : trans.__('%1: hidden, press to show', nameOf(kind))}
            >
              <Swatch kind={kind} theme={theme} />
              <span class="tsk-gantt-legend-name">{nameOf(kind)}</span>
              <span class="tsk-gantt-legend-count">{nbytes > 0 ? trans.__('%1 · %2', formatCount(n), formatBytes(nbytes)) : formatCount(n)}</span>
            </button>
          </li>
        );
      })}
      <li key="/note" class="tsk-gantt-legend-statuses">{missing > 0 ? trans.__('%1; the longest are shown, %2 are not', busy, formatCount(missing)) : busy}</li>
    </ul>
  );
}

/** Of the colours that the chart has. */
function Swatch({ kind, theme }: { readonly kind: ActivityKind; readonly theme: Theme }): ComponentChildren {
  return <span class="tsk-gantt-swatch" style={swatchStyle(KIND_STYLES[kind], theme.dark, parseColour(theme.paper))} />;
}

/** The same as a table of text. */
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
  switch (kind) {
    case 'transfer':
      return trans.__('transfer');
    case 'disk-read':
      return trans.__('read from disk');
    case 'disk-write':
      return trans.__('written to disk');
    case 'deserialize':
      return trans.__('deserialized');
    case 'serialize':
      return trans.__('serialized');
    case 'other':
      return trans.__('other');
    case 'failed-attempt':
      return trans.__('failed attempt');
  }
}
