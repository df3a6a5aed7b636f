"""Clusters: when workers were there, how fast results went, what spans took, where workers' seconds went."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.quantities import counted, format_bytes, format_count, format_duration, printable
from taskscope.analysis.result import Section, TableResult, more_rows
from taskscope.analysis.totals import union_s, were_seen
from taskscope.model.recording import RecordedData
from taskscope.model.tables.records import ERRED
from taskscope.model.tables.workers import PrefixSeconds, is_on_cpu

_MAX_PAIRS = 20
_MAX_SPANS = 40
_NAME_WIDTH = 24
_SPAN_WIDTH = 60
_WITHIN = " / "
"""The separator between the names of nested spans."""


_PAIR = ("sender", "receiver", "n_transfers", "n_unsized", "nbytes", "seconds", "busy_s")
_RATES = ("bytes_per_s", "together_bytes_per_s")


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
    pairs.sort(key=lambda pair: -pair[4])
    names = {sample.worker: f"worker {sample.name}" for sample in recording.workers if sample.name}
    n, n_unsized = sum(pair[2] for pair in pairs), sum(pair[3] for pair in pairs)
    unsized = [f"{counted(n_unsized, 'transfer')} of unknown size left out"]
    shown = Section(
        f"bandwidth · {format_bytes(sum(pair[4] for pair in pairs))} in {counted(n, 'transfer')}",
        ("from", "to", "transfers", "bytes", "a transfer", "rate"),
        [_pair_row(names, *pair) for pair in pairs[:_MAX_PAIRS]],
        [*more_rows(pairs, _MAX_PAIRS), *(unsized if n_unsized else [])],
        left=2,
    )
    reason = f"cannot say how fast results went between workers, because {_why_no_pairs(recording)}"
    rows = [(*pair, *(pair[4] / s if s > 0 else math.nan for s in pair[5:])) for pair in pairs]
    return TableResult.of((*_PAIR, *_RATES), rows, reason, shown)


def _pair(
    sender: str, receiver: str, transfers: list[tuple[float, float, float]]
) -> tuple[str, str, int, int, float, float, float]:
    start, stop, nbytes = np.array(transfers, np.float64).T
    sized = ~np.isnan(nbytes)
    start, stop, nbytes = start[sized], stop[sized], nbytes[sized]
    sums = float(nbytes.sum()), float((stop - start).sum()), union_s(start, stop)
    return sender, receiver, len(transfers), len(transfers) - len(start), *sums


def _pair_row(
    names: Mapping[str, str],
    sender: str,
    receiver: str,
    n: int,
    n_unsized: int,
    nbytes: float,
    seconds: float,
    _busy_s: float,
) -> tuple[str, ...]:
    n_sized = n - n_unsized
    return (
        *(printable(names.get(of, of), _NAME_WIDTH) for of in (sender, receiver)),
        format_count(n),
        format_bytes(nbytes if n_sized else None),
        format_duration(seconds / n_sized if n_sized else None),
        f"{format_bytes(nbytes / seconds)}/s" if n_sized and seconds > 0 else format_bytes(None),
    )


def _why_no_pairs(recording: RecordedData) -> str:
    if "transfers" in recording.unknown:
        return "the file ends before its transfers"
    if not recording.is_on_cluster:
        return "nothing ran on a cluster"
    return "no result went from one worker to another"


_SPAN = ("span", "n_tasks", "n_erred", "task_s", "cpu_s", "n_cpu_unknown")


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
    rows = [_span(span, sums[span]) for span in sorted(sums)]
    notes = more_rows(rows, _MAX_SPANS)
    if n := int(outside[0]):
        notes.append(f"{counted(n, 'task')} in no span: {format_duration(float(outside[2]))}")
    if n := recording.dropped:
        notes.append(f"{counted(n, 'task')} no longer held, and in none of these sums")
    reason = "nothing ran on a cluster"
    if recording.is_on_cluster:
        reason = "no task is in one, or the scheduler was not observed"
    shown = Section(
        f"spans · {format_count(len(rows))}",
        ("span", "tasks", "failed", "time in tasks", "CPU time"),
        [_span_row(*row) for row in rows[:_MAX_SPANS]],
        notes,
    )
    return TableResult.of(_SPAN, rows, f"no spans, because {reason}", shown)


def _by_group(recording: RecordedData) -> NDArray[np.float64]:
    """Return the tasks, failed tasks, time, CPU time and tasks with CPU time of each group."""
    tasks = recording.tasks
    seen = were_seen(tasks)
    has_cpu = seen & ~np.isnan(tasks.cpu_s)
    seconds, cpu_s = np.where(seen, tasks.stop - tasks.start, 0.0), np.where(has_cpu, tasks.cpu_s, 0.0)
    weights = (seen, seen & (tasks.status == ERRED), seconds, cpu_s, has_cpu)
    group, n_groups = tasks.group.astype(np.int64), len(recording.groups)
    return np.column_stack([np.bincount(group, of_tasks, n_groups) for of_tasks in weights])


def _span(span: str, sums: NDArray[np.float64]) -> tuple[str, int, int, float, float | None, int]:
    n, n_erred, task_s, cpu_s, n_cpu = sums.tolist()
    return span, int(n), int(n_erred), task_s, cpu_s if n_cpu else None, int(n - n_cpu)


def _span_row(
    span: str, n: int, n_erred: int, task_s: float, cpu_s: float | None, n_cpu_unknown: int
) -> tuple[str, ...]:
    # A sum of some of them is the least that it was.
    at_least = "at least " if cpu_s is not None and n_cpu_unknown else ""
    return (
        printable(span, _SPAN_WIDTH),
        format_count(n),
        format_count(n_erred),
        format_duration(task_s),
        at_least + format_duration(cpu_s),
    )


def seconds_by_prefix(recording: RecordedData) -> list[PrefixSeconds]:
    """Return the seconds of each activity of executing tasks, by compute and prefix, of all workers."""
    seconds: defaultdict[tuple[int, str, str], float] = defaultdict(float)
    for metric in recording.metrics:
        if metric.seconds:
            seconds[metric.run, metric.prefix, metric.activity] += metric.seconds
    return [PrefixSeconds(*name, total) for name, total in seconds.items()]


def cpu_by_prefix(recording: RecordedData) -> dict[str, float]:
    """Return the CPU time of finished tasks that workers of a cluster metered, by prefix."""
    seconds: defaultdict[str, float] = defaultdict(float)
    for metric in recording.metrics:
        seconds[metric.prefix] += metric.seconds if is_on_cpu(metric.activity) else 0.0
    return dict(seconds)


_ENDS = {"retired", "left", "killed", "timed out", "died"}


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
        elif message.worker is not None and message.event in _ENDS:
            left[message.worker] = message.time_s
    threads = {sample.worker: sample.n_threads for sample in recording.workers if sample.n_threads}
    return {
        worker: WorkerLife(
            came.get(worker, -math.inf), left.get(worker, math.inf), max(threads.get(worker, 1), 1)
        )
        for worker in {**came, **threads, **left}
    }


def without_workers(recording: RecordedData, start_s: float, stop_s: float) -> list[tuple[float, float]]:
    """Return the parts of a time in which there was no worker, where workers were seen at all."""
    lives = sorted((life.since_s, life.until_s) for life in lives_of(recording).values())
    if not lives:
        return []
    gaps: list[tuple[float, float]] = []
    reached = start_s
    for since_s, until_s in lives:
        if since_s > reached:
            gaps.append((reached, min(since_s, stop_s)))
        reached = max(reached, until_s)
        if reached >= stop_s:
            break
    if reached < stop_s:
        gaps.append((reached, stop_s))
    return [(first, last) for first, last in gaps if last > first]
