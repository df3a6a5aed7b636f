/** The sentences and tables of the lanes of tasks. */
import { formatBytes, formatCount, formatDuration, formatPercent, printable } from '../../lib/format';
import { widthS } from '../../lib/span';
import { trans } from '../../lib/translate';
import type { RunRange, TaskStore } from '../../store';
import { Coverage } from '../../store';
import type { Group, PrefixProgress, Run, TaskStatus } from '../../wire';
import type { Facts } from '../timeline/track';
import { runName, runPlace } from '../ui/keeping';
import type { TextTable } from '../ui/text-table';
import type { Found, FoundOpen, FoundTask, FoundWorker } from './find-task';
import { countTouching } from './find-task';
import type { PrefixSummary } from './legend';
import type { LaneLayer, PrefixFilter, Scene } from './scene';
import { coverageQuery, isShown } from './scene';

/** What is counted: the computes of a chart, and how far each prefix of each is. */
export interface Counted {
  readonly runs: readonly Run[];
  readonly rows: readonly PrefixProgress[];
}

/** How the latest compute stands (`withError`: and what it raised), how many tasks and lanes there are, and what of them is not shown. */
export function stateText(store: TaskStore, scene: Scene, { runs, rows }: Counted, nHidden: number, withError = true): string {
  const latest = runs.at(-1);
  const ended = sum(rows, row => row.finished + row.erred + row.interrupted);
  const parts = [
    ...(scene.paused ? [trans.__('paused at %1', formatDuration(scene.nowS - scene.zeroS))] : latest === undefined ? [] : outcome(latest, store.clock.active, withError)),
    trans._n('%2 task', '%2 tasks', ended, formatCount(ended)),
    lanesText(scene)
  ];
  const running = sum(rows, row => row.running);
  const erred = sum(rows, row => row.erred);
  if (running > 0) {
    parts.push(trans.__('%1 running', formatCount(running)));
  }
  if (erred > 0) {
    parts.push(trans.__('%1 failed', formatCount(erred)));
  }
  if (nHidden > 0) {
    parts.push(trans._n('%2 task type hidden', '%2 task types hidden', nHidden, formatCount(nHidden)));
  }
  if (store.missing > 0) {
    const all = store.nTasks + store.missing;
    parts.push(trans.__('showing %1 of %2: older tasks were dropped', formatCount(store.nTasks), formatCount(all)));
  }
  return parts.join(' · ');
}

/** What is worth saying of the latest compute: a good end is not. */
function outcome(run: Run, connected: boolean, withError: boolean): string[] {
  switch (run.status) {
    case 'running':
      return connected ? [] : [trans.__('disconnected: last known state')];
    case 'erred':
      return [run.error === null || !withError ? trans.__('failed') : trans.__('failed: %1', printable(run.error, 60))];
    case 'interrupted':
      return [trans.__('interrupted')];
    case 'finished':
      return [];
  }
}

/** What stands where the bars will be. */
export function emptyText(store: TaskStore, scene: Scene | null, cleared: boolean, layer: Pick<LaneLayer, 'waitsFor'> | null): string {
  if (scene === null && cleared) {
    return trans.__('cleared: waiting for the next compute');
  }
  if (scene === null) {
    return trans.__('no tasks yet');
  }
  if (scene.growing) {
    return layer?.waitsFor(scene.nowS) ?? trans.__('waiting for the first task');
  }
  return store.missing > 0 ? trans.__('all tasks of this compute were dropped') : trans.__('no tasks');
}

/** The chart in one sentence, for those who do not see it. */
export function labelText(scene: Scene, prefixes: readonly PrefixSummary[]): string {
  const most = [...prefixes].sort((a, b) => b.total - a.total).slice(0, 3);
  return trans.__(
    'Gantt chart: %1 over %2, mostly %3. Press question mark for its keys.',
    lanesText(scene),
    formatDuration(widthS(scene.span)),
    most.map(p => `${p.prefix.slice(0, 60)} (${formatCount(p.total)})`).join(', ') || trans.__('nothing')
  );
}

function lanesText({ lanes }: Scene): string {
  return trans._n('%2 thread', '%2 threads', lanes.length, formatCount(lanes.length));
}

function sum(rows: readonly PrefixProgress[], of: (row: PrefixProgress) => number): number {
  return rows.reduce((total, row) => total + of(row), 0);
}

/** What knows groups and computes by their numbers. */
export interface Names {
  readonly groups: readonly ((Pick<Group, 'name' | 'prefix'> & Partial<Pick<Group, 'function'>>) | undefined)[];
  readonly runs: ReadonlyMap<number, Run>;
}

/** What to say of what was found: times since `zeroS`, up to `nowS` for what is in flight. */
export function tipOf(found: Found, { zeroS, nowS }: { readonly zeroS: number; readonly nowS: number }, names: Names): Facts {
  switch (found.kind) {
    case 'ended':
      return endedTip(found, zeroS, names);
    case 'open':
      return openTip(found, zeroS, nowS, names);
    case 'worker':
      return workerTip(found, zeroS);
  }
}

export function statusWord(status: TaskStatus): string {
  switch (status) {
    case 'finished':
      return trans.__('finished');
    case 'erred':
      return trans.__('failed');
    case 'interrupted':
      return trans.__('interrupted');
    case 'lost':
      return trans.__('lost');
    case 'released':
      return trans.__('released');
  }
}

function endedTip({ detail, label, sharing }: FoundTask, zeroS: number, names: Names): Facts {
  const durationS = detail.stopS - detail.startS;
  const cpuShare = formatPercent(durationS > 0 ? Math.min((detail.cpuS ?? 0) / durationS, 1) : 0);
  const cpu =
    detail.cpuS === null
      ? trans.__('unknown')
      : trans.__('%1 (%2 of the duration)', formatDuration(detail.cpuS), cpuShare);
  const rows: [string, string][] = [
    [trans.__('Task type'), printable(detail.prefix)],
    [trans.__('Group'), printable(detail.group)],
    ...functionRow(names.groups.find(group => group?.name === detail.group)),
    ...computeRow(detail.run, names),
    [trans.__('Thread'), label],
    [trans.__('Status'), statusWord(detail.status)],
    [trans.__('Start'), formatDuration(detail.startS - zeroS)],
    [trans.__('Duration'), formatDuration(durationS)],
    [trans.__('CPU time'), cpu],
    [trans.__('Result size'), detail.sizeBytes === null ? trans.__('unknown') : formatBytes(detail.sizeBytes)]
  ];
  if (detail.error !== null) {
    rows.push([trans.__('Error'), printable(detail.error, 400)]);
  }
  const notes = [
    detail.observedBy === 'scheduler' ? trans.__('Times as the scheduler saw them: they include waiting.') : null,
    sharing > 1 ? trans._n('%2 more task at this pixel: zoom in to see it.', '%2 more tasks at this pixel: zoom in to see them.', sharing - 1, formatCount(sharing - 1)) : null
  ];
  const note = notes.filter(line => line !== null).join(' ');
  return { key: printable(detail.key, 400), rows, note: note === '' ? null : note };
}

function openTip({ bar, label }: FoundOpen, zeroS: number, nowS: number, names: Names): Facts {
  const { keyText: key, group, run } = bar.task;
  const { groups } = names;
  const rows: [string, string][] = [
    [trans.__('Task type'), printable(groups[group]?.prefix ?? '?')],
    [trans.__('Group'), printable(groups[group]?.name ?? '?')],
    ...functionRow(groups[group]),
    ...computeRow(run, names),
    [trans.__('Thread'), label],
    [trans.__('Status'), trans.__('running')],
    [trans.__('Start'), formatDuration(bar.startS - zeroS)],
    [trans.__('So far'), formatDuration(Math.max(nowS - bar.startS, 0))]
  ];
  return { key: printable(key, 400), rows, note: null };
}

/** The user's function that the tasks of a group call, and where it is. */
function functionRow(group: Names['groups'][number]): [string, string][] {
  return typeof group?.function === 'string' ? [[trans.__('Function'), printable(group.function, 200)]] : [];
}

function computeRow(run: number, { runs }: Names): [string, string][] {
  const found = runs.get(run);
  const name = found === undefined ? null : runPlace(found);
  return name === null ? [] : [[trans.__('Compute'), name]];
}

function workerTip({ row, timeS, busyLanes, nTasks }: FoundWorker, zeroS: number): Facts {
  const lanes = row.lanes.length;
  const rows: [string, string][] = [
    [trans.__('Time'), formatDuration(timeS - zeroS)],
    [trans.__('Busy'), trans._n('%2 of %3 thread (%4)', '%2 of %3 threads (%4)', lanes, String(Math.round(busyLanes * 10) / 10), formatCount(lanes), formatPercent(busyLanes / lanes))],
    [trans.__('Tasks'), formatCount(nTasks)]
  ];
  return { key: row.label, rows, note: trans.__('The mean of its threads: open it to see tasks.') };
}

const MAX_LANES = 200;
const MAX_TASKS = 10_000;

export function prefixTable(prefixes: readonly PrefixSummary[]): TextTable {
  return {
    caption: trans.__('Tasks of each type'),
    columns: [trans.__('Task type'), trans.__('Tasks'), trans.__('Finished'), trans.__('Failed'), trans.__('Interrupted'), trans.__('Running'), trans.__('Mean duration')],
    rows: prefixes.map(p => [
      printable(p.prefix),
      ...[p.total, p.finished, p.erred, p.interrupted, p.running].map(formatCount),
      formatDuration(p.meanS)
    ])
  };
}

/** How busy each lane was over all the time there is. */
export function laneTable(store: TaskStore, scene: Scene): TextTable {
  const { lanes, worked, runs, open } = scene;
  const more = lanes.length - MAX_LANES;
  const coverage = new Coverage();
  const seen = { hidden: null, focus: -1 };
  const query = coverageQuery(store, { ...scene, span: worked }, seen, 1);
  return {
    caption: more > 0 ? trans.__('The first %1 of %2 threads', formatCount(MAX_LANES), formatCount(lanes.length)) : trans.__('Threads'),
    columns: [trans.__('Thread'), trans.__('Worker'), trans.__('Tasks'), trans.__('Busy')],
    rows: lanes.slice(0, MAX_LANES).map(({ id, label, worker }) => {
      const lane = store.lane(id);
      coverage.measure([{ tasks: lane, open: open.get(id) ?? [] }], query);
      const n = lane === undefined ? 0 : countTouching(lane, worked.startS, worked.stopS, runs, seen);
      return [label, worker, formatCount(n), formatPercent(coverage.cover[0] ?? 0)];
    })
  };
}

/** The tasks in sight, lane by lane; times since the first compute shown. */
export function taskTable(store: TaskStore, { lanes, span, runs, zeroS }: Scene, filter: PrefixFilter): TextTable {
  const rows: string[][] = [];
  let n = 0;
  for (const { id, label } of lanes) {
    const lane = store.lane(id);
    const last = lane?.firstStarting(span.stopS) ?? 0;
    for (let i = lane?.firstReaching(span.startS) ?? 0; lane !== undefined && i < last; i += 1) {
      const detail = isShown(lane, i, runs, filter) ? (n += 1) <= MAX_TASKS && store.detail(id, i) : false;
      if (detail) {
        const { key, prefix, status, startS, stopS, cpuS, sizeBytes, error } = detail;
        rows.push([
          printable(key, 400), printable(prefix), label, status, formatDuration(startS - zeroS), formatDuration(stopS - startS),
          formatDuration(cpuS), formatBytes(sizeBytes), printable(error ?? '', 400)
        ]);
      }
    }
  }
  const caption = n > rows.length ? trans.__('The first %1 of %2 tasks in sight', formatCount(rows.length), formatCount(n)) : trans._n('%2 task in sight', '%2 tasks in sight', n, formatCount(n));
  return {
    caption,
    columns: [trans.__('Key'), trans.__('Task type'), trans.__('Thread'), trans.__('Status'), trans.__('Start'), trans.__('Duration'), trans.__('CPU time'), trans.__('Result size'), trans.__('Error')],
    rows
  };
}

/** What is known of one compute, and how long it took, in the order in which it was done; as `taskscope.analysis.before_tasks` has it. */
export function stepsOf(run: Run): [name: string, tookS: number][] {
  const steps: [string, number | null][] = [
    [trans.__('sending the graph'), run.sendS], [trans.__('making its tasks'), run.materializeS], [trans.__('ordering them'), run.orderS],
    [trans.__('taking them in'), run.initializeS]
  ];
  return steps.flatMap(([name, tookS]) => tookS === null ? [] : [[name, tookS]]);
}

/** The same as text; no table where nothing of it is known. */
export function beforeTables(store: TaskStore, runRange: RunRange): readonly TextTable[] {
  const runs = store.tables.runsIn(runRange);
  const rows = runs.flatMap(run => stepsOf(run).map(([name, tookS]) => [runName(run) ?? String(run.run), name, formatDuration(tookS)]));
  const columns = [trans.__('Compute'), trans.__('Step'), trans.__('Duration')];
  return rows.length === 0 ? [] : [{ caption: trans.__('Before the first task'), columns, rows }];
}
