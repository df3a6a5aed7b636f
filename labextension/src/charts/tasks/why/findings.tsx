/** Findings as cards below the lanes, and the critical path: each lights up its evidence there. */
import { printable } from '../../../lib/format';
import { trans } from '../../../lib/translate';
import type { RunWindow, TaskStore } from '../../../store';
import type { Explanation, Finding, KnownPath } from '../../../wire';
import type { Keeper } from '../../ui/keeping';
import type { ComponentChildren } from '../../ui/render';
import type { ButtonSpec } from '../../ui/toolbar';
import type { Picture } from '../scene';
import type { Evidence } from './evidence';
import { evidenceOf, evidenceOfPath } from './evidence';
import { Explainer } from './explainer';
import { paintEvidence } from './paint';
import { FINDINGS_CSS } from './style';
import { adviceParts, causeTitle, countText, pathText, worthText } from './words';

const MAX_TEXT = 500;

/** What is lit up: the path, as long as a person wants it, or the finding of a number. */
type Lit = 'path' | number | null;

export interface FindingsHost {
  readonly store: TaskStore;
  isSeen(): boolean;
  changed(): void;
}

/** Pages without a kernel need no more than this type. */
export type MakeFindings = (host: FindingsHost, signal: AbortSignal) => Findings;

/** Findings that a kernel knows. */
export function findingsOf({ explain }: Pick<Keeper, 'explain'>): MakeFindings {
  return (host, signal) => new Findings(host, explain, signal);
}

export class Findings {
  readonly css = FINDINGS_CSS;
  /** Grows whenever there is something else to say, or to light up. */
  version = 0;
  readonly #explainer: Explainer;
  #lit: Lit = null;
  #isUnfolded = false;
  #window: RunWindow = { firstRun: 0, lastRun: null };
  #evidence: Evidence | null = null;
  #evidenceOf = '';

  constructor(private readonly host: FindingsHost, ask: Keeper['explain'], signal: AbortSignal) {
    this.#explainer = new Explainer({ ...host, ask, changed: () => { this.#changed(); } }, signal);
  }

  /** The critical path of what is shown, or why it is not known. */
  get path(): KnownPath {
    return this.#explainer.path;
  }

  /** What is lit up; null: nothing. */
  get evidence(): Evidence | null {
    return this.#evidence;
  }

  paint(context: CanvasRenderingContext2D, picture: Picture): void {
    if (this.#evidence !== null) {
      paintEvidence(context, picture, this.#evidence);
    }
  }

  /** There once the path is known. */
  button(): ButtonSpec {
    const isLit = this.#lit === 'path';
    return {
      text: trans.__('Path'), label: trans.__('Light up the critical path (C)'), act: () => { this.togglePath(); },
      pressed: isLit, hidden: !isLit && !('path' in this.path)
    };
  }

  /** Ask for what is shown now, and find its evidence again where tasks came. */
  update(window: RunWindow): void {
    if (this.#explainer.refresh(window)) {
      this.#lit = this.#lit === 'path' ? 'path' : null;
      this.#isUnfolded = false;
      this.version += 1;
    }
    this.#window = { firstRun: window.firstRun, lastRun: window.lastRun };
    const of = this.#lit === null ? '' : `${this.version} ${this.host.store.version}`;
    if (of !== this.#evidenceOf) {
      this.#evidenceOf = of;
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

  render(): ComponentChildren {
    const { explanation } = this.#explainer;
    const said = this.said();
    return (
      <>
        <p class="tsk-findings-path" hidden={said === ''}>{said}</p>
        {explanation !== null && explanation.findings.length > 0 && (
          <div
            class="tsk-findings" role="group" aria-label={trans.__('Findings')} data-folded={String(!this.#isUnfolded)}
            onKeyDown={event => {
              if (event.key === 'Escape' && this.clear()) {
                event.preventDefault();
              }
            }}
          >
            <button type="button" class="tsk-findings-fold" aria-expanded={this.#isUnfolded} onClick={() => { this.#fold(); }}>
              {countText(explanation.findings, explanation.makespanS)}
            </button>
            <div class="tsk-findings-head"><span class="tsk-track-title" aria-hidden="true">{trans.__('Findings')}</span> {trans.__('what to change, and what it may save: estimates, which may overlap')}</div>
            <ul>{explanation.findings.map((finding, i) => this.#card(finding, i, explanation))}</ul>
          </div>
        )}
      </>
    );
  }

  #card(finding: Finding, i: number, { makespanS }: Explanation): ComponentChildren {
    const isLit = this.#lit === i;
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
        <span class="tsk-findings-worth">{worthText(finding, makespanS)}</span>
        <p>{printable(finding.text, MAX_TEXT)}</p>
        <p class="tsk-findings-advice">{adviceParts(printable(finding.advice, MAX_TEXT)).map(({ text, isCode }) => (isCode ? <code>{text}</code> : text))}</p>
      </li>
    );
  }

  #find(): Evidence | null {
    const { explanation } = this.#explainer;
    const lit = this.#lit;
    if (explanation === null || lit === null) {
      return null;
    }
    if (lit === 'path') {
      return 'path' in explanation.path ? evidenceOfPath(this.host.store, this.#window, explanation.path.path) : null;
    }
    const finding = explanation.findings[lit];
    return finding === undefined ? null : evidenceOf(this.host.store, this.#window, finding);
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
