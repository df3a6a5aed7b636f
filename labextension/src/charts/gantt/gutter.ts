/** Names of lanes and workers left of the bars; those of workers are buttons of the page. */
import { formatCount } from '../../lib/format';
import type { Theme } from '../../lib/theme';
import type { Translate } from '../../lib/translate';
import { element } from '../ui/dom';
import type { GanttLayout, RowBox } from './layout';
import type { Picture } from './picture';
import type { WorkerRow } from './rows';
import { clipped, shape } from './strokes';
import type { TextFitter } from './text-fitter';

export function paintGutter(context: CanvasRenderingContext2D, { layout, theme }: Picture, texts: TextFitter): void {
  clipped(context, [0, 0, layout.plotLeftPx, layout.plotHeightPx], () => {
    for (const { row, topPx } of layout.boxes) {
      const y = topPx + layout.rowPx / 2 + 0.5;
      if (row.kind === 'lane') {
        context.fillStyle = theme.faint;
        context.textAlign = 'right';
        context.fillText(texts.fit(context, row.label, layout.plotLeftPx - (row.inset ? 20 : 14), 'middle'), layout.plotLeftPx - 8, y);
      } else {
        paintWorker(context, row, y, layout.plotLeftPx, theme, texts);
      }
    }
  });
}

function paintWorker(
  context: CanvasRenderingContext2D,
  { label, lanes, collapsed }: WorkerRow,
  y: number,
  rightPx: number,
  { ink, paper }: Theme,
  texts: TextFitter
): void {
  const roomPx = rightPx - 8 - 18;
  const full = `×${formatCount(lanes.length)}`;
  const fullPx = context.measureText(full).width + 6;
  // Where both do not fit, the name says more than the number, which is in the button's title too.
  const [count, countPx] = context.measureText(label).width + fullPx <= roomPx || rightPx > 100 ? [full, fullPx] : ['', 0];
  context.fillStyle = ink;
  context.strokeStyle = paper;
  shape(context, collapsed ? [[6, y - 4.5], [12, y], [6, y + 4.5]] : [[4.5, y - 3], [13.5, y - 3], [9, y + 3]]);
  context.textAlign = 'right';
  context.fillText(count, rightPx - 8, y);
  context.textAlign = 'left';
  context.fillText(texts.fit(context, label, roomPx - countPx, 'middle'), 18, y);
}

/** The buttons that open and close workers; only those in sight exist, and one that has the focus stays. */
export class WorkerButtons {
  readonly #buttons = new Map<string, HTMLButtonElement>();

  constructor(
    private readonly holder: HTMLElement,
    private readonly toggle: (worker: string, collapsed: boolean) => void,
    private readonly signal: AbortSignal,
    private readonly t: Translate
  ) {}

  refresh(layout: GanttLayout): void {
    this.holder.style.width = `${layout.plotLeftPx}px`;
    this.holder.style.height = `${layout.plotHeightPx}px`;
    const seen = new Set<string>();
    for (const box of layout.boxes) {
      if (box.row.kind === 'worker') {
        seen.add(box.row.worker);
        this.#place(box, box.row, layout);
      }
    }
    for (const [worker, button] of this.#buttons) {
      if (!seen.has(worker)) {
        button.remove();
        this.#buttons.delete(worker);
      }
    }
  }

  #place({ topPx }: RowBox, row: WorkerRow, { rowPx }: GanttLayout): void {
    const button = this.#buttons.get(row.worker) ?? this.#make(row.worker);
    const lanes = formatCount(row.lanes.length);
    const title = row.collapsed ? this.t('%1: mean of %2 lanes; show them', row.label, lanes) : this.t('%1: collapse its %2 lanes', row.label, lanes);
    if (button.title !== title) {
      button.title = title;
      button.setAttribute('aria-label', title);
      button.setAttribute('aria-expanded', String(!row.collapsed));
    }
    button.style.top = `${topPx}px`;
    button.style.height = `${rowPx}px`;
  }

  #make(worker: string): HTMLButtonElement {
    const button = element('button', { type: 'button', class: 'tsk-gantt-worker' });
    button.addEventListener('click', () => { this.toggle(worker, button.getAttribute('aria-expanded') === 'true'); }, { signal: this.signal });
    this.#buttons.set(worker, button);
    this.holder.append(button);
    return button;
  }
}
