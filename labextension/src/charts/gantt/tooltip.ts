/** What hovering a task shows. */
import { formatBytes, formatCount, formatDuration, formatPercent, printable } from '../../lib/format';
import { clamp } from '../../lib/span';
import type { Translate } from '../../lib/translate';
import type { TaskDetail } from '../../store';
import { element } from '../ui/dom';

export interface TipContent {
  readonly key: string;
  readonly rows: readonly (readonly [label: string, value: string])[];
  readonly note: string | null;
}

/** What to say of a task: times since `zeroS`, and how many tasks share its pixel. */
export function tipOf(task: TaskDetail, lane: string, zeroS: number, sharing: number, t: Translate): TipContent {
  const durationS = task.stopS - task.startS;
  const cpu =
    task.cpuShare === null
      ? t('unknown')
      : t('%1 (%2 of the duration)', formatDuration(task.cpuShare * durationS), formatPercent(task.cpuShare));
  const rows: [string, string][] = [
    [t('Prefix'), printable(task.prefix)],
    [t('Group'), printable(task.group)],
    [t('Lane'), lane],
    [t('Start'), formatDuration(task.startS - zeroS)],
    [t('Duration'), formatDuration(durationS)],
    [t('CPU time'), cpu],
    [t('Result size'), task.sizeBytes === null ? t('unknown') : formatBytes(task.sizeBytes)]
  ];
  if (task.status !== 'finished') {
    rows.push([t('Status'), t(task.status)]);
  }
  const notes = [
    task.observedBy === 'scheduler' ? t('Times as the scheduler saw them: they include waiting.') : null,
    sharing > 1 ? t('%1 more tasks at this pixel: zoom in to see them.', formatCount(sharing - 1)) : null
  ];
  const note = notes.filter(line => line !== null).join(' ');
  return { key: printable(task.key, 400), rows, note: note === '' ? null : note };
}

export class Tooltip {
  readonly el = element('div', { class: 'tsk-gantt-tip', role: 'tooltip' });
  #shown: string | null = null;

  constructor() {
    this.el.hidden = true;
  }

  hide(): void {
    this.el.hidden = true;
  }

  /** Show `content` beside a place of the box it stands in, where there is room. */
  show(content: TipContent, colour: string, place: { xPx: number; yPx: number }): void {
    const same = JSON.stringify([content, colour]);
    if (same !== this.#shown) {
      this.#shown = same;
      this.#fill(content, colour);
    }
    this.el.hidden = false;
    const box = this.el.parentElement;
    if (box === null) {
      return;
    }
    const { offsetWidth, offsetHeight } = this.el;
    const right = place.xPx + 14;
    const left = right + offsetWidth <= box.clientWidth ? right : place.xPx - 14 - offsetWidth;
    const below = place.yPx + 16;
    // It may reach below the chart, but a frame would cut it there.
    const room = document.documentElement.clientHeight - box.getBoundingClientRect().top;
    const top = below + offsetHeight <= room ? below : place.yPx - 12 - offsetHeight;
    this.el.style.left = `${clamp(left, 4, Math.max(box.clientWidth - offsetWidth - 4, 4))}px`;
    this.el.style.top = `${Math.max(top, Math.min(4 - box.getBoundingClientRect().top, 0))}px`;
  }

  #fill({ key, rows, note }: TipContent, colour: string): void {
    const list = element('dl');
    rows.forEach(([label, value], i) => {
      const definition = element('dd');
      if (i === 0) {
        const swatch = element('span', { class: 'tsk-gantt-swatch' });
        swatch.style.background = colour;
        definition.append(swatch);
      }
      definition.append(value);
      list.append(element('dt', {}, label), definition);
    });
    this.el.replaceChildren(element('p', { class: 'tsk-gantt-tip-key', dir: 'ltr' }, key), list);
    if (note !== null) {
      this.el.append(element('p', { class: 'tsk-gantt-tip-note' }, note));
    }
  }
}
