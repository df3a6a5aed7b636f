/** The parts of the progress chart: its icon, bars, and the lists of prefixes, errors and computes. */
import { formatCount, formatDuration, printable } from '../../lib/format';
import { trans } from '../../lib/translate';
import type { FailureKind } from '../../store';
import { countRuns } from '../../store';
import type { Run } from '../../wire';
import { Swatch } from '../ui/legend';
import type { RevealCell } from '../ui/keeping';
import { nameOf, namesOf, runName, runPlace } from '../ui/keeping';
import type { ComponentChildren } from '../ui/render';
import { Component } from '../ui/render';
import { fold } from '../ui/text-table';
import type { Counts, PrefixRow, ProgressLayout, ProgressState } from './layout';
import { sharesOfTime } from './layout';
import { errorText, hiddenText, rowNumber, rowSentence, stateWord } from './words';

/** One shape per state, so that colour is not all that tells them apart. */
const SHAPES: Readonly<Record<ProgressState, string>> = {
  waiting: 'M2.5 8a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0 -11 0',
  running: 'M5 3.5l7 4.5l-7 4.5z',
  finished: 'M2.5 8.5l3.5 3.5l7.5 -8',
  erred: 'M3.5 3.5l9 9m0 -9l-9 9',
  interrupted: 'M4 4h8v8h-8z'
};

export function StateIcon({ state }: { readonly state: ProgressState }): ComponentChildren {
  return <svg viewBox="0 0 16 16" aria-hidden="true"><path d={SHAPES[state]} /></svg>;
}

/** What finished, erred, was interrupted and runs; each has a pattern of its own. */
const SEGMENTS = ['finished', 'erred', 'interrupted', 'running'] as const;

export function Segments({ counts }: { readonly counts: Counts }): ComponentChildren {
  const { total } = counts;
  return SEGMENTS.map(name => (
    <div
      class={`tsk-segment tsk-${name}${counts[name] > 0 ? ' tsk-some' : ''}`}
      style={{ width: total > 0 ? `${(100 * counts[name]) / total}%` : '0%' }}
    />
  ));
}

type ColourOf = (prefix: string) => string;

/** After the end the bar is divided among the task types, by the time that their tasks took. */
export function TimeShares({ layout, colourOf }: { readonly layout: ProgressLayout; readonly colourOf: ColourOf }): ComponentChildren {
  return sharesOfTime(layout).map(({ prefix, share }) => (
    <div class="tsk-segment tsk-finished" style={{ width: `${100 * share}%`, '--tsk-prefix': colourOf(prefix) }} />
  ));
}

const MAX_TIMES = 8;

/** The types whose tasks took longest, each with its colour and its seconds. */
export function Times({ layout, colourOf }: { readonly layout: ProgressLayout; readonly colourOf: ColourOf }): ComponentChildren {
  return sharesOfTime(layout).slice(0, MAX_TIMES).map(({ prefix, seconds }) => (
    <span class="tsk-progress-time"><Swatch look={{ background: colourOf(prefix) }} /><span>{printable(prefix, MAX_NAME_CHARS)} {formatDuration(seconds)}</span></span>
  ));
}

interface FoldedListProps<Row> {
  readonly rows: readonly Row[];
  /** How many are there before a person asks for the others, and at most: a page must stay quick whatever there is. */
  readonly folded: number;
  readonly most: number;
  /** Which are never folded away. */
  readonly must?: (row: Row) => boolean;
  readonly classes: readonly [box: string, list: string];
  readonly label: string;
  readonly row: (row: Row) => ComponentChildren;
  readonly more: (rows: readonly Row[]) => string;
}

class FoldedList<Row> extends Component<FoldedListProps<Row>, { readonly open: boolean }> {
  override state = { open: false };

  override render({ rows, folded, most, must = () => false, classes: [box, list], label, row, more }: FoldedListProps<Row>): ComponentChildren {
    const { open } = this.state;
    const { shown, rest } = fold(rows, folded, must);
    const unlisted = rows.length - most;
    const fewer = unlisted > 0 ? trans.__('Show fewer (%1 more are not listed)', formatCount(unlisted)) : trans.__('Show fewer');
    return (
      <div class={box} hidden={rows.length === 0}>
        <ul class={list} aria-label={label}>{(open ? rows.slice(0, most) : shown.slice(0, most)).map(row)}</ul>
        <button
          type="button" class="tsk-button tsk-progress-more" aria-expanded={open} hidden={rest.length === 0}
          onClick={() => { this.setState({ open: !open }); }}
        >
          {rest.length > 0 && (open ? fewer : more(rest))}
        </button>
      </div>
    );
  }
}

const MAX_NAME_CHARS = 120;

interface PrefixRowsProps {
  readonly prefixes: readonly PrefixRow[];
  readonly colourOf: ColourOf;
  readonly isOver: boolean;
  readonly folded: number;
}

/** A colour, a name, a small bar and the counts of each prefix. */
export function PrefixRows({ prefixes, colourOf, isOver, folded }: PrefixRowsProps): ComponentChildren {
  const row = (prefix: PrefixRow): ComponentChildren => {
    const colour = colourOf(prefix.prefix);
    const sentence = rowSentence(prefix);
    return (
      <li class={`tsk-progress-row${(prefix.ahead?.noWorker ?? 0) > 0 ? ' tsk-stuck' : ''}`} title={`${printable(prefix.prefix)}: ${sentence}`}>
        <span class="tsk-swatch" style={{ background: colour }} />
        <span class="tsk-progress-name">{printable(prefix.prefix, MAX_NAME_CHARS)}</span>
        <div class="tsk-progress-bar" role="img" aria-label={sentence} style={{ '--tsk-prefix': colour }}><Segments counts={prefix} /></div>
        <span class="tsk-progress-number">{rowNumber(prefix, isOver)}</span>
      </li>
    );
  };
  const more = (hidden: readonly PrefixRow[]): string => {
    const doing = hiddenText(hidden);
    const text = trans._n('Show %2 more task type', 'Show %2 more task types', hidden.length, formatCount(hidden.length));
    return doing === '' ? text : `${text} (${doing})`;
  };
  return (
    <FoldedList
      rows={prefixes} folded={folded} most={200} must={({ running }) => running > 0} classes={['tsk-progress-prefixes', 'tsk-progress-rows']}
      label={trans.__('By task type')} row={row} more={more}
    />
  );
}

/** What went wrong: for each prefix and message how often, and which task was the first. */
export function Errors({ errors }: { readonly errors: readonly FailureKind[]; }): ComponentChildren {
  const more = ({ length: n }: readonly FailureKind[]): string => trans._n('Show %2 more error', 'Show %2 more errors', n, formatCount(n));
  return (
    <FoldedList
      rows={errors} folded={3} most={100} classes={['tsk-progress-errors', '']} label={trans.__('Errors')}
      row={error => <li>{errorText(error)}</li>} more={more}
    />
  );
}

/** A page must stay quick whatever a notebook computes. */
const MAX_RUNS = 100;

interface RunNameProps {
  readonly runs: readonly Run[];
  /** The numbers of those in the charts. */
  readonly shown: ReadonlySet<number>;
  readonly reveal: RevealCell;
  readonly isOpen: boolean;
  /** Shows the list of all computes, or hides it. */
  readonly toggle: () => void;
}

/** Which cell the charts show: a way there, or where there are several computes, to the list of them. */
export function RunName({ runs, shown, reveal, isOpen, toggle }: RunNameProps): ComponentChildren {
  const here = runs.filter(({ run }) => shown.has(run));
  const text = namesOf(here);
  if (runs.length > 1) {
    const computes = trans._n('%2 compute', '%2 computes', countRuns(runs), formatCount(countRuns(runs)));
    return (
      <button type="button" class="tsk-button tsk-progress-run" aria-expanded={isOpen} aria-label={`${text}, ${computes}`} title={computes} onClick={toggle}>
        {text} <span aria-hidden="true">{isOpen ? '▴' : '▾'}</span>
      </button>
    );
  }
  const [only] = runs;
  const name = only === undefined ? null : runName(only);
  const go = only === undefined || name === null ? null : reveal(only);
  return go === null
    ? <b class="tsk-progress-run" hidden={name === null}>{name}</b>
    : <button type="button" class="tsk-button tsk-progress-run" title={trans.__('Go to the cell')} onClick={go}>{name}</button>;
}

interface RunListProps extends Pick<RunNameProps, 'runs' | 'shown' | 'reveal'> {
  readonly nowS: number;
  /** What is shown since a person selected it: one compute, by its number, or all together; null: what runs now. */
  readonly chosen?: number | 'all' | null;
  /** Shows one alone, null: no longer; null instead of it: none can be selected. */
  readonly choose?: ((run: number | null) => void) | null;
}

/** The computes, the latest first: each by its line in the user's code, and a way there where the page has that cell. */
export function RunList({ runs, shown, nowS, reveal, chosen = null, choose = null }: RunListProps): ComponentChildren {
  return (
    <>
      {choose !== null && (
        <button type="button" class="tsk-button tsk-progress-latest" hidden={chosen === null} onClick={() => { choose(null); }}>
          {trans.__('Back to the latest')}
        </button>
      )}
      <ul class="tsk-progress-runs" aria-label={trans.__('Computes')}>
        {runs.slice(-MAX_RUNS).reverse().map(run => {
          const [name, go] = [run.lastRun === null ? runPlace(run) ?? nameOf(run) : nameOf(run), reveal(run)];
          return (
            <li key={run.run} aria-current={shown.has(run.run) ? 'true' : undefined}>
              {go === null ? <b>{name}</b> : <button type="button" class="tsk-button" title={trans.__('Go to the cell')} onClick={go}>{name}</button>}
              <span>{factsOf(run, nowS, choose !== null)}</span>
              {choose !== null && (
                <button
                  type="button" class="tsk-button tsk-progress-choose" aria-pressed={chosen === run.run}
                  aria-label={trans.__('Show %1', name)} onClick={() => { choose(chosen === run.run ? null : run.run); }}
                >
                  {trans.__('Show')}
                </button>
              )}
            </li>
          );
        })}
      </ul>
    </>
  );
}

function factsOf(run: Run, nowS: number, hasWhen: boolean): string {
  const lastedS = run.computingS ?? (run.startS === null ? null : run.stopS === null ? Math.max(Math.floor(nowS - run.startS), 0) : run.stopS - run.startS);
  const facts = [stateWord(run.status), trans._n('%2 task', '%2 tasks', run.nTasks, formatCount(run.nTasks)), ...(lastedS === null ? [] : [formatDuration(lastedS)])];
  if (hasWhen && run.stopS !== null) {
    facts.push(trans.__('%1 ago', formatDuration(Math.max(Math.floor(nowS - run.stopS), 0))));
  }
  return facts.join(' · ');
}

export const PROGRESS_CSS = `
.tsk-progress {
  --tsk-track: var(--jp-layout-color2, #eef0f3);
  --tsk-success: #2e7d32;
  --tsk-warn: #a85400;
  --tsk-stripe: color-mix(in srgb, var(--tsk-paper) 65%, transparent);
  position: relative;
  container-type: inline-size;
  padding: 8px 12px;
  line-height: 20px;
  overflow-wrap: anywhere;
}
.tsk-progress.tsk-dark {
  --tsk-track: var(--jp-layout-color2, #2b323b);
  --tsk-success: #66bb6a;
  --tsk-warn: #ffb74d;
}
.tsk-progress-head { display: flex; align-items: center; gap: 10px; height: 28px; }
.tsk-progress-lines { display: flex; gap: 16px; height: 20px; overflow: hidden; }
.tsk-progress-counts { display: flex; flex: none; gap: 12px; max-width: 100%; white-space: nowrap; }
.tsk-progress-counts > .tsk-progress-count, .tsk-progress-meta > span { overflow: hidden; text-overflow: ellipsis; }
.tsk-progress-meta { display: flex; flex: 1 1 0; flex-wrap: wrap; gap: 0 16px; min-width: 0; max-height: 100%; overflow: hidden; color: var(--tsk-faint); }
.tsk-progress-meta > span { max-width: 100%; white-space: nowrap; }
.tsk-progress-meta > .tsk-progress-live { white-space: normal; }
.tsk-progress-time .tsk-swatch { display: inline-block; margin-inline-end: 5px; width: 10px; height: 10px; border-radius: 1px; forced-color-adjust: none; }
.tsk-progress:not([data-answered]) .tsk-progress-time { display: none; }
.tsk-progress-state { display: flex; flex: none; align-items: center; gap: 6px; font-weight: 600; white-space: nowrap; }
.tsk-progress-run { flex: 0 1 auto; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.tsk-progress-state svg { width: 16px; height: 16px; flex: none; fill: none; stroke: currentColor; stroke-width: 2; }
.tsk-progress[data-state='waiting'] .tsk-progress-state svg { color: var(--tsk-faint); }
.tsk-progress[data-state='running'] .tsk-progress-state svg { color: var(--tsk-accent); }
.tsk-progress[data-state='finished'] .tsk-progress-state svg { color: var(--tsk-success); }
.tsk-progress[data-state='erred'] .tsk-progress-state svg { color: var(--tsk-error); }
.tsk-progress[data-state='interrupted'] .tsk-progress-state svg { color: var(--tsk-stopped); }
.tsk-progress-held { color: var(--tsk-warn); }
.tsk-progress-acts { display: flex; flex: none; align-items: center; gap: 6px; margin-inline-start: auto; }
.tsk-progress .tsk-notice { padding: 0; }
.tsk-progress-percent { font-weight: 600; }
.tsk-progress-bar {
  display: flex;
  overflow: hidden;
  height: 12px;
  margin: 4px 0;
  border: 1px solid var(--tsk-line);
  border-radius: 2px;
  background: var(--tsk-track);
}
.tsk-progress-row .tsk-progress-bar { height: 10px; margin: 0; }
.tsk-segment { flex: none; height: 100%; --tsk-fill: var(--tsk-prefix, var(--tsk-accent)); forced-color-adjust: none; }
.tsk-segment.tsk-some { min-width: 3px; }
.tsk-segment.tsk-finished { background: var(--tsk-fill); }
.tsk-segment.tsk-running {
  background: repeating-linear-gradient(135deg, var(--tsk-stripe) 0 3px, transparent 3px 6px), var(--tsk-fill);
}
.tsk-progress-meta .tsk-key { display: inline-block; width: 10px; height: 10px; margin-inline-end: 5px; border-radius: 1px; }
.tsk-progress-live, .tsk-progress-stuck, .tsk-progress-row.tsk-stuck .tsk-progress-number { color: var(--tsk-warn); font-weight: 600; }
.tsk-progress[data-state='waiting'] .tsk-progress-live { color: inherit; font-weight: normal; }
.tsk-progress-error { color: var(--tsk-ink); border-inline-start: 3px solid var(--tsk-error); padding-inline-start: 8px; margin-top: 4px; }
.tsk-progress-errors { border-inline-start: 3px solid var(--tsk-error); padding-inline-start: 8px; margin-top: 4px; }
.tsk-progress[data-state='interrupted'] :is(.tsk-progress-error, .tsk-progress-errors) { border-color: var(--tsk-stopped); }
.tsk-progress-errors ul { margin: 0; padding: 0; list-style: none; max-height: 240px; overflow: auto; }
.tsk-progress-rows {
  display: grid;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 300px), 1fr));
  gap: 2px 24px;
  margin: 6px 0 0;
  padding: 0;
  list-style: none;
}
.tsk-progress-row { display: grid; grid-template-columns: 10px minmax(8ch, 3fr) minmax(16px, 2fr) auto; align-items: center; gap: 8px; }
.tsk-progress-row .tsk-swatch { width: 10px; height: 10px; border-radius: 1px; forced-color-adjust: none; }
.tsk-progress-name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.tsk-progress-number { color: var(--tsk-faint); text-align: end; min-width: 9ch; }
.tsk-progress .tsk-button {
  height: auto;
  padding: 2px 8px;
  border: 1px solid var(--tsk-line);
  border-radius: 2px;
  background: none;
  color: var(--tsk-ink);
  font: inherit;
  line-height: 16px;
  cursor: pointer;
}
.tsk-progress .tsk-button:hover { background: var(--tsk-track); }
.tsk-progress .tsk-button:disabled { color: var(--tsk-faint); cursor: default; }
.tsk-progress .tsk-button:focus-visible { outline: 2px solid var(--tsk-accent); outline-offset: 1px; }
.tsk-progress .tsk-button[aria-pressed='true'] { border-color: var(--tsk-accent); box-shadow: inset 0 0 0 1px var(--tsk-accent); }
.tsk-progress .tsk-progress-latest, .tsk-progress .tsk-progress-run, .tsk-progress-runs .tsk-button { padding: 0 6px; }
.tsk-progress-runs { margin: 4px 0; padding: 0; list-style: none; max-height: 240px; overflow: auto; }
.tsk-progress-runs li { display: grid; grid-template-columns: minmax(min-content, max-content) 1fr auto; align-items: baseline; gap: 0 10px; padding: 2px 2px 2px 6px; border-inline-start: 3px solid transparent; }
.tsk-progress-runs li[aria-current] { border-inline-start-color: var(--tsk-accent); background: color-mix(in srgb, var(--tsk-accent) 10%, transparent); }
.tsk-progress-runs li > span { color: var(--tsk-faint); }
.tsk-progress-more { margin: 4px 0 0; }
.tsk-progress-question { margin: 4px 0; padding: 4px 8px; border: 1px solid var(--tsk-warn); border-radius: 2px; }
.tsk-progress-question p { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: center; gap: 2px 12px; margin: 2px 0; }
.tsk-progress-note { color: var(--tsk-ink); }
@container (max-width: 520px) {
  .tsk-progress-lines { display: block; height: 40px; }
  .tsk-progress-percent { margin-inline-start: auto; }
  .tsk-progress-meta { max-height: 20px; }
  .tsk-progress-runs li > span { grid-area: 2 / 1 / 3 / -1; }
  .tsk-progress-runs .tsk-progress-choose { grid-area: 1 / 3; }
}
/* In a side panel and under a cell the answer takes the place of what runs, so that charts stay where they are; a long one is shown whole. */
.tsk-progress[data-dense] { padding-block: 4px; }
.tsk-progress[data-dense] .tsk-progress-answer { --tsk-room: 46px; height: var(--tsk-room); overflow: auto; }
.tsk-progress[data-answered] .tsk-progress-answer { height: auto; min-height: var(--tsk-room); overflow: visible; display: flow-root; }
.tsk-progress[data-dense][data-answered] .tsk-progress-prefixes { display: none; }
.tsk-progress[data-dense] .tsk-progress-rows { margin-top: 2px; }
.tsk-progress[data-dense] .tsk-progress-more { margin-top: 2px; padding-block: 0; }
.tsk-progress-empty { margin: 2px 0 0; color: var(--tsk-faint); }
.tsk-progress-meta .tsk-narrow { display: none; }
@container (max-width: 340px) {
  .tsk-progress-meta .tsk-wide { display: none; }
  .tsk-progress-meta .tsk-narrow { display: inline; }
  .tsk-progress-head, .tsk-progress-acts { gap: 4px; }
  .tsk-progress .tsk-progress-run, .tsk-progress .tsk-progress-stop { padding-inline: 4px; }
  .tsk-progress-lines { height: 60px; }
  .tsk-progress-meta { max-height: 40px; }
  .tsk-progress[data-dense] .tsk-progress-answer { --tsk-room: 140px; }
}
@container (max-width: 260px) {
  .tsk-progress .tsk-progress-acts button:not([role]) { padding-inline: 4px; min-width: 24px; }
  .tsk-progress-head:has(> .tsk-progress-run:not([hidden])) .tsk-progress-state svg { display: none; }
}
@media (max-width: 480px) {
  .tsk-progress { padding-inline: 8px; }
}
@media (prefers-reduced-motion: no-preference) {
  .tsk-progress-bar > .tsk-segment { transition: width 120ms linear; }
}
`;
