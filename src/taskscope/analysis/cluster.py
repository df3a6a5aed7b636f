"""Clusters: when workers were there, how fast results went, what spans took, where workers' seconds went."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.quantities import format_bytes, format_count, format_duration, plural, printable
from taskscope.analysis.result import Result, Section, columns_of
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


@dataclass(frozen=True, slots=True)
class WorkerPair:
    """The results that one worker sent to another.

    `sender` and `receiver` are addresses; `n_unsized` of the `n_transfers` had an unknown size, and count in
    nothing that follows. `seconds` is the sum of the transfers' durations, `busy_s` the time during which at
    least one of them went on.
    """

    sender: str
    receiver: str
    n_transfers: int
    n_unsized: int
    nbytes: float
    seconds: float
    busy_s: float

    @property
    def bytes_per_s(self) -> float:
        """The mean rate of a single transfer, as distributed counts it; NaN where unknown."""
        return self.nbytes / self.seconds if self.seconds > 0 else np.nan

    @property
    def together_bytes_per_s(self) -> float:
        """The rate of the link while anything went over it; NaN where unknown."""
        return self.nbytes / self.busy_s if self.busy_s > 0 else np.nan


@dataclass(frozen=True, slots=True, repr=False)
class Bandwidth(Result):
    """How fast results went between each two workers, the pair with the most bytes first.

    `names` are the workers' names by address, as far as known; `reason` is why there are no pairs.
    """

    pairs: tuple[WorkerPair, ...]
    names: Mapping[str, str]
    reason: str | None
    notes: tuple[str, ...]

    @property
    def nbytes(self) -> float:
        """The bytes that went between workers."""
        return sum(pair.nbytes for pair in self.pairs)

    def table(self) -> dict[str, list[object]]:
        """Return a row for each pair, with the fields and rates of `WorkerPair`.

        ``.to_pandas().set_index(["sender", "receiver"]).bytes_per_s.unstack()`` makes a matrix of it.
        """
        return columns_of(self.pairs, *WorkerPair.__slots__, "bytes_per_s", "together_bytes_per_s")

    def sections(self) -> Iterator[Section]:
        """Yield a table of the pairs."""
        if self.reason is not None:
            yield Section(f"cannot say how fast results went between workers, because {self.reason}")
            return
        n, n_more = sum(pair.n_transfers for pair in self.pairs), len(self.pairs) - _MAX_PAIRS
        yield Section(
            f"bandwidth · {format_bytes(self.nbytes)} in {format_count(n)} {plural('transfer', n)}",
            ("from", "to", "transfers", "bytes", "a transfer", "rate"),
            [self._row(pair) for pair in self.pairs[:_MAX_PAIRS]],
            (*([f"{n_more:,} more pairs are in to_pandas()"] if n_more > 0 else []), *self.notes),
            left=2,
        )

    def _row(self, pair: WorkerPair) -> tuple[str, ...]:
        n_sized = pair.n_transfers - pair.n_unsized
        known = n_sized > 0 and pair.seconds > 0
        return (
            *(printable(self.names.get(of, of), _NAME_WIDTH) for of in (pair.sender, pair.receiver)),
            format_count(pair.n_transfers),
            format_bytes(pair.nbytes if n_sized else None),
            format_duration(pair.seconds / n_sized if n_sized else None),
            f"{format_bytes(pair.bytes_per_s)}/s" if known else format_bytes(None),
        )


def bandwidth(recording: RecordedData) -> Bandwidth:
    """Return how fast results went between each two workers of a cluster.

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
    `together_bytes_per_s`. A transfer ends when the receiver has the data as objects, so the rate
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
    n_unsized = sum(pair.n_unsized for pair in pairs)
    unsized = f"{format_count(n_unsized)} {plural('transfer', n_unsized)} of unknown size left out"
    return Bandwidth(
        tuple(sorted(pairs, key=lambda pair: -pair.nbytes)),
        {sample.worker: f"worker {sample.name}" for sample in recording.workers if sample.name},
        None if pairs else _why_no_pairs(recording),
        (unsized,) if n_unsized else (),
    )


def _pair(sender: str, receiver: str, transfers: list[tuple[float, float, float]]) -> WorkerPair:
    start, stop, nbytes = np.array(transfers, np.float64).T
    sized = ~np.isnan(nbytes)
    start, stop, nbytes = start[sized], stop[sized], nbytes[sized]
    return WorkerPair(
        sender,
        receiver,
        n_transfers=len(transfers),
        n_unsized=len(transfers) - len(start),
        nbytes=float(nbytes.sum()),
        seconds=float((stop - start).sum()),
        busy_s=union_s(start, stop),
    )


def _why_no_pairs(recording: RecordedData) -> str:
    if "transfers" in recording.unknown:
        return "the file ends before its transfers"
    if not any(run.is_on_cluster for run in recording.runs):
        return "nothing ran on a cluster"
    return "no result went from one worker to another"


@dataclass(frozen=True, slots=True)
class SpanTotal:
    """The tasks of one span and of the spans within it.

    `span` is its name with those around it, as in ``load / decode``. Tasks count if they were seen to run;
    `n_erred` of them raised. `task_s` is the sum of their durations, `own_task_s` that of tasks in no span
    within it. `cpu_s` is the sum of the known CPU times, None where none is; of `n_cpu_unknown` it is not.
    """

    span: str
    n_tasks: int
    n_erred: int
    task_s: float
    own_task_s: float
    cpu_s: float | None
    n_cpu_unknown: int


@dataclass(frozen=True, slots=True, repr=False)
class Spans(Result):
    """Number, time and CPU time of the tasks of each span, a span before those within it.

    `reason` is why there are none; `notes` name tasks in no span.
    """

    spans: tuple[SpanTotal, ...]
    reason: str | None
    notes: tuple[str, ...]

    def table(self) -> dict[str, list[object]]:
        """Return a row for each span, with the fields of `SpanTotal`."""
        return columns_of(self.spans, *SpanTotal.__slots__)

    def sections(self) -> Iterator[Section]:
        """Yield a table of the spans."""
        if self.reason is not None:
            yield Section(f"no spans, because {self.reason}")
            return
        n_more = len(self.spans) - _MAX_SPANS
        yield Section(
            f"spans · {format_count(len(self.spans))}",
            ("span", "tasks", "failed", "time in tasks", "CPU time"),
            [_span_row(total) for total in self.spans[:_MAX_SPANS]],
            (*([f"{n_more:,} more spans are in to_pandas()"] if n_more > 0 else []), *self.notes),
        )


def _span_row(total: SpanTotal) -> tuple[str, ...]:
    # A sum of some of them is the least that it was.
    at_least = "at least " if total.cpu_s is not None and total.n_cpu_unknown else ""
    return (
        printable(total.span, _SPAN_WIDTH),
        format_count(total.n_tasks),
        format_count(total.n_erred),
        format_duration(total.task_s),
        at_least + format_duration(total.cpu_s),
    )


def spans(recording: RecordedData) -> Spans:
    """Return the number, time and CPU time of the tasks of each ``distributed.span``.

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
                own_s = of_group[2] if span == group.span else 0.0
                sums[span] = sums.get(span, 0.0) + np.append(of_group, own_s)
    notes = []
    if n := int(outside[0]):
        notes.append(
            f"{format_count(n)} {plural('task', n)} in no span: {format_duration(float(outside[2]))}"
        )
    if n := recording.dropped:
        notes.append(f"{format_count(n)} {plural('task', n)} no longer held, and in none of these sums")
    reason = "nothing ran on a cluster"
    if any(run.is_on_cluster for run in recording.runs):
        reason = "no task is in one, or the scheduler was not observed"
    totals = tuple(_span(span, sums[span]) for span in sorted(sums))
    return Spans(totals, None if sums else reason, tuple(notes) if sums else ())


def _by_group(recording: RecordedData) -> NDArray[np.float64]:
    """Return the tasks, failed tasks, time, CPU time and tasks with CPU time of each group."""
    tasks = recording.tasks
    seen = were_seen(tasks)
    has_cpu = seen & ~np.isnan(tasks.cpu_s)
    seconds, cpu_s = np.where(seen, tasks.stop - tasks.start, 0.0), np.where(has_cpu, tasks.cpu_s, 0.0)
    weights = (seen, seen & (tasks.status == ERRED), seconds, cpu_s, has_cpu)
    group, n_groups = tasks.group.astype(np.int64), len(recording.groups)
    return np.column_stack([np.bincount(group, of_tasks, n_groups) for of_tasks in weights])


def _span(span: str, sums: NDArray[np.float64]) -> SpanTotal:
    n, n_erred, task_s, cpu_s, n_cpu, own_task_s = sums.tolist()
    return SpanTotal(span, int(n), int(n_erred), task_s, own_task_s, cpu_s if n_cpu else None, int(n - n_cpu))


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
