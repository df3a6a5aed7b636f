/** What hovering a task shows. */
import { formatBytes, formatCount, formatDuration, formatPercent, printable } from '../../lib/format';
import { clamp } from '../../lib/span';
import type { Translate } from '../../lib/translate';
import { type Group, isOfOthers, type Run } from '../../wire';
import { runName } from '../ui/cell-link';
import { element } from '../ui/dom';
import type { Found, FoundOpen, FoundTask, FoundWorker } from './find-task';

/** What knows groups and computes by their numbers. */
export interface Names {
  readonly groups: readonly (Group | undefined)[];
  readonly runs: ReadonlyMap<number, Run>;
}

export interface TipContent {
  readonly key: string;
  readonly rows: readonly (readonly [label: string, value: string])[];
  readonly note: string | null;
}

/** What to say of what was found: times since `zeroS`, up to `nowS` for what is in flight. */
export function tipOf(found: Found, { zeroS, nowS }: { readonly zeroS: number; readonly nowS: number }, names: Names, t: Translate): TipContent {
  switch (found.kind) {
    case 'ended':
      return endedTip(found, zeroS, names, t);
    case 'open':
      return openTip(found, zeroS, nowS, names, t);
    case 'worker':
      return workerTip(found, zeroS, t);
  }
}

function endedTip({ detail, label, sharing }: FoundTask, zeroS: number, names: Names, t: Translate): TipContent {
  const durationS = detail.stopS - detail.startS;
  const cpu =
    detail.cpuShare === null
      ? t('unknown')
      : t('%1 (%2 of the duration)', formatDuration(detail.cpuShare * durationS), formatPercent(detail.cpuShare));
  const rows: [string, string][] = [
    [t('Prefix'), printable(detail.prefix)],
    [t('Group'), printable(detail.group)],
    ...computeRow(detail.run, names, t),
    [t('Lane'), label],
    [t('Status'), t(detail.status)],
    [t('Start'), formatDuration(detail.startS - zeroS)],
    [t('Duration'), formatDuration(durationS)],
    [t('CPU time'), cpu],
    [t('Result size'), detail.sizeBytes === null ? t('unknown') : formatBytes(detail.sizeBytes)]
  ];
  if (detail.error !== null) {
    rows.push([t('Error'), printable(detail.error, 400)]);
  }
  const notes = [
    detail.observedBy === 'scheduler' ? t('Times as the scheduler saw them: they include waiting.') : null,
    sharing > 1 ? t('%1 more tasks at this pixel: zoom in to see them.', formatCount(sharing - 1)) : null
  ];
  const note = notes.filter(line => line !== null).join(' ');
  return { key: printable(detail.key, 400), rows, note: note === '' ? null : note };
}

function openTip({ bar, label }: FoundOpen, zeroS: number, nowS: number, names: Names, t: Translate): TipContent {
  const { key, group, run } = bar.task;
  const { groups } = names;
  const rows: [string, string][] = [
    [t('Prefix'), printable(groups[group]?.prefix ?? '?')],
    [t('Group'), printable(groups[group]?.name ?? '?')],
    ...computeRow(run, names, t),
    [t('Lane'), label],
    [t('Status'), t('running')],
    [t('Start'), formatDuration(bar.startS - zeroS)],
    [t('So far'), formatDuration(Math.max(nowS - bar.startS, 0))]
  ];
  return { key: printable(key, 400), rows, note: null };
}

function computeRow(run: number, { runs }: Names, t: Translate): [string, string][] {
  const found = runs.get(run);
  const name = found === undefined ? null : isOfOthers(found) ? t('of another client') : runName(found);
  return name === null ? [] : [[t('Compute'), name]];
}

function workerTip({ row, timeS, busyLanes, nTasks }: FoundWorker, zeroS: number, t: Translate): TipContent {
  const lanes = row.lanes.length;
  const rows: [string, string][] = [
    [t('Time'), formatDuration(timeS - zeroS)],
    [t('Busy'), t('%1 of %2 lanes (%3)', String(Math.round(busyLanes * 10) / 10), formatCount(lanes), formatPercent(busyLanes / lanes))],
    [t('Tasks'), formatCount(nTasks)]
  ];
  return { key: row.label, rows, note: t('The mean of its lanes: open it to see tasks.') };
}

/** A definition list of a tip; the first row carries the colour, where there is one. */
export function tipList({ rows }: TipContent, colour: string | null): HTMLElement {
  const list = element('dl');
  rows.forEach(([label, value], i) => {
    const definition = element('dd');
    if (i === 0 && colour !== null) {
      const swatch = element('span', { class: 'tsk-gantt-swatch' });
      swatch.style.background = colour;
      definition.append(swatch);
    }
    definition.append(value);
    list.append(element('div', {}, element('dt', {}, label), definition));
  });
  return list;
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
  show(content: TipContent, colour: string | null, place: { xPx: number; yPx: number }): void {
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

  #fill(content: TipContent, colour: string | null): void {
    this.el.replaceChildren(element('p', { class: 'tsk-gantt-tip-key', dir: 'ltr' }, content.key), tipList(content, colour));
    if (content.note !== null) {
      this.el.append(element('p', { class: 'tsk-gantt-tip-note' }, content.note));
    }
  }
}
