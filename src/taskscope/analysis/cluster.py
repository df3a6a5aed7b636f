"""Clusters: when workers were there, how fast results went, what spans took, where workers' seconds went."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.quantities import counted, format_bytes, format_count, format_duration, printable
from taskscope.analysis.result import TableResult
from taskscope.analysis.totals import union_s, were_seen
from taskscope.model.recording import RecordedData
from taskscope.model.tables.records import ERRED
from taskscope.model.tables.workers import PrefixSeconds

_NAME_WIDTH = 24
_SPAN_WIDTH = 60
_WITHIN = " / "
"""The separator between the names of nested spans."""


class WorkerPair(NamedTuple):
    """The transfers from one worker to another."""

    sender: str
    receiver: str
    n_transfers: int
    n_unsized: int
    nbytes: float
    seconds: float
    busy_s: float
    bytes_per_s: float
    together_bytes_per_s: float

    @property
    def n_sized(self) -> int:
        """The transfers whose size is known."""
        return self.n_transfers - self.n_unsized


def bandwidth(recording: RecordedData) -> TableResult:
    """Return how fast results went between each two workers of a cluster, the most bytes first.

    Columns: ``sender, receiver`` (addresses), ``n_transfers``, of which ``n_unsized`` have an unknown size
    and count in nothing that follows, ``nbytes``, ``seconds`` (the sum of the transfers' durations),
    ``busy_s`` (the time during which at least one went on), ``bytes_per_s`` (of a single transfer) and
    ``together_bytes_per_s`` (of the link while anything went over it).

    Examples
    --------
    >>> import dask, taskscope
    >>> with taskscope.profile(display=False) as run:
    ...     _ = dask.delayed(sum)([1, 2]).compute(scheduler="synchronous")
    >>> run.recording.bandwidth()
    cannot say how fast results went between workers, because nothing ran on a cluster

    Notes
    -----
    From the workers' own logs (the table ``transfers``). The rate of one transfer is the one that
    distributed's page shows; where several go on at a time, the link moved more:
    ``together_bytes_per_s``. A transfer ends when the receiver has the data as objects, so the rate
    of small results is not the network's.
    """
    logs: defaultdict[tuple[str, str], defaultdict[str, list[tuple[float, float, float]]]]
    logs = defaultdict(lambda: defaultdict(list))
    for moved in recording.transfers:
        # Without another end a client or the scheduler fetched it.
        if moved.peer is not None and moved.peer != moved.worker:
            ends = moved.peer, moved.worker
            pair = ends if moved.direction == "incoming" else ends[::-1]
            nbytes = np.nan if moved.nbytes is None else moved.nbytes
            logs[pair][moved.direction].append((moved.start_s, moved.stop_s, nbytes))
    # Where both ends logged, the receiver's log counts: it has the time until the data was there.
    pairs = [_pair(*pair, of.get("incoming") or of["outgoing"]) for pair, of in logs.items()]
    pairs.sort(key=lambda pair: -pair.nbytes)
    names = {sample.worker: f"worker {sample.name}" for sample in recording.workers if sample.name}
    n, n_unsized = sum(pair.n_transfers for pair in pairs), sum(pair.n_unsized for pair in pairs)
    return TableResult.of(
        pairs,
        WorkerPair,
        f"cannot say how fast results went between workers, because {_why_no_pairs(recording)}",
        f"bandwidth · {format_bytes(sum(pair.nbytes for pair in pairs))} in {counted(n, 'transfer')}",
        {
            "from": lambda pair: printable(names.get(pair.sender, pair.sender), _NAME_WIDTH),
            "to": lambda pair: printable(names.get(pair.receiver, pair.receiver), _NAME_WIDTH),
            "transfers": lambda pair: format_count(pair.n_transfers),
            "bytes": lambda pair: format_bytes(pair.nbytes if pair.n_sized else None),
            "a transfer": lambda pair: format_duration(pair.seconds / pair.n_sized if pair.n_sized else None),
            "rate": lambda pair: format_bytes(pair.bytes_per_s) + "/s" * math.isfinite(pair.bytes_per_s),
        },
        [f"{counted(n_unsized, 'transfer')} of unknown size left out"] if n_unsized else [],
        most=20,
        left=2,
    )


def _pair(sender: str, receiver: str, transfers: list[tuple[float, float, float]]) -> WorkerPair:
    start, stop, nbytes = np.array(transfers, np.float64).T
    sized = ~np.isnan(nbytes)
    start, stop, moved = start[sized], stop[sized], float(nbytes[sized].sum())
    times_s = float((stop - start).sum()), union_s(start, stop)
    rates = (moved / s if s > 0 else math.nan for s in times_s)
    return WorkerPair(sender, receiver, len(transfers), len(transfers) - len(start), moved, *times_s, *rates)


def _why_no_pairs(recording: RecordedData) -> str:
    if "transfers" in recording.unknown:
        return "the file ends before its transfers"
    if not recording.is_on_cluster:
        return "nothing ran on a cluster"
    return "no result went from one worker to another"


class SpanTotals(NamedTuple):
    """The tasks of a span."""

    span: str
    n_tasks: int
    n_erred: int
    task_s: float
    cpu_s: float | None
    n_cpu_unknown: int


def spans(recording: RecordedData) -> TableResult:
    """Return the number, time and CPU time of the tasks of each ``distributed.span``.

    Columns: ``span`` (its name with those around it, ``load / decode``), ``n_tasks`` in it and in spans
    within it that were seen to run, ``n_erred`` of them, ``task_s`` and ``cpu_s`` (sums of their durations
    and known CPU times; None where none is known), ``n_cpu_unknown``.

    Examples
    --------
    >>> import dask, taskscope
    >>> with taskscope.profile(display=False) as run:
    ...     _ = dask.delayed(sum)([1, 2]).compute(scheduler="synchronous")
    >>> run.recording.spans()
    no spans, because nothing ran on a cluster

    Notes
    -----
    The scheduler puts a whole task group into one span, see the column ``span`` of the table ``tasks``.
    """
    sums: dict[str, NDArray[np.float64]] = {}
    outside = np.zeros(5)
    for group, of_group in zip(recording.groups, _by_group(recording), strict=True):
        if group.span is None:
            outside += of_group
        elif of_group[0]:
            parts = group.span.split(_WITHIN)
            for span in (_WITHIN.join(parts[: n + 1]) for n in range(len(parts))):
                sums[span] = sums.get(span, 0.0) + of_group
    notes = []
    if n := int(outside[0]):
        notes.append(f"{counted(n, 'task')} in no span: {format_duration(float(outside[2]))}")
    if n := recording.dropped:
        notes.append(f"{counted(n, 'task')} no longer held, and in none of these sums")
    reason = "nothing ran on a cluster"
    if recording.is_on_cluster:
        reason = "no task is in one, or the scheduler was not observed"
    return TableResult.of(
        [_span(span, sums[span]) for span in sorted(sums)],
        SpanTotals,
        f"no spans, because {reason}",
        f"spans · {format_count(len(sums))}",
        {
            "span": lambda row: printable(row.span, _SPAN_WIDTH),
            "tasks": lambda row: format_count(row.n_tasks),
            "failed": lambda row: format_count(row.n_erred),
            "time in tasks": lambda row: format_duration(row.task_s),
            # A sum of some of them is the least that it was.
            "CPU time": lambda row: (
                "at least " * (row.cpu_s is not None and row.n_cpu_unknown > 0) + format_duration(row.cpu_s)
            ),
        },
        notes,
    )


def _by_group(recording: RecordedData) -> NDArray[np.float64]:
    """Return the tasks, failed tasks, time, CPU time and tasks with CPU time of each group."""
    tasks = recording.tasks
    seen = were_seen(tasks)
    has_cpu = seen & ~np.isnan(tasks.cpu_s)
    seconds, cpu_s = np.where(seen, tasks.stop - tasks.start, 0.0), np.where(has_cpu, tasks.cpu_s, 0.0)
    weights = (seen, seen & (tasks.status == ERRED), seconds, cpu_s, has_cpu)
    group, n_groups = tasks.group.astype(np.int64), len(recording.groups)
    return np.column_stack([np.bincount(group, of_tasks, n_groups) for of_tasks in weights])


def _span(span: str, sums: NDArray[np.float64]) -> SpanTotals:
    n, n_erred, task_s, cpu_s, n_cpu = sums.tolist()
    return SpanTotals(span, int(n), int(n_erred), task_s, cpu_s if n_cpu else None, int(n - n_cpu))


def seconds_by_prefix(recording: RecordedData) -> list[PrefixSeconds]:
    """Return the seconds of each activity of executing tasks, by compute and prefix, of all workers."""
    seconds: defaultdict[tuple[int, str, str], float] = defaultdict(float)
    for metric in recording.metrics:
        if metric.seconds:
            seconds[metric.run, metric.prefix, metric.activity] += metric.seconds
    return [PrefixSeconds(*name, total) for name, total in seconds.items()]


WORKER_ENDS = frozenset(("retired", "left", "killed", "timed out", "died"))
"""Events after which a worker is gone."""


@dataclass(frozen=True, slots=True)
class WorkerLife:
    """From when to when a worker was there, on the axis of the recorder; infinite where that was not seen."""

    since_s: float
    until_s: float
    n_threads: int

    def seconds(self, start_s: float, stop_s: float) -> float:
        """Return for how much of a time it was there."""
        return max(min(self.until_s, stop_s) - max(self.since_s, start_s), 0.0)


def lives_of(recording: RecordedData) -> Mapping[str, WorkerLife]:
    """Return the workers of a cluster that were seen, by their addresses."""
    came: dict[str, float] = {}
    left: dict[str, float] = {}
    for message in recording.messages:
        if message.worker is not None and message.event == "came":
            came.setdefault(message.worker, message.time_s)
        elif message.worker is not None and message.event in WORKER_ENDS:
            left[message.worker] = message.time_s
    threads = {sample.worker: sample.n_threads for sample in recording.workers if sample.n_threads}
    return {
        worker: WorkerLife(
            came.get(worker, -math.inf), left.get(worker, math.inf), max(threads.get(worker, 1), 1)
        )
        for worker in {**came, **threads, **left}
    }


def without_workers(recording: RecordedData) -> list[tuple[float, float]]:
    """Return the times without any worker, where workers were seen at all, on the axis of the recorder."""
    gaps: list[tuple[float, float]] = []
    lives = sorted((life.since_s, life.until_s) for life in lives_of(recording).values())
    reached_s = -math.inf
    for since_s, until_s in [*lives, (math.inf, math.inf)] if lives else ():
        if since_s > reached_s:
            gaps.append((reached_s, since_s))
        reached_s = max(reached_s, until_s)
    return gaps


def paused_s(recording: RecordedData, start_s: float, stop_s: float) -> dict[str, float]:
    """Return for how long of a time workers began no task, as they lacked memory, by their addresses."""
    since: dict[str, float] = {}
    found: defaultdict[str, float] = defaultdict(float)
    ends = [(worker, stop_s) for worker in dict.fromkeys(m.worker for m in recording.messages)]
    events = [(m.worker, m.time_s, m.event) for m in recording.messages if m.event is not None]
    for worker, time_s, event in [*events, *((worker, end_s, "") for worker, end_s in ends)]:
        if worker is not None and event == "paused":
            since.setdefault(worker, time_s)
        elif worker in since:
            found[worker] += max(min(time_s, stop_s) - max(since.pop(worker), start_s), 0.0)
    return {worker: seconds for worker, seconds in found.items() if seconds}
