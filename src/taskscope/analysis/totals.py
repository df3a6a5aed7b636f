"""The totals of a recording."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.quantities import counted, format_duration
from taskscope.model.recording import RecordedData
from taskscope.model.tables.activities import FAILED_ATTEMPT
from taskscope.model.tables.columns import RowBlock, distinct, median
from taskscope.model.tables.process import ResourceRows
from taskscope.model.tables.records import (
    CLUSTER,
    ERRED,
    FINISHED,
    IN_THREADS,
    INTERRUPTED,
    LOST,
    OBSERVED_BY,
    RELEASED,
    RUNNING,
    STATUSES,
    PrefixProgress,
    Run,
    TaskBlock,
    count_runs,
    end_s,
    flag_codes,
    join_progress,
    number_prefixes,
)
from taskscope.model.tables.workers import WorkerSample

State: TypeAlias = Literal["waiting", "running", "finished", "erred", "interrupted"]

_WORST_FIRST: tuple[State, ...] = ("running", "interrupted", "erred", "finished")


def state_of(runs: Iterable[Run]) -> State:
    """Return ``running`` while any compute runs, then the worst end of them all; ``waiting`` without any."""
    seen = {run.status for run in runs}
    return next((state for state in _WORST_FIRST if state in seen), "waiting")


def stop_of(recording: RecordedData, run: Run) -> float:
    """Return when a compute ended, or when the recording was taken."""
    return recording.now_s if run.stop_s is None else run.stop_s


def makespan_s(recording: RecordedData, runs: Sequence[Run]) -> float:
    """Return how long computes took, from the start of the first one to the end of the last one."""
    stop_s = max((stop_of(recording, run) for run in runs), default=0.0)
    return stop_s - min((run.asked_s for run in runs), default=0.0)


def elapsed_s(runs: Sequence[Run], now_s: float) -> float:
    """Return the seconds during which at least one compute ran; of computes that are added up, the sum."""
    single = [run for run in runs if run.computing_s is None]
    starts = np.array([run.asked_s for run in single])
    stops = np.array([now_s if run.stop_s is None else run.stop_s for run in single])
    return union_s(starts, stops) + sum(run.computing_s or 0.0 for run in runs)


class PlacedBlock(NamedTuple):
    """Rows of a compute, and how many rows are before them in the table of tasks."""

    block: RowBlock
    first: int


def blocks_by_run(recording: RecordedData) -> Mapping[int, list[PlacedBlock]]:
    """Return the rows of each compute."""
    found: defaultdict[int, list[PlacedBlock]] = defaultdict(list)
    first = 0
    for block in recording.blocks:
        found[block.run].append(PlacedBlock(block, first))
        first += len(block)
    return found


def overlapping(
    recording: RecordedData, runs: Sequence[Run], blocks: Mapping[int, list[PlacedBlock]]
) -> list[list[Run]]:
    """Return groups of computes that overlap in time, without computes within a task of another."""
    parts: list[list[Run]] = []
    until_s = 0.0
    for one in sorted(runs, key=lambda one: (one.asked_s, -stop_of(recording, one))):
        beside = parts[-1] if parts and one.asked_s <= until_s else []
        if any(_is_within(recording, one, placed.block) for other in beside for placed in blocks[other.run]):
            continue
        if parts and one.asked_s < until_s:
            parts[-1].append(one)
        else:
            parts.append([one])
            until_s = one.asked_s
        until_s = max(until_s, stop_of(recording, one))
    return parts


def _is_within(recording: RecordedData, run: Run, block: RowBlock) -> bool:
    """Return whether a local compute ran within one of these tasks."""
    start_s, stop_s = run.start_s, stop_of(recording, run)
    if run.is_on_cluster or not (block.run < run.run or stop_s > start_s):
        return False
    return bool(((block.start <= start_s) & (block.start + block.duration >= stop_s)).any())


def n_workers_of(recording: RecordedData, runs: Sequence[Run]) -> int | None:
    """Return how many tasks could run at a time; computes beside each other may have threads of their own."""
    most = max((run.n_workers for run in runs if run.n_workers is not None), default=None)
    local = [run for run in runs if run.n_workers is not None and not run.is_on_cluster]
    if most is None or len(local) < 2:
        return most
    blocks = blocks_by_run(recording)
    for part in overlapping(recording, local, blocks):
        n_lanes = len(
            {lane for run in part for of, _ in blocks[run.run] for lane in distinct(of.lane).tolist()}
        )
        changes = [(run.start_s, run.n_workers or 0) for run in part]
        changes += [(stop_of(recording, run), -(run.n_workers or 0)) for run in part]
        most = max(most, min(n_lanes, max(accumulate(n for _, n in sorted(changes)))))
    return most


def count_workers(n: int | None, schedulers: Iterable[str]) -> str:
    """Return how many tasks could run at a time, in the words of these schedulers.

    Examples
    --------
    >>> count_workers(4, ["distributed"]), count_workers(1, ["processes"]), count_workers(2, ["threads"])
    ('4 worker threads', '1 process', '2 threads')
    """
    names = set(schedulers)
    # A worker of Dask's own schedulers corresponds to a thread of distributed's.
    noun = (
        "worker thread"
        if CLUSTER in names
        else "thread"
        if names <= IN_THREADS
        else "process"
        if names == {"processes"}
        else "worker"
    )
    return counted(n, noun)


def union_s(start: NDArray[np.float64], stop: NDArray[np.float64]) -> float:
    """Return the total time covered by at least one interval, in seconds.

    Examples
    --------
    >>> union_s(np.array([0.0, 1.0, 5.0]), np.array([2.0, 3.0, 6.0]))
    4.0
    """
    if not len(start):
        return 0.0
    order = np.argsort(start, kind="stable")
    start, stop = start[order], stop[order]
    reached = np.maximum.accumulate(stop)
    fresh = stop - np.maximum(start, np.concatenate([[start[0]], reached[:-1]]))
    return float(np.maximum(fresh, 0.0).sum())


def were_seen(tasks: TaskBlock) -> NDArray[np.bool_]:
    """Return which tasks have measured times.

    Of others a scheduler knows only that a worker was given them, where they may have waited for a thread.
    """
    seen: NDArray[np.bool_] = flag_codes(tasks.flags, "observed_by") != OBSERVED_BY.index("scheduler")
    return seen | ~np.isin(tasks.status, (RUNNING, INTERRUPTED, RELEASED))


NO_ROW = 255


def last_codes(recording: RecordedData, run: int, name: str) -> NDArray[np.uint8]:
    """Return the code in the last row of each key of a run's graph, or `NO_ROW`.

    On a cluster a task whose worker died, or whose result was lost, runs again.
    """
    found = np.full(len(recording.graphs[run].group), NO_ROW, np.uint8)
    blocks = [block for block in recording.blocks if block.run == run]
    if not blocks:
        return found
    task = np.concatenate([block.task for block in blocks])
    codes = flag_codes(np.concatenate([block.flags for block in blocks]), name)
    if np.bincount(task).max(initial=0) > 1:
        order = np.argsort(np.concatenate([block.start + block.duration for block in blocks]), kind="stable")
        task, codes = task[order], codes[order]
    found[task] = codes
    return found


def prefix_progress(recording: RecordedData) -> list[PrefixProgress]:
    """Return one row per compute and prefix, in the order in which they began, as a live recorder does."""
    return [row for run in recording.graphs for row in join_progress(group_progress(recording, run).values())]


def group_progress(recording: RecordedData, run: int) -> dict[int, PrefixProgress]:
    """Return how far each task group of a compute is, by the group's number."""
    graph, n = recording.graphs[run], len(recording.groups)
    statuses = last_codes(recording, run, "status")
    statuses[graph.data] = NO_ROW
    of_status = np.array(
        [np.bincount(graph.group[statuses == code], minlength=n) for code in range(len(STATUSES))]
    )
    blocks = [block for block in recording.blocks if block.run == run]
    group = graph.group[np.concatenate([np.empty(0, np.int32), *(block.task for block in blocks)])]
    seconds = np.bincount(group, np.concatenate([np.empty(0), *(b.duration for b in blocks)]), n)
    first = np.full(n, np.inf)
    np.minimum.at(first, group, np.concatenate([np.empty(0), *(b.start for b in blocks)]))
    is_skipped = np.zeros(len(graph.group), bool)
    is_skipped[graph.skipped] = True
    skipped = np.bincount(graph.group[is_skipped & (statuses == NO_ROW)], minlength=n)
    released = np.bincount(graph.group[graph.released[statuses[graph.released] == NO_ROW]], minlength=n)
    planned = np.bincount(graph.group, minlength=n) - np.bincount(graph.group[graph.data], minlength=n)
    again = np.bincount(group, minlength=n) - of_status.sum(axis=0)
    return {
        i: PrefixProgress.of_counts(
            run,
            recording.groups[i].prefix,
            of_status[:, i].tolist(),
            planned=int(planned[i] - skipped[i]),
            is_counted=graph.known,
            duration_s=float(seconds[i]),
            skipped=int(skipped[i]),
            released=int(released[i]),
            again=int(again[i]),
            first_s=None if np.isinf(first[i]) else float(first[i]),
        )
        for i in np.flatnonzero(planned).tolist()
    }


@dataclass(frozen=True, slots=True)
class ResourceTotals:
    """None where nothing was measured; CPU in percent, 100 per core.

    `cpu_percent` and `rss_bytes` are of the last sample, means and peaks of the time from the first compute's
    start to the last one's end; `n_gaps` is how often samples were missing.
    """

    n_samples: int = 0
    cpu_percent: float | None = None
    cpu_mean_percent: float | None = None
    cpu_peak_percent: float | None = None
    rss_bytes: float | None = None
    rss_peak_bytes: float | None = None
    n_processes: int = 0
    n_gaps: int = 0


_BUSY_PERCENT = 10.0
"""A process that gets less of a core may be without it for as long as a gap."""


def in_c_s(samples: ResourceRows) -> NDArray[np.float64]:
    """Return the seconds before each sample where no thread of Python ran although the process used a core.

    They are 0 where samples came in time.
    """
    is_busy = (samples.gap != 0) & (samples.cpu_percent >= _BUSY_PERCENT)
    took_s = np.diff(samples.time, prepend=samples.time[:1])
    found: NDArray[np.float64] = np.where(is_busy, took_s, 0.0)
    return found


def total_samples(samples: ResourceRows, runs: Iterable[Run]) -> ResourceTotals:
    """Return the totals of samples from the start of the first of these computes on.

    Examples
    --------
    >>> samples = ResourceRows.of([(0.0, np.nan, 5e6, 1, 0), (0.25, 80.0, 4e6, 1, 0)])
    >>> totals = total_samples(samples, [])
    >>> totals.cpu_mean_percent, totals.rss_bytes, totals.rss_peak_bytes
    (80.0, 4000000.0, 5000000.0)
    """
    runs = list(runs)
    samples = samples.part(samples.time >= min((run.start_s for run in runs), default=-math.inf))
    if not len(samples):
        return ResourceTotals()
    cpu = samples.cpu_percent
    # CPU of a sample is the mean since the one before.
    took_s = np.where(np.isnan(cpu), 0.0, np.diff(samples.time, prepend=samples.time[0]))
    computed = samples.until(end_s(runs))
    took_s[len(computed) :] = 0.0
    known = computed.cpu_percent[~np.isnan(computed.cpu_percent)]
    measured_s, last = float(took_s.sum()), float(cpu[-1])
    mean = float(np.dot(took_s, np.nan_to_num(cpu))) / measured_s if measured_s else last
    return ResourceTotals(
        n_samples=len(samples),
        cpu_percent=_known(last),
        cpu_mean_percent=_known(mean),
        cpu_peak_percent=float(known.max()) if len(known) else None,
        rss_bytes=float(samples.rss_bytes[-1]),
        rss_peak_bytes=float(computed.most_bytes().max()),
        n_processes=int(samples.n_processes[-1]),
        n_gaps=int(np.count_nonzero(samples.gap)),
    )


def measure_resources(recording: RecordedData) -> ResourceTotals:
    """Return the totals of a recording's samples."""
    return total_samples(recording.resources, recording.runs)


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


Unfinished: TypeAlias = Literal["interrupted", "lost", "running", "given", "not started", "not finished"]
Outcome: TypeAlias = (
    Unfinished | Literal["failed", "background", "skipped", "released", "not begun", "unrecorded"]
)
"""What became of a task that is not known to have finished.

``given``: to a worker, where it may have waited for a thread. ``not finished``: of a compute without a graph.
``background``: its compute goes on. ``skipped``: it did not have to run, because a cluster had its result, or
those of its dependents. ``released``: its future was released while it ran; ``not begun``: before that.
``unrecorded``: its compute finished, and it has no row.
"""


def count_outcomes(recording: RecordedData) -> Mapping[Outcome, int]:
    """Return how many tasks did not finish, by outcome."""
    found: Counter[Outcome] = Counter()
    for run in recording.runs:
        found.update(_outcomes(recording, run))
    n_dropped = recording.dropped
    # Dropped rows are of tasks that ran.
    for outcome in ("unrecorded", "not started"):
        n_of_dropped = min(found[outcome], n_dropped)
        found[outcome] -= n_of_dropped
        n_dropped -= n_of_dropped
    return +found


def _outcomes(recording: RecordedData, run: Run) -> dict[Outcome, int]:
    has_graph, statuses = run.run in recording.graphs, np.empty(0, np.uint8)
    if has_graph:
        statuses = last_codes(recording, run.run, "status")
    n_recorded = int((statuses != NO_ROW).sum())
    n_left = max(run.n_tasks - n_recorded, 0)
    found: dict[Outcome, int] = {
        "failed": int((statuses == ERRED).sum()),
        "released": int((statuses == RELEASED).sum()),
    }
    if has_graph:
        graph = recording.graphs[run.run]
        found["skipped"] = int((statuses[graph.skipped] == NO_ROW).sum())
        found["not begun"] = int((statuses[graph.released] == NO_ROW).sum())
        n_left = max(n_left - found["not begun"], 0)
    if run.status == "finished":
        return found | {"unrecorded": n_left}
    if run.status == "running":
        return found | {"background": n_left + n_recorded - int(np.isin(statuses, (FINISHED, ERRED)).sum())}
    if not has_graph:
        return {"not finished": n_left}
    seen = last_codes(recording, run.run, "observed_by") != OBSERVED_BY.index("scheduler")
    return found | {
        "interrupted": int(((statuses == INTERRUPTED) & seen).sum()),
        "lost": int((statuses == LOST).sum()),
        "running": int(((statuses == RUNNING) & seen).sum()),
        "given": int((np.isin(statuses, (RUNNING, INTERRUPTED)) & ~seen).sum()),
        "not started": n_left,
    }


@dataclass(frozen=True, slots=True)
class PrefixTotal:
    """The tasks of one prefix that were seen to run, the sum of their durations, and its share of all.

    `cpu_s` is the sum of the known CPU times, None where none is.
    """

    prefix: str
    n_tasks: int
    n_erred: int
    duration_s: float
    share: float
    median_s: float
    longest_s: float
    cpu_s: float | None


@dataclass(frozen=True, slots=True)
class WorkersTotals:
    """Totals of a cluster's workers; None is unknown.

    `peak` is the sample of any worker with the most memory, `spilled_bytes` the most that any one worker had
    spilled, and `n_stolen` how often a waiting task went to another worker.
    """

    peak: WorkerSample | None = None
    transferred_bytes: float | None = None
    spilled_bytes: float | None = None
    n_lost: int = 0
    n_stolen: int = 0

    @property
    def peak_bytes(self) -> float | None:
        """The most resident memory of any worker."""
        return None if self.peak is None else self.peak.rss_bytes


def _measure_workers(recording: RecordedData) -> WorkersTotals:
    """Return the totals of a cluster's workers."""
    used = [(sample.rss_bytes, sample) for sample in recording.workers if sample.rss_bytes is not None]
    peak = max(used, key=lambda pair: pair[0])[1] if used else None
    # Sender and receiver both log it.
    moved = [t.nbytes or 0.0 for t in recording.transfers if t.direction == "incoming"]
    spilled = [s.spilled_bytes for s in recording.workers if s.spilled_bytes is not None]
    return WorkersTotals(
        peak=peak,
        transferred_bytes=sum(moved) if moved or recording.workers else None,
        spilled_bytes=max(spilled, default=None),
        # A process pool loses tasks, too, but has no workers to speak of.
        n_lost=int(np.count_nonzero(recording.tasks.status == LOST)) if recording.is_on_cluster else 0,
        n_stolen=sum(steal.outcome == "stolen" for steal in recording.steals),
    )


@dataclass(frozen=True, slots=True)
class Totals:
    """Totals of a recording; None is unknown.

    `n_workers` is how many tasks could run at a time. `makespan_s` is from the first line of the block to its
    last, or to the end of its last compute; without a block, from the start of the first compute. `task_s`,
    `cpu_s` and `prefixes` are sums over the tasks that were seen to run, without `dropped` rows and
    `n_failed_attempts` of tasks with retries. `busy_fraction` is the share of the workers' time, while
    computes ran, in which they ran tasks, unknown where more threads than `n_workers`
    did; threads inside of a task (BLAS) do not count. `peak_rss_bytes` is the most memory of this process and
    its children until the last compute ended.
    """

    state: State
    schedulers: tuple[str, ...]
    n_workers: int | None
    n_runs: int
    n_tasks: int
    outcomes: Mapping[Outcome, int]
    n_failed_attempts: int
    dropped: int
    makespan_s: float | None
    task_s: float
    cpu_s: float | None
    n_cpu_unknown: int
    busy_fraction: float | None
    peak_rss_bytes: float | None
    prefixes: tuple[PrefixTotal, ...]
    errors: tuple[str, ...]
    workers: WorkersTotals = WorkersTotals()


def measure_totals(recording: RecordedData) -> Totals:
    """Return the totals of a recording."""
    runs, tasks = recording.runs, recording.tasks
    n_workers = n_workers_of(recording, runs)
    known_cpu = tasks.cpu_s[~np.isnan(tasks.cpu_s)].astype(np.float64)
    peak = recording.resources.peak_place(runs)
    return Totals(
        state=state_of(runs),
        schedulers=tuple(dict.fromkeys(run.scheduler for run in runs if run.scheduler is not None)),
        n_workers=n_workers,
        n_runs=count_runs(runs),
        n_tasks=sum(run.n_tasks for run in runs),
        outcomes=count_outcomes(recording),
        n_failed_attempts=int((recording.activities.rows.kind == FAILED_ATTEMPT).sum()),
        dropped=recording.dropped,
        makespan_s=_makespan_s(recording),
        task_s=float((tasks.stop - tasks.start)[were_seen(tasks)].sum()),
        cpu_s=float(known_cpu.sum()) if len(known_cpu) else None,
        n_cpu_unknown=len(tasks) - len(known_cpu),
        busy_fraction=_busy_fraction(recording, tasks, n_workers),
        peak_rss_bytes=None if peak is None else float(recording.resources.most_bytes()[peak]),
        prefixes=_prefixes(recording, tasks),
        errors=tuple(dict.fromkeys(run.error for run in runs if run.error)),
        workers=_measure_workers(recording),
    )


def _makespan_s(recording: RecordedData) -> float | None:
    if not recording.runs:
        return None
    computes_s = makespan_s(recording, recording.runs)
    wall_s = recording.metadata.get("wall_s")
    return max(wall_s, computes_s) if isinstance(wall_s, float) else computes_s


_ALL_BUSY = 1.05
"""Clocks of processes, and the times that are known of computes, differ by about so much."""


def _busy_fraction(recording: RecordedData, tasks: TaskBlock, n_workers: int | None) -> float | None:
    computing_s = elapsed_s(recording.runs, recording.now_s)
    if not n_workers or computing_s <= 0 or not len(tasks) or recording.dropped:
        return None
    # By thread, not by lane: a task that computes inside itself is one busy worker, not two.
    threads = [(lane.worker, lane.thread) for lane in recording.lanes]
    places = {thread: place for place, thread in enumerate(dict.fromkeys(threads))}
    seen = were_seen(tasks)
    start, stop = tasks.start[seen], tasks.stop[seen]
    place = np.array([places[thread] for thread in threads])[tasks.lane[seen]]
    busy_s = sum(union_s(start[place == p], stop[place == p]) for p in distinct(place))
    share = busy_s / (computing_s * n_workers)
    # Tasks that secede have further threads.
    return share if share <= 1 else 1.0 if share <= _ALL_BUSY else None


def rows_by_prefix(recording: RecordedData) -> dict[str, NDArray[np.int64]]:
    """Return the rows of the tasks of each prefix that were seen to run."""
    names, of_group = number_prefixes(recording.groups)
    seen = np.flatnonzero(were_seen(recording.tasks))
    place = of_group[recording.tasks.group[seen]] if len(seen) else np.empty(0, np.int64)
    order = np.argsort(place, kind="stable")
    bounds = np.searchsorted(place[order], np.arange(len(names) + 1)).tolist()
    parts = (
        (name, seen[order[first:last]]) for name, first, last in zip(names, bounds, bounds[1:], strict=False)
    )
    return {name: rows for name, rows in parts if len(rows)}


def _prefixes(recording: RecordedData, tasks: TaskBlock) -> tuple[PrefixTotal, ...]:
    seconds, found = tasks.stop - tasks.start, rows_by_prefix(recording)
    all_s = sum(float(seconds[rows].sum()) for rows in found.values())
    totals = [_prefix(name, tasks, rows, seconds[rows], all_s) for name, rows in found.items()]
    return tuple(sorted(totals, key=lambda total: -total.duration_s))


def _prefix(
    name: str, tasks: TaskBlock, rows: NDArray[np.int64], seconds: NDArray[np.float64], all_s: float
) -> PrefixTotal:
    cpu_s, own_s = tasks.cpu_s[rows].astype(np.float64), float(seconds.sum())
    return PrefixTotal(
        prefix=name,
        n_tasks=len(rows),
        n_erred=int((tasks.status[rows] == ERRED).sum()),
        duration_s=own_s,
        share=own_s / all_s if all_s else 0.0,
        median_s=median(seconds),
        longest_s=float(seconds.max()),
        cpu_s=None if np.isnan(cpu_s).all() else float(np.nansum(cpu_s)),
    )


PHASE_WORDS = {
    "send": "sending the graph",
    "travel": "receiving the graph",
    "materialize": "making its tasks",
    "order": "ordering tasks",
    "initialize": "registering tasks",
    "wait": "waiting for a worker",
}
"""The phases, in order."""


@dataclass(frozen=True, slots=True)
class BeforeTasks:
    """How long computes took before their first task, and what for."""

    seconds: float
    phases_s: dict[str, float]

    def longest(self) -> str:
        """Return the longest phase in words.

        Examples
        --------
        >>> BeforeTasks(12.0, {"send": 3.0, "materialize": 8.0, "wait": 0.98}).longest()
        'making its tasks (8 s)'
        """
        phase, seconds = max(self.phases_s.items(), key=lambda item: item[1])
        return f"{PHASE_WORDS[phase]} ({format_duration(seconds)})"


def measure_before_tasks(recording: RecordedData, runs: Sequence[Run] | None = None) -> BeforeTasks | None:
    """Return where the time went before the first task; None where nothing of it was measured."""
    first_s = _first_tasks(recording)
    seconds, phases_s = 0.0, dict.fromkeys(PHASE_WORDS, 0.0)
    for run in recording.runs if runs is None else runs:
        phases, until_s = _phases_of(run)
        begun_s = first_s.get(run.run, until_s)
        if phases and run.order_s is not None:
            phases["wait"] = max(begun_s - until_s, 0.0)
        for phase, took_s in phases.items():
            phases_s[phase] += took_s
        seconds += max(begun_s - run.asked_s, 0.0) if phases else 0.0
    known_s = {phase: took_s for phase, took_s in phases_s.items() if took_s}
    return BeforeTasks(seconds, known_s) if known_s else None


def _phases_of(run: Run) -> tuple[dict[str, float], float]:
    """Return how long each measured phase before the first task took, and when the last one ended."""
    if run.send_s is None and run.order_s is None:
        return {}, run.asked_s
    received_s = max(run.received_s or run.start_s, run.start_s)
    own = {"materialize": run.materialize_s, "order": run.order_s, "initialize": run.initialize_s}
    phases = {"send": run.send_s, "travel": received_s - run.start_s, **own}
    until_s = received_s + sum(seconds or 0.0 for seconds in own.values())
    return {phase: seconds for phase, seconds in phases.items() if seconds is not None}, until_s


def _first_tasks(recording: RecordedData) -> dict[int, float]:
    """Return when the first task of each compute began."""
    found: dict[int, float] = {}
    for block in recording.blocks:
        if len(block):
            found[block.run] = min(found.get(block.run, float("inf")), float(block.start.min()))
    return found
