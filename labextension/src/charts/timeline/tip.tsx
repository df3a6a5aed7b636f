/** What is said of a place, beside it. */
import { clamp } from '../../lib/span';
import type { CanvasPoint } from '../ui/dom';
import { Swatch } from '../ui/legend';
import type { ComponentChildren } from '../ui/render';
import { Component } from '../ui/render';
import type { Box, Room } from './drawing';
import type { Facts, Tip } from './track';

/** Facts as a list; the first row carries the colour, where there is one. */
export function FactList({ facts: { key, rows }, colour }: { readonly facts: Facts; readonly colour: string | null }): ComponentChildren {
  return (
    <>
      <p class="tsk-gantt-tip-key" dir="ltr">{key}</p>
      <dl>
        {rows.map(([label, value], i) => (
          <div>
            <dt>{label}</dt>
            <dd>{i === 0 && colour !== null && <Swatch look={{ background: colour }} />}{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

interface OverProps {
  readonly room: Room;
  /** On the canvas; null: nowhere. */
  readonly cursorPx: number | null;
  /** A span that is being chosen. */
  readonly bandPx: readonly [number, number] | null;
  /** What the pointer is on. */
  readonly box: Box | null;
}

/** What moves with the pointer, as elements over the canvas: a move paints no chart anew. */
export function Over({ room: { plotLeftPx, plotWidthPx, heightPx }, cursorPx, bandPx, box }: OverProps): ComponentChildren {
  const place = (leftPx: number, widthPx: number, topPx = 0, heightOfPx = heightPx): Record<string, string> => ({
    left: `${leftPx - plotLeftPx}px`, width: `${widthPx}px`, top: `${topPx}px`, height: `${heightOfPx}px`
  });
  return (
    <div class="tsk-track-over" style={{ left: `${plotLeftPx}px`, width: `${plotWidthPx}px`, height: `${heightPx}px` }}>
      {cursorPx !== null && <div class="tsk-over-cursor" style={place(Math.round(cursorPx), 1)} />}
      {bandPx !== null && <div class="tsk-over-band" style={place(Math.min(...bandPx), Math.abs(bandPx[1] - bandPx[0]))} />}
      {box !== null && <div class="tsk-over-box" style={place(box.leftPx, box.widthPx, box.topPx, box.heightPx)} />}
    </div>
  );
}

interface TipBoxProps {
  readonly tip: Tip | null;
  /** On the canvas. */
  readonly at: CanvasPoint | null;
  /** Whether the person moves by keys, and so has to be told. */
  readonly aloud: boolean;
}

/** A box for tips of both kinds, beside a point where there is room for it. */
export class TipBox extends Component<TipBoxProps> {
  #el: HTMLElement | null = null;

  override render({ tip, aloud }: TipBoxProps): ComponentChildren {
    const facts = tip?.kind === 'facts' ? tip : null;
    const lines = tip?.kind === 'reading' ? tip.lines : [];
    const ref = (el: HTMLElement | null): void => { this.#el = el ?? this.#el; };
    return (
      <>
        <div class="tsk-tip tsk-gantt-tip" role="tooltip" hidden={facts === null} ref={facts === null ? null : ref}>
          {facts !== null && <FactList facts={facts.facts} colour={facts.colour} />}
          {typeof facts?.facts.note === 'string' && <p class="tsk-gantt-tip-note">{facts.facts.note}</p>}
        </div>
        <div class="tsk-tip tsk-series-readout" role="status" aria-live={aloud ? 'polite' : 'off'} hidden={lines.length === 0} ref={lines.length === 0 ? null : ref}>
          {lines.map(line => <div>{line}</div>)}
        </div>
      </>
    );
  }

  override componentDidMount(): void {
    this.#place();
  }

  override componentDidUpdate(): void {
    this.#place();
  }

  #place(): void {
    const { tip, at } = this.props;
    if (tip !== null && at !== null && this.#el !== null) {
      place(this.#el, at, tip.kind === 'reading');
    }
  }
}

/** Right of the point and below it, else left and above; a reading stays at the top, for it is of a time, not of a place. */
function place(el: HTMLElement, at: CanvasPoint, atTop: boolean): void {
  const box = el.parentElement;
  if (box === null) {
    return;
  }
  const { offsetWidth, offsetHeight } = el;
  const right = at.xPx + 14;
  const left = right + offsetWidth <= box.clientWidth ? right : at.xPx - 14 - offsetWidth;
  el.style.left = `${clamp(left, 4, Math.max(box.clientWidth - offsetWidth - 4, 4))}px`;
  if (!atTop) {
    const below = at.yPx + 16;
    const boxTop = box.getBoundingClientRect().top;
    // It may reach below the chart, but a frame would cut it there.
    const top = below + offsetHeight <= document.documentElement.clientHeight - boxTop ? below : at.yPx - 12 - offsetHeight;
    el.style.top = `${Math.max(top, Math.min(4 - boxTop, 0))}px`;
  }
}
