/** Findings as cards below the lanes, and the critical path: each lights up its evidence there. */
import { messageOf } from '../../../lib/error-message';
import { formatCount, formatDuration, printable } from '../../../lib/format';
import { Seen } from '../../../lib/seen';
import type { Span } from '../../../lib/span';
import { trans } from '../../../lib/translate';
import type { RunRange, TaskStore } from '../../../store';
import type { CriticalPath, Explained, Explanation, Finding, KnownPath } from '../../../wire';
import type { Command } from '../../timeline/commands';
import { copyText } from '../../ui/export';
import type { Keeper, RevealCell } from '../../ui/keeping';
import { runPlace } from '../../ui/keeping';
import type { ComponentChildren } from '../../ui/render';
import { Component } from '../../ui/render';
import { Button } from '../../ui/toolbar';
import type { Painting } from '../scene';
import { STORY_CSS, Story } from '../story';
import { Explainer, MAX_WAIT_S, refused } from './explainer';
import type { Evidence } from './path';
import { evidenceOf, evidenceOfPath, paintEvidence, sumsOf, waitsText } from './path';

const MAX_TEXT = 500;

/** What is lit up: the path, as long as a person wants it, or the finding of a number. */
type Lit = 'path' | number | null;

export interface FindingsHost {
  readonly store: TaskStore;
  /** Leads to the cells of computes; left out: nowhere. */
  readonly reveal?: RevealCell | undefined;
  isSeen(): boolean;
  changed(): void;
}

/** Pages without a kernel need no more than this type. */
export type MakeFindings = (host: FindingsHost, signal: AbortSignal) => Findings;

/** Findings that a kernel knows. */
export function findingsOf({ explain, story }: Pick<Keeper, 'explain' | 'story'>): MakeFindings {
  return (host, signal) => new Findings(host, explain, story, signal);
}

export class Findings {
  readonly css = FINDINGS_CSS + STORY_CSS;
  /** Of the selected task. */
  readonly story: Story;
  /** Grows whenever there is something else to say, or to light up. */
  version = 0;
  /** Whether they stand above the lanes, where there is little room. */
  isAbove = false;
  readonly #explainer: Explainer;
  #lit: Lit = null;
  #isUnfolded = false;
  #runRange: RunRange = { firstRun: 0, lastRun: null };
  #evidence: Evidence | null = null;
  readonly #found = new Seen();
  #asked: Span | null = null;
  #why: ComponentChildren = null;
  #again: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly host: FindingsHost, private readonly ask: Keeper['explain'], story: Keeper['story'], private readonly signal: AbortSignal) {
    this.story = new Story(host.store, story, () => { this.#changed(); });
    this.#explainer = new Explainer({ ...host, ask, changed: () => { this.#changed(); } }, signal);
    signal.addEventListener('abort', () => { clearTimeout(this.#again); }, { once: true });
  }

  /** The critical path of what is shown, or why it is not known. */
  get path(): KnownPath {
    return this.#explainer.path;
  }

  /** What is lit up; null: nothing. */
  get evidence(): Evidence | null {
    return this.#evidence;
  }

  paint(context: CanvasRenderingContext2D, painting: Painting): void {
    if (this.#evidence !== null) {
      paintEvidence(context, painting, this.#evidence);
    }
  }

  /** There once the path is known. */
  command(): Command {
    const isLit = this.#lit === 'path';
    return {
      text: trans.__('Path'), label: trans.__('Light up the critical path (C)'), at: 'bar', isRare: true, pressed: isLit, hidden: !isLit && !('path' in this.path),
      keys: ['c', 'C'], shown: 'C', does: trans.__('light up the critical path'), run: () => { this.togglePath(); }
    };
  }

  /** Ask for what is shown now, and find its evidence again where tasks came. */
  update(runRange: RunRange): void {
    if (this.#explainer.refresh(runRange)) {
      this.#lit = this.#lit === 'path' ? 'path' : null;
      this.#isUnfolded = false;
      this.version += 1;
    }
    this.#runRange = { firstRun: runRange.firstRun, lastRun: runRange.lastRun };
    if (this.#found.isNew(...(this.#lit === null ? [] : [this.version, this.host.store.version]))) {
      this.#evidence = this.#find();
    }
  }

  togglePath(): void {
    this.#light(this.#lit === 'path' ? null : 'path');
  }

  /** Light up nothing; false if nothing was lit up. */
  clear(): boolean {
    const wasLit = this.#lit !== null;
    if (wasLit) {
      this.#light(null);
    }
    return wasLit;
  }

  /** What the path is made of, or why there is none. */
  said(): string {
    if (this.#lit !== 'path') {
      return '';
    }
    const known = this.path;
    return 'path' in known ? pathText(known.path) : trans.__('the critical path is not known: %1', printable(known.reason, MAX_TEXT));
  }

  /** Below the lanes: the line of the path, and where there is room, all findings. */
  below(): ComponentChildren {
    const { explanation, isAsking } = this.#explainer;
    const said = this.said() || (isAsking && !this.isAbove ? LOOKING() : '');
    return (
      <>
        <p class="tsk-findings-path" hidden={said === ''}>{said}</p>
        {!this.isAbove && explanation !== null && explanation.findings.length > 0 && this.#group(
          <>
            <div class="tsk-findings-head"><span class="tsk-track-title" aria-hidden="true">{trans.__('Findings')}</span> {trans.__('what to change, and what it may save: estimates, which may overlap')}</div>
            <ul>{explanation.findings.map((finding, i) => this.#card(finding, i, explanation, true))}</ul>
          </>
        )}
      </>
    );
  }

  /** Above the lanes: what is worth most, with its cure, and the others on demand; null where nothing is known. */
  above(): ComponentChildren {
    const { explanation } = this.#explainer;
    if (explanation === null) {
      return this.#explainer.isAsking ? <p class="tsk-findings-answer">{LOOKING()}</p> : null;
    }
    const { findings, answer, busy } = explanation;
    const isWhole = this.#isUnfolded;
    const n = findings.length;
    const why = n > 1 ? trans._n('Why? All %2 finding', 'Why? All %2 findings', n, formatCount(n)) : trans.__('Why?');
    // Floats beside the title of the one card, where there is room for both.
    return this.#group(n === 0 ? <p class="tsk-findings-answer">{printable(answer, MAX_TEXT)}</p> : (
      <>
        <div class="tsk-findings-more">
          <button type="button" aria-expanded={isWhole} onClick={() => { this.#fold(); }}>{isWhole ? trans.__('Show less') : why}</button>
          {!isWhole && busy !== null && <span title={printable(busy, MAX_TEXT)}>{trans.__('the machine was busy')}</span>}
        </div>
        <ul>{findings.slice(0, isWhole ? n : 1).map((finding, i) => this.#card(finding, i, explanation, isWhole))}</ul>
        {isWhole && busy !== null && <p>{printable(busy, MAX_TEXT)}</p>}
      </>
    ));
  }

  #group(children: ComponentChildren): ComponentChildren {
    return (
      <div
        class="tsk-findings" role="group" aria-label={trans.__('Findings')} data-folded={this.isAbove ? String(!this.#isUnfolded) : undefined}
        onKeyDown={event => {
          if (event.key === 'Escape' && this.clear()) {
            event.preventDefault();
          }
        }}
      >
        {children}
      </div>
    );
  }

  #card(finding: Finding, i: number, { makespanS }: Explanation, isWhole: boolean): ComponentChildren {
    const isLit = this.#lit === i;
    const run = finding.run === null ? undefined : this.host.store.tables.runs.get(finding.run);
    const [place, go] = run === undefined ? [null, null] : [runPlace(run), this.host.reveal?.(run) ?? null];
    // Its words can be selected, so the button is its title only; a click anywhere does the same.
    return (
      <li
        key={i} data-lit={String(isLit)}
        onClick={() => {
          if (document.getSelection()?.type !== 'Range') {
            this.#light(isLit ? null : i);
          }
        }}
      >
        <button type="button" aria-pressed={isLit} title={trans.__('Show it on the timeline')}>{causeTitle(finding.cause)}</button>{' '}
        {wordsOf(finding, makespanS, isWhole)}
        {isWhole && place !== null && go !== null && (
          <button type="button" class="tsk-findings-place" title={trans.__('Go to the cell')} onClick={event => { event.stopPropagation(); go(); }}>{place}</button>
        )}
      </li>
    );
  }

  /** Asks why what lies in a span took so long. */
  button(span: Span): ComponentChildren {
    return <Button text={trans.__('Why?')} label={trans.__('Why? What slowed the selected time')} act={() => { void this.#explain(span); }} />;
  }

  /** What the kernel said of a span, if it is the one that was asked about last. */
  why(span: Span): ComponentChildren {
    return <div role="status">{isSame(this.#asked, span) && this.#why}</div>;
  }

  async #explain(span: Span): Promise<void> {
    const say = (why: ComponentChildren): void => {
      this.#why = why;
      this.#changed();
    };
    this.#asked = span;
    say(trans.__('asking the kernel…'));
    const explained = await this.ask(this.#runRange, span).catch(refused);
    if (this.#asked !== span || this.signal.aborted) {
      return;
    }
    say(inWords(explained));
    if (explained.kind === 'later') {
      this.#again = setTimeout(() => {
        if (this.#asked === span) {
          void this.#explain(span);
        }
      }, Math.min(explained.waitS, MAX_WAIT_S) * 1000);
    }
  }

  #find(): Evidence | null {
    const { explanation } = this.#explainer;
    const lit = this.#lit;
    if (explanation === null || lit === null) {
      return null;
    }
    if (lit === 'path') {
      return 'path' in explanation.path ? evidenceOfPath(this.host.store, this.#runRange, explanation.path.path) : null;
    }
    const finding = explanation.findings[lit];
    return finding === undefined ? null : evidenceOf(this.host.store, this.#runRange, finding);
  }

  #fold(): void {
    this.#isUnfolded = !this.#isUnfolded;
    this.#changed();
  }

  #light(lit: Lit): void {
    this.#lit = lit;
    this.#changed();
  }

  #changed(): void {
    this.version += 1;
    this.host.changed();
  }
}

const LOOKING = (): string => trans.__('looking for causes…');
const isSame = (one: Span | null, other: Span): boolean => one?.startS === other.startS && one.stopS === other.stopS;

function inWords(explained: Explained): ComponentChildren {
  if (explained.kind !== 'explained') {
    return explained.kind === 'none' ? printable(explained.reason, MAX_TEXT) : trans.__('no answer yet: the kernel is asked again in %1', formatDuration(explained.waitS));
  }
  const { findings, answer, makespanS } = explained.explanation;
  return findings.length === 0
    ? printable(answer, MAX_TEXT)
    : findings.map(finding => <div class="tsk-findings-words"><b>{causeTitle(finding.cause)}</b> {wordsOf(finding, makespanS, true)}</div>);
}

/** @param isWhole leaves nothing out for lack of room */
function wordsOf(finding: Finding, makespanS: number, isWhole: boolean): ComponentChildren {
  const parts = adviceParts(printable(finding.advice, MAX_TEXT));
  const code = parts.filter(({ isCode }) => isCode).map(({ text }) => text).join('\n');
  return (
    <>
      <span class="tsk-findings-worth">{worthText(finding, makespanS, isWhole)}</span>
      {isWhole && <p>{printable(finding.text, MAX_TEXT)}</p>}
      <p class="tsk-findings-advice">
        {parts.map(({ text, isCode }) => (isCode ? <code>{text}</code> : text))}
        {code !== '' && <> <CopyCode code={code} /></>}
      </p>
    </>
  );
}

const COPIED_MS = 2_000;

/** A button that copies code, and says for a moment how that went. */
class CopyCode extends Component<{ readonly code: string }, { readonly said: string | null }> {
  override state: { readonly said: string | null } = { said: null };
  #timer: ReturnType<typeof setTimeout> | undefined;

  override componentWillUnmount(): void {
    clearTimeout(this.#timer);
  }

  override render({ code }: { readonly code: string }): ComponentChildren {
    const copy = (event: Event): void => {
      // A click on the card does something else.
      event.stopPropagation();
      copyText(code).then(() => { this.#say(trans.__('Copied')); }, (error: unknown) => { this.#say(trans.__('could not copy: %1', messageOf(error))); });
    };
    return <button type="button" title={trans.__('Copy the change: %1', code)} onClick={copy}><span role="status">{this.state.said ?? trans.__('Copy')}</span></button>;
  }

  #say(said: string): void {
    this.setState({ said });
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => { this.setState({ said: null }); }, COPIED_MS);
  }
}

/** As `taskscope.analysis.explain.finding.Cause` names them. */
export function causeTitle(cause: string): string {
  const titles: Readonly<Record<string, string>> = {
    'interpreter-lock': trans.__('Interpreter lock'),
    lock: trans.__('A lock of tasks'),
    oversubscribed: trans.__('More threads than cores'),
    waiting: trans.__('Tasks wait'),
    'short-tasks': trans.__('Short tasks'),
    'few-tasks': trans.__('Few tasks'),
    'serial-step': trans.__('A step runs alone'),
    'long-chain': trans.__('Long chain'),
    stragglers: trans.__('Stragglers'),
    recomputed: trans.__('Computed again'),
    'memory-pressure': trans.__('Memory pressure'),
    transfers: trans.__('Transfers'),
    serialization: trans.__('Serialization'),
    'large-graph': trans.__('Large graph'),
    'no-workers': trans.__('No workers'),
    'pool-start': trans.__('Processes start'),
    'slow-worker': trans.__('Slow worker'),
    'idle-workers': trans.__('Idle workers'),
    'client-gaps': trans.__('Gaps between computes'),
    'lost-work': trans.__('Lost work')
  };
  return titles[cause] ?? printable(cause, 40);
}

/** @param hasBand says between what it lies, too */
export function worthText({ worthS, lowS, highS }: Finding, makespanS: number, hasBand: boolean): string {
  const [worth, low, high, whole] = [worthS, lowS, highS, makespanS].map(formatDuration) as [string, string, string, string];
  if (lowS <= 0) {
    return trans.__('up to %1 of %2', high, whole);
  }
  return hasBand ? trans.__('about %1 (%2 to %3) of %4', worth, low, high, whole) : trans.__('about %1 of %2', worth, whole);
}

/** Which tasks and waits a path is made of. */
export function pathText(path: CriticalPath): string {
  const { nTasks, taskS, waitsS } = sumsOf(path);
  const tasks = trans._n('critical path: %2 task, %3', 'critical path: %2 tasks, %3', nTasks, formatCount(nTasks), formatDuration(taskS));
  return waitsS.length === 0 ? tasks : trans.__('%1 · waits: %2', tasks, waitsText(waitsS));
}

const CODE = /(?:\w+ = )?[\w.]*\w\([^()]*\)|\b\w+=\d+|\bclient\.\w+/gu;

/** The parts of an advice, calls apart from what is said of them. */
export function adviceParts(advice: string): { readonly text: string; readonly isCode: boolean }[] {
  const parts: { text: string; isCode: boolean }[] = [];
  let from = 0;
  for (const { 0: text, index } of advice.matchAll(CODE)) {
    parts.push({ text: advice.slice(from, index), isCode: false }, { text, isCode: true });
    from = index + text.length;
  }
  return [...parts, { text: advice.slice(from), isCode: false }].filter(({ text }) => text !== '');
}

const FINDINGS_CSS = `
.tsk-findings { margin: 8px 12px 0; }
.tsk-findings-path { margin: 6px 12px 0; overflow-wrap: anywhere; }
.tsk-findings-head { color: var(--tsk-faint); }
.tsk-findings ul {
  display: grid; grid-template-columns: repeat(auto-fill, minmax(min(320px, 100%), 1fr)); gap: 8px;
  margin: 4px 0 0; padding: 0; list-style: none;
}
.tsk-findings li {
  min-width: 0; padding: 6px 10px; border: 1px solid var(--tsk-line); border-inline-start: 3px solid var(--tsk-line); border-radius: 4px;
  overflow-wrap: anywhere; cursor: pointer;
}
.tsk-findings li:hover, .tsk-findings li[data-lit='true'] { border-color: var(--tsk-accent); }
.tsk-findings li[data-lit='true'] { background: color-mix(in srgb, var(--tsk-accent) 8%, transparent); }
:is(.tsk-findings, .tsk-findings-words) button {
  min-width: 0; height: auto; padding: 0; border: 0; background: none; color: var(--tsk-ink); font: inherit; text-align: start;
  text-decoration: underline; text-decoration-color: var(--tsk-faint); cursor: pointer;
}
.tsk-findings li > button[aria-pressed] { font-weight: 600; text-decoration: none; }
:is(.tsk-findings, .tsk-findings-words) button:focus-visible { outline: 2px solid var(--tsk-accent); outline-offset: 2px; }
.tsk-findings-worth, .tsk-findings-advice, .tsk-findings-more { color: var(--tsk-faint); }
.tsk-findings-words { margin: 4px 0; }
:is(.tsk-findings li, .tsk-findings-words) p { margin: 2px 0 0; }
:is(.tsk-findings, .tsk-findings-words) code { font: 11.5px/1.5 var(--tsk-code); color: var(--tsk-ink); background: none; }
.tsk-progress-answer .tsk-findings { margin: 0; line-height: 18px; }
.tsk-progress-answer .tsk-findings ul { margin: 0; }
.tsk-progress-answer .tsk-findings-answer { margin: 2px 0 0; }
.tsk-findings-worth { display: inline-block; }
.tsk-findings-more { display: flex; flex-wrap: wrap; gap: 0 12px; }
.tsk-findings[data-folded='false'] { display: flex; flex-direction: column; }
.tsk-findings[data-folded='false'] .tsk-findings-more { order: 1; }
.tsk-findings[data-folded='true'] .tsk-findings-more { float: inline-end; margin-inline-start: 12px; }
.tsk-findings[data-folded='true'] ul { display: block; }
.tsk-findings[data-folded='true'] li { padding: 2px 8px; border-width: 0 0 0 3px; border-radius: 0; }
@container (max-width: 340px) {
  .tsk-findings[data-folded='true'] { display: flex; flex-direction: column; }
  .tsk-findings[data-folded='true'] .tsk-findings-more { order: 1; margin: 0; }
}
`;
