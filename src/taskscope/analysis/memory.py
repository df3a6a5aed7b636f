"""Memory: its peak and the parts of that, and results in the scheduler's cache over time."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.quantities import counted, format_bytes, format_percent, printable
from taskscope.analysis.result import Result, Section, TableResult, columns_of
from taskscope.errors import UnknownNameError, unknown_name
from taskscope.model.recording import RecordedData, key_sizes
from taskscope.model.source_lines import place_text, source_of, source_text
from taskscope.model.tables.cache_usage import CacheEvents, CacheRows, CacheSeries, TimeBins
from taskscope.model.tables.columns import GraphColumns
from taskscope.model.tables.process import PeakLine, ResourceRows
from taskscope.model.tables.records import Run, number_prefixes
from taskscope.model.tables.workers import WorkerSample

PeakKind: TypeAlias = Literal["results", "base", "rest"]

_WORDS: Mapping[PeakKind, str] = {
    "results": "results in memory",
    "base": "before the first task",
    "rest": "tasks and everything else",
}
_MAX_SHOWN = 12
_MAX_LINES = 10
_NOT_ALLOCATED = "not recorded by task and line: use memory=True, or %%profile --memory"


def allocations(recording: RecordedData) -> TableResult:
    """Return the allocations (``malloc``, ``mmap``) that were not yet freed when their sum was largest.

    Columns: ``key, prefix, file, function, line, source, nbytes, n_allocations``, by task and line, the
    largest first and those of no task last. A key of None: several tasks, as only the 20,000 largest rows are
    told apart; key and prefix None: no task. The line is the innermost one outside of libraries; its source
    is None where its file has changed. The memory of the process is another number.
    """
    lines = _highest(recording)
    sources = cache(lambda file: source_of(file, recording.started_at))
    columns: dict[str, Sequence[object]] = {
        **columns_of(lines, "key", "prefix", "file", "function", "line"),
        "source": [source_text(sources(line.file or ""), line.line or 0) for line in lines],
        **columns_of(lines, "nbytes", "n_allocations"),
    }
    if not lines:
        return TableResult(columns, _NOT_ALLOCATED, Section(_NOT_ALLOCATED))
    whole = sum(line.nbytes for line in lines)
    located = sum(line.nbytes for line in lines if line.key is not None and line.line is not None)
    shown = [
        (
            *(prefix, where, format_bytes(n), format_percent(n / whole)),
            (source_text(sources(file), number) or "").strip(),
        )
        for (prefix, where, file, number), n in _by_line(lines)[:_MAX_LINES]
    ]
    title = f"allocated when it was most · {format_bytes(whole)}"
    head = ("task type", "line", "bytes", "share", "source")
    section = Section(
        f"{title} ({format_percent(located / whole if whole else None)} of it with task and line)",
        head,
        shown,
        left=2,
        is_last_left=True,
    )
    return TableResult(columns, None, section)


def most_allocated(recording: RecordedData) -> str:
    """Return the line that had most, over all tasks of a prefix, in words; nothing where none is known."""
    rows = _by_line(_highest(recording))
    if not rows:
        return ""
    (prefix, where, *_), nbytes = rows[0]
    return f"{format_bytes(nbytes)} by {where} (tasks: {printable(prefix, 36)})"


def _highest(recording: RecordedData) -> list[PeakLine]:
    """Return the lines of the highest recorded peak."""
    totals: defaultdict[int, int] = defaultdict(int)
    for row in recording.peak_lines:
        totals[row.peak] += row.nbytes
    highest = max(totals, key=totals.__getitem__, default=None)
    return [row for row in recording.peak_lines if row.peak == highest]


def _by_line(lines: Sequence[PeakLine]) -> list[tuple[tuple[str, str, str, int], int]]:
    """Return prefix, place, file and number of each line with its bytes over all tasks, the most first."""
    sums: defaultdict[tuple[str, str, str, int], int] = defaultdict(int)
    for line in lines:
        if line.prefix is not None and line.file is not None:
            number = line.line or 0
            where = printable(place_text(line.file, number, has_folder=False), 44)
            sums[line.prefix, where, line.file, number] += line.nbytes
    return sorted(sums.items(), key=lambda item: -item[1])


@dataclass(frozen=True, slots=True)
class PeakPart:
    """A part of the bytes at a peak.

    `kind` is ``"results"`` in memory, as Dask measures them, with their `prefix` where known; ``"base"``:
    memory before the first task; ``"rest"``: tasks that ran, and everything else.
    """

    kind: PeakKind
    prefix: str | None
    nbytes: float


@dataclass(frozen=True, slots=True, repr=False)
class MemoryPeak(Result):
    """The most memory of one process and its parts, which add up to it.

    `worker` is the address of a worker of a cluster, `worker_name` its name, and `workers` has the peak of
    each address, the largest first.
    `time_s` is the time of the sample in seconds after `Recording.started_at`. With `is_exact` the kernel
    measured the peak; else it is the largest sample, and memory between two samples may have been more.
    `reason` is why there is no peak. `allocated` are the allocations with ``memory=True``.
    """

    worker: str | None
    peak_bytes: float
    time_s: float
    is_exact: bool
    parts: tuple[PeakPart, ...]
    workers: Mapping[str, float]
    reason: str | None
    notes: tuple[str, ...]
    allocated: TableResult
    worker_name: str | None = None

    _rows = "parts", PeakPart

    def nbytes(self, kind: PeakKind) -> float:
        """Return how much of the peak is of a kind."""
        return math.fsum(part.nbytes for part in self.parts if part.kind == kind)

    def words(self) -> str:
        """Return the parts in one line, the largest kind first; nothing where there is no peak."""
        sums = {kind: self.nbytes(kind) for kind in _WORDS}
        return ", ".join(
            f"{format_bytes(sums[kind])} {_WORDS[kind]}"
            for kind in sorted(_WORDS, key=lambda kind: -sums[kind])
            if sums[kind] >= self.peak_bytes / 100
        )

    def sections(self) -> Iterator[Section]:
        """Yield a table of the parts, the largest first, and the allocations."""
        if self.reason is not None:
            yield Section(f"no peak of memory, because {self.reason}")
        else:
            name = self.worker_name or self.worker
            whose = "" if name is None else f" of worker {printable(name, 60)}"
            how = "as the operating system counted" if self.is_exact else "the largest sample"
            parts = sorted(self.parts, key=lambda part: -part.nbytes)
            yield Section(
                f"peak memory{whose} · {format_bytes(self.peak_bytes)} ({how})",
                rows=[
                    (
                        ": ".join([_WORDS[part.kind], *([part.prefix] if part.prefix is not None else [])]),
                        format_bytes(part.nbytes),
                        format_percent(part.nbytes / self.peak_bytes),
                    )
                    for part in parts[:_MAX_SHOWN]
                    if part.nbytes > 0
                ],
                notes=self.notes,
            )
        if self.allocated.reason is None:
            yield from self.allocated.sections()


def memory_peak(recording: RecordedData, worker: str | None = None) -> MemoryPeak:
    """Return the most memory in use and its parts: results, memory before the first task, the rest.

    Parameters
    ----------
    worker
        The address of a worker of a cluster; by default the one with the highest peak.

    Raises
    ------
    UnknownNameError
        If there is no such worker.

    Examples
    --------
    >>> import dask, taskscope
    >>> with taskscope.profile(display=False) as run:
    ...     _ = dask.delayed(sum)([1, 2]).compute(scheduler="synchronous")
    >>> peak = run.recording.memory_peak()
    >>> round(sum(part.nbytes for part in peak.parts)) == round(peak.peak_bytes)
    True

    Notes
    -----
    All parts are measured: results as Dask measures them (`dask.sizeof`), until the next compute begins;
    the process before the first task; the rest is what remains of the peak. Where a process never had
    as much memory before, the peak is the kernel's own (Linux); elsewhere, and of workers, it is the
    largest sample.
    """
    if recording.is_on_cluster:
        return _of_workers(recording, worker)
    if worker is not None:
        raise UnknownNameError(f"worker must be None, got {worker!r}: these computes were on no cluster")
    samples = recording.resources
    place = samples.peak_place(recording.runs)
    if place is None:
        return _no_peak(recording, "no sample of memory was taken")
    stays = list(_stays(recording))
    n_unsized = sum(int(np.isnan(sizes).sum()) for *_, sizes in stays)
    first = _first_sample(recording, samples.time, None)
    held, before = (
        {} if sample is None else _results_at(recording, stays, float(samples.time[sample]))
        for sample in (place, first)
    )
    return _parts(recording, samples, place, first, held, sum(before.values()), n_unsized)


def _no_peak(recording: RecordedData, reason: str) -> MemoryPeak:
    return MemoryPeak(None, math.nan, math.nan, False, (), {}, reason, (), allocations(recording))


def _of_workers(recording: RecordedData, worker: str | None) -> MemoryPeak:
    samples: dict[str, list[WorkerSample]] = {}
    for sample in recording.workers:
        if sample.rss_bytes is not None and sample.n_threads:
            samples.setdefault(sample.worker, []).append(sample)
    peaks = {name: max(s.rss_bytes or 0.0 for s in of) for name, of in samples.items()}
    peaks = dict(sorted(peaks.items(), key=lambda item: -item[1]))
    if worker is not None and worker not in peaks:
        raise UnknownNameError(unknown_name("worker", worker, list(peaks)))
    if not peaks:
        return _no_peak(recording, "no worker reported its memory")
    name = next(iter(peaks)) if worker is None else worker
    of_worker = sorted(samples[name], key=lambda sample: sample.time_s)
    rows = ResourceRows.of([(s.time_s, math.nan, s.rss_bytes or 0.0, 1, 0) for s in of_worker])
    place, first = int(np.argmax(rows.rss_bytes)), _first_sample(recording, rows.time, name)
    held, before = (of_worker[sample or 0].managed_bytes or 0.0 for sample in (place, first))
    parts = _parts(recording, rows, place, first, {None: held}, before)
    return replace(parts, worker=name, workers=peaks, worker_name=of_worker[place].name)


def _first_sample(recording: RecordedData, time: NDArray[np.float64], worker: str | None) -> int | None:
    """Return the last sample before the first task of this process, or of a worker."""
    lanes = [lane.id for lane in recording.lanes if worker in {None, lane.worker}]
    starts = [block.start[np.isin(block.lane, lanes)] for block in recording.blocks]
    before = np.flatnonzero(time <= np.concatenate([np.array([math.inf]), *starts]).min())
    return int(before[-1]) if len(before) else None


_Stay: TypeAlias = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
"""Results of a compute: places of their prefixes, when each entered and left memory, and sizes."""


def _stays(recording: RecordedData) -> Iterator[_Stay]:
    """Yield the results of each compute; after it they are the caller's until the next compute begins."""
    place_of = number_prefixes(recording.groups)[1]
    for run in recording.runs:
        graph = recording.graphs.get(run.run)
        if graph is None:
            continue
        stop_s = math.inf if run.stop_s is None else run.stop_s
        later = [other.start_s for other in recording.runs if other.start_s >= stop_s]
        enter, leave = graph.enter_times(), graph.exit_times(min(later, default=math.inf))
        # Data that a graph carries had been in memory before the compute.
        enter[graph.data] = run.start_s
        has = ~np.isnan(enter)
        yield place_of[graph.group[has]], enter[has], leave[has], key_sizes(recording, run.run, graph)[has]


def _results_at(recording: RecordedData, stays: Iterable[_Stay], time_s: float) -> dict[str | None, float]:
    """Return the bytes of results of each prefix at a time, the most first."""
    names = number_prefixes(recording.groups)[0]
    sums = np.zeros(len(names))
    for prefix, enter, leave, sizes in stays:
        is_held = (enter <= time_s) & (time_s < leave) & ~np.isnan(sizes)
        sums += np.bincount(prefix[is_held], sizes[is_held], len(names))
    return {names[i]: float(sums[i]) for i in np.argsort(-sums, kind="stable").tolist() if sums[i]}


def _parts(
    recording: RecordedData,
    samples: ResourceRows,
    place: int,
    first: int | None,
    results: Mapping[str | None, float],
    held_before: float,
    n_unsized: int = 0,
) -> MemoryPeak:
    """Return the peak at a sample; `first` is the last sample before the first task."""
    peak = float(samples.most_bytes()[place])
    base = 0.0 if first is None else float(samples.rss_bytes[first]) - held_before
    # Results that share memory, or that are in another process, are measured larger than the process.
    held = sum(results.values())
    of_results = min(held, peak)
    of_base = min(max(base, 0.0), peak - of_results)
    notes = []
    if first is None:
        notes.append("no sample is from before the first task: that memory is part of the rest")
    if held > peak - max(base, 0.0):
        notes.append("results are measured larger than the process: some share memory, or are not in it")
    if n_unsized:
        notes.append(f"{counted(n_unsized, 'result')} of unknown size: in the rest")
    parts = [
        *(PeakPart("results", name, n * of_results / held) for name, n in results.items() if n),
        *([PeakPart("base", None, of_base)] if first is not None else []),
        PeakPart("rest", None, max(peak - of_results - of_base, 0.0)),
    ]
    is_exact = not np.isnan(samples.peak_bytes[place])
    time_s = float(samples.time[place]) - recording.zero_s
    return MemoryPeak(
        None, peak, time_s, is_exact, tuple(parts), {}, None, tuple(notes), allocations(recording)
    )


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """Results in the scheduler's cache, one element each.

    `prefix` is a place in `prefixes`; times are seconds after the recorder's zero; `value` is NaN where
    unknown.
    """

    prefixes: tuple[str, ...]
    prefix: NDArray[np.int64]
    enter_s: NDArray[np.float64]
    leave_s: NDArray[np.float64]
    value: NDArray[np.float64]


def cache_rows(recording: RecordedData, bins: TimeBins | None = None) -> CacheRows:
    """Return cache usage of each group over time: the maximum, the minimum and the last value of each bin."""
    parts = [
        _run_rows(recording, run, recording.graphs[run.run], bins)
        for run in recording.runs
        if run.run in recording.graphs and not run.is_on_cluster
    ]
    return CacheRows.concat([*parts, recording.holdings])


def cache_metrics(recording: RecordedData) -> dict[int, str]:
    """Return the name of the user's cache metric, by run; runs without one are left out."""
    name = str(recording.metadata.get("metric", "metric"))
    return {run: name for run, graph in recording.graphs.items() if graph.values is not None}


def _run_rows(recording: RecordedData, run: Run, graph: GraphColumns, bins: TimeBins | None) -> CacheRows:
    stop = recording.now_s if run.stop_s is None else run.stop_s
    has_value = graph.values is not None
    series = CacheSeries(run.run, run.start_s, has_value=has_value, bins=bins)
    events = _events(recording, run.run, graph, stop)
    rows = series.add(events, stop)
    return CacheRows.concat([rows, series.flush() if run.stop_s is None else series.close(stop)])


def _events(recording: RecordedData, run: int, graph: GraphColumns, stop: float) -> CacheEvents:
    enter, leave = graph.enter_times(), graph.exit_times(stop)
    came = np.flatnonzero(~np.isnan(enter))
    # Results that stay to the end leave with `close`; of a compute that goes on, it stays.
    went = np.flatnonzero(leave < stop)
    keys = np.concatenate([came, went])
    times = np.concatenate([enter[came], leave[went]])
    sizes, values = key_sizes(recording, run, graph), graph.values
    order = np.argsort(times, kind="stable")
    keys, times = keys[order], times[order]
    return CacheEvents(
        step=np.cumsum(np.diff(times, prepend=times[:1]) != 0),
        time=times,
        group=graph.group[keys].astype(np.int64),
        sign=np.repeat([1, -1], [len(came), len(went)])[order],
        size=sizes[keys],
        value=np.full(len(keys), np.nan) if values is None else values[keys].astype(np.float64),
    )


class HeldSums(NamedTuple):
    """Cache usage at one moment; `n_unsized` and `n_unvalued` keys are not in `nbytes` and `value`."""

    n_keys: int = 0
    nbytes: float = 0.0
    n_unsized: int = 0
    value: float = 0.0
    n_unvalued: int = 0

    def plus(self, other: HeldSums, sign: int = 1) -> HeldSums:
        """Return the sum, or with `sign` -1 the difference."""
        sums = HeldSums._make(one + sign * more for one, more in zip(self, other, strict=True))
        # Rounding keeps sums of floats from returning to 0.
        return sums if sums.n_keys else sums._replace(nbytes=0.0, value=0.0)


def is_lower_bound(runs: Iterable[Run]) -> bool:
    """Return whether the cache may have had more than the peak of these computes.

    It may where computes overlap, or ran on a cluster, whose workers are sampled.
    """
    ordered = sorted(runs, key=lambda run: run.start_s)
    stops_s = [math.inf if run.stop_s is None else run.stop_s for run in ordered]
    return any(run.is_on_cluster for run in ordered) or any(
        later.start_s < max(stops_s[: i + 1]) for i, later in enumerate(ordered[1:])
    )


class HeldTotals:
    """Sums of rows, `now` and at their peaks.

    Each sum has a peak of its own in `most`. It is exact for computes one after the other; of computes at the
    same time it is the most at the moments that the rows name.
    """

    def __init__(self, first_run: int = 0, last_run: int | None = None) -> None:
        self._runs = first_run, math.inf if last_run is None else last_run
        self._state: dict[tuple[int, int], HeldSums] = {}
        self.now = self.most = HeldSums()

    def add(self, rows: CacheRows) -> None:
        """Add further rows to the sums."""
        first, last = self._runs
        rows = rows.part(np.flatnonzero((rows.run >= first) & (rows.run <= last)))
        rows = rows.part(np.argsort(rows.time, kind="stable"))
        is_last = np.diff(rows.time, append=np.inf) > 0
        columns = (
            rows.run,
            rows.group,
            rows.n_keys,
            rows.nbytes,
            rows.n_unsized,
            rows.value,
            rows.n_unvalued,
        )
        for is_over, run, group, *sums in zip(is_last.tolist(), *(c.tolist() for c in columns), strict=True):
            held = HeldSums._make(sums)
            self.now = self.now.plus(self._state.pop((run, group), HeldSums()), -1).plus(held)
            if held.n_keys:
                self._state[run, group] = held
            if is_over:
                self.most = HeldSums._make(map(max, self.most, self.now))
