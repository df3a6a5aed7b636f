/** What a critical path is made of, and the evidence that is lit up on the timeline: which tasks, and when. */
import { formatDuration, printable } from '../../../lib/format';
import type { Span } from '../../../lib/span';
import { trans } from '../../../lib/translate';
import type { RunLimits, RunRange, TaskStore } from '../../../store';
import { LaneTasks } from '../../../store';
import type { CriticalPath, Finding } from '../../../wire';
import { clipped, line } from '../../ui/canvas';
import { tasksInSight } from '../marks';
import type { Matches, Painting } from '../scene';
import { barPx } from '../scene';

export interface PathSums {
  readonly nTasks: number;
  readonly taskS: number;
  /** Seconds of its tasks by their type. */
  readonly prefixS: ReadonlyMap<string, number>;
  /** The longest first. */
  readonly waitsS: readonly (readonly [cause: string, seconds: number])[];
}

export function sumsOf(path: CriticalPath, span: Span = { startS: -Infinity, stopS: Infinity }): PathSums {
  const prefixS = new Map<string, number>();
  const waitS = new Map<string, number>();
  let [nTasks, taskS] = [0, 0];
  for (const step of path) {
    const seconds = Math.min(step.stopS, span.stopS) - Math.max(step.startS, span.startS);
    if (seconds < 0 || (seconds === 0 && step.stopS > step.startS)) {
      continue;
    }
    if (step.kind === 'wait') {
      waitS.set(step.cause, (waitS.get(step.cause) ?? 0) + seconds);
    } else {
      nTasks += 1;
      taskS += seconds;
      prefixS.set(step.prefix, (prefixS.get(step.prefix) ?? 0) + seconds);
    }
  }
  return { nTasks, taskS, prefixS, waitsS: [...waitS].sort((a, b) => b[1] - a[1]) };
}

/** The rows of its tasks that are held. */
export function rowsOf(path: CriticalPath): number[] {
  return path.flatMap(step => (step.kind === 'task' && step.row !== null ? [step.row] : []));
}

export function waitsText(waitsS: PathSums['waitsS']): string {
  return waitsS.map(([cause, seconds]) => `${waitName(cause)} ${formatDuration(seconds)}`).join(', ');
}

/** As `taskscope.analysis.explain.critical_path.WaitCause` names them. */
function waitName(cause: string): string {
  const names: Readonly<Record<string, string>> = {
    client: trans.__('no compute ran'),
    graph: trans.__('before the first task'),
    'no-worker': trans.__('no worker'),
    dispatch: trans.__('dispatch'),
    queue: trans.__('queue for a worker'),
    transfer: trans.__('transfer'),
    'disk-read': trans.__('disk read'),
    'disk-write': trans.__('disk write'),
    deserialize: trans.__('deserialize'),
    serialize: trans.__('serialize'),
    other: trans.__('other work of workers'),
    'failed-attempt': trans.__('failed attempt'),
    results: trans.__('results'),
    unknown: trans.__('unknown')
  };
  return names[cause] ?? printable(cause, 40);
}

export interface Evidence {
  /** Null: it is of no certain tasks. */
  readonly matches: Matches | null;
  readonly spans: readonly Span[];
}

type Holds = (lane: LaneTasks, i: number) => boolean;

export function evidenceOfPath(store: TaskStore, runRange: RunRange, path: CriticalPath): Evidence {
  return { matches: new EvidenceTasks(store, runRange, isIn(rowsOf(path))), spans: [] };
}

export function evidenceOf(store: TaskStore, runRange: RunRange, finding: Finding): Evidence {
  const { run, rows, prefixes } = finding;
  const own = run === null ? runRange : { firstRun: run, lastRun: run };
  const holds = rows.length > 0 ? isIn(rows) : prefixes.length > 0 ? isOf(store, prefixes) : run === null ? null : () => true;
  return {
    matches: holds === null ? null : new EvidenceTasks(store, own, holds),
    spans: finding.spansS.map(([startS, stopS]) => ({ startS, stopS }))
  };
}

function isIn(rows: readonly number[]): Holds {
  const known = new Set(rows);
  return (lane, i) => known.has(lane.row[i] ?? -1);
}

function isOf(store: TaskStore, prefixes: readonly string[]): Holds {
  const known = new Set(prefixes);
  return (lane, i) => known.has(store.tables.prefixes[lane.prefix[i] ?? -1] ?? '');
}

/** Some tasks of computes that have ended, found as lanes are drawn. */
class EvidenceTasks implements Matches {
  readonly #lanes = new Map<number, LaneTasks>();
  readonly #runs: Exclude<RunLimits, null>;
  readonly #span: Span;

  constructor(private readonly store: TaskStore, runRange: RunRange, private readonly holds: Holds) {
    this.#runs = [runRange.firstRun, runRange.lastRun ?? Infinity];
    const runs = store.tables.runsIn(runRange);
    this.#span = { startS: Math.min(...runs.map(run => run.startS ?? Infinity)), stopS: Math.max(...runs.map(run => run.stopS ?? -Infinity)) };
  }

  lane(id: number): LaneTasks | undefined {
    const known = this.#lanes.get(id);
    const all = this.store.lane(id);
    if (known !== undefined || all === undefined) {
      return known;
    }
    const found = new LaneTasks();
    const { startS, stopS } = this.#span;
    const [first, last] = this.#runs;
    for (let i = all.firstStarting(startS); i < all.n && (all.startS[i] as number) <= stopS; i += 1) {
      const run = all.run[i] as number;
      if (run >= first && run <= last && this.holds(all, i)) {
        found.copy(all, i);
      }
    }
    found.settle();
    this.#lanes.set(id, found);
    return found;
  }

  hasOpen(): boolean {
    return false;
  }
}

/** What is lit up: a band over all lanes for each time, and outlines around tasks; their colours are those of prefixes. */
export function paintEvidence(context: CanvasRenderingContext2D, painting: Painting, { spans, matches }: Evidence): void {
  const { layout, theme } = painting;
  clipped(context, [layout.plotLeftPx, 0, layout.plotWidthPx, layout.plotHeightPx], () => {
    context.fillStyle = context.strokeStyle = theme.accent;
    for (const { startS, stopS } of spans) {
      const { leftPx, rightPx } = barPx(painting, startS, stopS);
      const widthPx = Math.max(rightPx - leftPx, 2);
      context.fillRect(leftPx, 0, widthPx, 2);
      if (matches === null) {
        // With tasks a tint would take their colours off those of the legend.
        context.globalAlpha = 0.14;
        context.fillRect(leftPx, 0, widthPx, layout.plotHeightPx);
        context.globalAlpha = 1;
      }
      line(context, leftPx + 0.5, 0, leftPx + 0.5, layout.plotHeightPx);
      line(context, leftPx + widthPx - 0.5, 0, leftPx + widthPx - 0.5, layout.plotHeightPx);
    }
    if (matches !== null) {
      outlineMatches(context, painting, matches);
    }
  });
}

function outlineMatches(context: CanvasRenderingContext2D, painting: Painting, matches: Matches): void {
  const { layout, theme } = painting;
  context.strokeStyle = theme.ink;
  for (const { row, topPx } of layout.boxes) {
    const lane = row.kind === 'lane' ? matches.lane(row.id) : undefined;
    for (const task of lane === undefined ? [] : tasksInSight(lane, painting)) {
      const { leftPx, rightPx } = barPx(painting, lane?.startS[task] ?? 0, lane?.stopS[task] ?? 0);
      context.strokeRect(leftPx + 0.5, topPx + (layout.rowPx - layout.barPx) / 2 + 0.5, Math.max(rightPx - leftPx - 1, 1), layout.barPx - 1);
    }
  }
}
