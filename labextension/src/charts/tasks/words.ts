/** The sentences of the lanes of tasks. */
import { formatBytes, formatCount, formatDuration, formatPercent, printable } from '../../lib/format';
import { widthS } from '../../lib/span';
import type { Translate } from '../../lib/translate';
import type { TaskStore } from '../../store';
import type { Group, PrefixProgress, Run } from '../../wire';
import { isOfOthers, runsOfOthers } from '../../wire';
import type { Facts } from '../timeline/track';
import { runName } from '../ui/cell-link';
import type { Found, FoundOpen, FoundTask, FoundWorker } from './finding/find-task';
import type { PrefixSummary } from './legend';
import type { Scene } from './scene';

/** What is counted: the computes of a chart, and how far each prefix of each is. */
export interface Counted {
  readonly runs: readonly Run[];
  readonly rows: readonly PrefixProgress[];
}

/** How the latest compute stands, how many tasks and lanes there are, and what of them is not shown. */
export function stateText(store: TaskStore, scene: Scene, { runs, rows }: Counted, nHidden: number, t: Translate): string {
  const others = runsOfOthers(runs);
  const isOwn = ({ run }: { readonly run: number }): boolean => !others.has(run);
  const own = rows.filter(isOwn);
  const latest = runs.filter(isOwn).at(-1);
  const ended = endedOf(own);
  const parts = [
    ...(scene.paused ? [t('paused at %1', formatDuration(scene.nowS - scene.zeroS))] : latest === undefined ? [] : outcome(latest, store.clock.active, t)),
    ended === 1 ? t('1 task') : t('%1 tasks', formatCount(ended)),
    lanesText(scene, t)
  ];
  const running = sum(own, row => row.running);
  const erred = sum(own, row => row.erred);
  if (running > 0) {
    parts.push(t('%1 running', formatCount(running)));
  }
  if (erred > 0) {
    parts.push(t('%1 erred', formatCount(erred)));
  }
  if (others.size > 0) {
    parts.push(t('%1 of other clients', formatCount(endedOf(rows) - ended)));
  }
  if (nHidden > 0) {
    parts.push(nHidden === 1 ? t('1 prefix hidden') : t('%1 prefixes hidden', formatCount(nHidden)));
  }
  if (store.missing > 0) {
    const all = store.nTasks + store.missing;
    parts.push(t('showing %1 of %2: older tasks were dropped', formatCount(store.nTasks), formatCount(all)));
  }
  return parts.join(' · ');
}

function endedOf(rows: readonly PrefixProgress[]): number {
  return sum(rows, row => row.finished + row.erred + row.interrupted);
}

/** What is worth saying of the latest compute: a good end is not. */
function outcome(run: Run, connected: boolean, t: Translate): string[] {
  switch (run.status) {
    case 'running':
      return connected ? [] : [t('no word from the kernel: the last known state')];
    case 'erred':
      return [run.error === null ? t('failed') : t('failed: %1', printable(run.error, 60))];
    case 'interrupted':
      return [t('interrupted')];
    case 'finished':
      return [];
  }
}

/** What stands where the bars will be. */
export function emptyText(store: TaskStore, scene: Scene | null, cleared: boolean, t: Translate): string {
  if (scene === null && cleared) {
    return t('cleared: waiting for the next compute');
  }
  if (scene === null || scene.growing) {
    return t('waiting for the first task');
  }
  return store.missing > 0 ? t('all tasks of this compute were dropped') : t('no tasks');
}

/** The chart in one sentence, for those who do not see it. */
export function labelText(scene: Scene, prefixes: readonly PrefixSummary[], t: Translate): string {
  const most = [...prefixes].sort((a, b) => b.total - a.total).slice(0, 3);
  return t(
    'Gantt chart: %1 over %2, mostly %3. Press question mark for its keys.',
    lanesText(scene, t),
    formatDuration(widthS(scene.span)),
    most.map(p => `${p.prefix.slice(0, 60)} (${formatCount(p.total)})`).join(', ') || t('nothing')
  );
}

function lanesText({ lanes }: Scene, t: Translate): string {
  return lanes.length === 1 ? t('1 lane') : t('%1 lanes', formatCount(lanes.length));
}

function sum(rows: readonly PrefixProgress[], of: (row: PrefixProgress) => number): number {
  return rows.reduce((total, row) => total + of(row), 0);
}

/** What knows groups and computes by their numbers. */
export interface Names {
  readonly groups: readonly (Group | undefined)[];
  readonly runs: ReadonlyMap<number, Run>;
}

/** What to say of what was found: times since `zeroS`, up to `nowS` for what is in flight. */
export function tipOf(found: Found, { zeroS, nowS }: { readonly zeroS: number; readonly nowS: number }, names: Names, t: Translate): Facts {
  switch (found.kind) {
    case 'ended':
      return endedTip(found, zeroS, names, t);
    case 'open':
      return openTip(found, zeroS, nowS, names, t);
    case 'worker':
      return workerTip(found, zeroS, t);
  }
}

function endedTip({ detail, label, sharing }: FoundTask, zeroS: number, names: Names, t: Translate): Facts {
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

function openTip({ bar, label }: FoundOpen, zeroS: number, nowS: number, names: Names, t: Translate): Facts {
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

function workerTip({ row, timeS, busyLanes, nTasks }: FoundWorker, zeroS: number, t: Translate): Facts {
  const lanes = row.lanes.length;
  const rows: [string, string][] = [
    [t('Time'), formatDuration(timeS - zeroS)],
    [t('Busy'), t('%1 of %2 lanes (%3)', String(Math.round(busyLanes * 10) / 10), formatCount(lanes), formatPercent(busyLanes / lanes))],
    [t('Tasks'), formatCount(nTasks)]
  ];
  return { key: row.label, rows, note: t('The mean of its lanes: open it to see tasks.') };
}
