"""What the bytes were at the peak of memory: results, tasks that ran, what had been there, and the rest."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.explain.schedule import own_runs
from taskscope.analysis.process.nonnegative import MIN_SAMPLES, fit_counts, fitted, too_few
from taskscope.analysis.process.peak_lines import Allocations, allocations
from taskscope.analysis.process.running import Running, running
from taskscope.analysis.quantities import format_bytes, format_count, format_percent, plural, printable
from taskscope.errors import UnknownNameError, unknown_name
from taskscope.model.frames import frame_of
from taskscope.model.recording import RecordedData, key_sizes
from taskscope.model.tables.records import Run, number_prefixes
from taskscope.model.tables.workers import WorkerSample

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MemoryPeak", "PeakPart", "memory_peak"]

PeakKind: TypeAlias = Literal["results", "tasks", "base", "unknown"]

_WORDS: Mapping[PeakKind, str] = {
    "results": "results in memory",
    "tasks": "tasks in flight",
    "base": "before the first task",
    "unknown": "unknown",
}
_N_FITS = 100
_N_ROUNDS = 3
_SEED = 20_260_102
_MAX_SAMPLES = 200
_MAX_MOMENTS = 32
_LARGE = 0.25
_MAX_SHOWN = 12
_Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PeakPart:
    """A part of the bytes at a peak.

    Parameters
    ----------
    kind
        ``"results"``: what the scheduler, or the worker, held, as Dask measures it. ``"tasks"``: what tasks
        that ran had besides, an estimate. ``"base"``: what the process had before the first task.
        ``"unknown"``: what none of these explains.
    prefix
        Of results and tasks: whose; None where that is not known.
    nbytes, low_bytes, high_bytes
        How much, and the band of an estimate: 5 to 95 % of a block bootstrap over samples, with what the
        estimate leaves over at other times; where it was measured, three times the same.
    """

    kind: PeakKind
    prefix: str | None
    nbytes: float
    low_bytes: float
    high_bytes: float

    def to_dict(self) -> dict[str, object]:
        """Return it as plain values, ready for JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True, repr=False)
class MemoryPeak:
    """What the bytes at the peak of one process were; the parts add up to it.

    Parameters
    ----------
    worker
        The address of a worker of a cluster; None for this process.
    peak_bytes, time_s
        The peak, and when a sample told of it, in seconds after `Recording.started_at`; NaN where nothing
        can be said.
    is_exact
        Whether the kernel saw it; else it is the largest sample, and a peak between two was not seen.
    parts
        What it was, by kind, each with the largest first.
    workers
        The peak of each worker of a cluster, the largest first.
    reason
        Why nothing can be said; None where something can.
    notes
        What is not known, and why.
    allocated
        What tasks and source lines had allocated when that was most, where it was asked for
        (``memory=True``).
    """

    worker: str | None
    peak_bytes: float
    time_s: float
    is_exact: bool
    parts: tuple[PeakPart, ...]
    workers: Mapping[str, float]
    reason: str | None
    notes: tuple[str, ...]
    allocated: Allocations = field(default=Allocations(()), kw_only=True)

    def nbytes(self, kind: PeakKind) -> float:
        """Return how much of the peak is of a kind."""
        return math.fsum(part.nbytes for part in self.parts if part.kind == kind)

    def to_pandas(self) -> pd.DataFrame:
        """Return the parts as a pandas DataFrame, with the columns of `PeakPart`.

        Raises
        ------
        MissingDependencyError
            If pandas is not installed.
        """
        return frame_of([part.to_dict() for part in self.parts], list(PeakPart.__slots__))

    def to_dict(self) -> dict[str, object]:
        """Return it as plain values, ready for JSON."""
        return {
            "worker": self.worker,
            "peak_bytes": None if self.reason else self.peak_bytes,
            "time_s": None if self.reason else self.time_s,
            "is_exact": self.is_exact,
            "parts": [part.to_dict() for part in self.parts],
            "workers": dict(self.workers),
            "reason": self.reason,
            "notes": list(self.notes),
            "allocated": self.allocated.to_dict(),
        }

    def words(self) -> str:
        """Return what it was in one line, the largest kind first; nothing where nothing can be said."""
        sums = {kind: self.nbytes(kind) for kind in _WORDS}
        largest = max((p for p in self.parts if p.kind == "tasks"), key=lambda p: p.nbytes, default=None)
        texts = []
        for kind in sorted(_WORDS, key=lambda kind: -sums[kind]):
            if sums[kind] >= self.peak_bytes / 100:
                is_estimate = kind in ("tasks", "unknown")
                whose = (
                    f" (most: {printable(str(largest.prefix), 36)})" if largest and kind == "tasks" else ""
                )
                about = "about " if is_estimate else ""
                texts.append(f"{about}{format_bytes(sums[kind])} {_WORDS[kind]}{whose}")
        return ", ".join(texts)

    def __str__(self) -> str:
        """Return it as text, the largest part first."""
        if self.reason is not None:
            text = f"cannot say what was in memory, because {self.reason}"
            return f"{text}\n\n{self.allocated}" if self.allocated.lines else text
        whose = "" if self.worker is None else f" of worker {printable(self.worker, 60)}"
        how = "as the operating system counted" if self.is_exact else "the largest sample"
        parts = sorted(self.parts, key=lambda part: -part.nbytes)
        shown = [part for part in parts if part.nbytes > 0][:_MAX_SHOWN]
        names = [_WORDS[p.kind] + ("" if p.prefix is None else f": {printable(p.prefix, 36)}") for p in shown]
        width = max(map(len, names), default=0)
        lines = [
            f"  {name:<{width}}  {format_bytes(part.nbytes):>9}  "
            f"{format_percent(part.nbytes / self.peak_bytes):>6}{_band(part)}"
            for name, part in zip(names, shown, strict=True)
        ]
        title = f"peak memory{whose} · {format_bytes(self.peak_bytes)} ({how})"
        notes = [*([""] if self.notes else []), *(f"  {n}" for n in self.notes)]
        allocated = ["", str(self.allocated)] if self.allocated.lines else []
        return "\n".join([title, "", *lines, *notes, *allocated])

    __repr__ = __str__


def _band(part: PeakPart) -> str:
    if part.kind not in ("tasks", "unknown"):
        return ""
    return f"  ({format_bytes(part.low_bytes)} to {format_bytes(part.high_bytes)}, estimated)"


@dataclass(frozen=True, slots=True, eq=False)
class _Process:
    """Samples of one process, by time on the recorder's axis."""

    time: _Floats
    rss: _Floats
    peak: _Floats
    """What the kernel saw since the sample before; NaN: unknown."""
    results: _Results
    tasks: Running

    def possible(self) -> _Process:
        """Return it with the samples that can be, in order; a file may hold anything."""
        order = np.argsort(self.time, kind="stable")
        order = order[_is_size(self.rss[order]) & np.isfinite(self.time[order])]
        peak = np.where(_is_size(self.peak), self.peak, np.nan)
        return replace(self, time=self.time[order], rss=self.rss[order], peak=peak[order])


def _is_size(values: _Floats) -> NDArray[np.bool_]:
    is_size: NDArray[np.bool_] = (values >= 0) & (values < 2**53)
    return is_size


@dataclass(frozen=True, slots=True, eq=False)
class _Results:
    """What was held: steps at times, by prefix; the sums of a worker have no prefix."""

    prefixes: tuple[str | None, ...]
    prefix: NDArray[np.int64]
    time: _Floats
    change: _Floats
    n_unsized: int

    def at(self, times: _Floats) -> _Floats:
        """Return how many bytes were held at each moment."""
        sums = np.concatenate([[0.0], np.cumsum(self.change)])
        found: _Floats = np.maximum(sums[np.searchsorted(self.time, times, side="right")], 0.0)
        return found

    def by_prefix(self, moment: float) -> dict[str | None, float]:
        """Return how many bytes of each prefix were held at a moment, the most first."""
        n = int(np.searchsorted(self.time, moment, side="right"))
        sums = np.bincount(self.prefix[:n], self.change[:n], len(self.prefixes))
        order = np.argsort(-sums, kind="stable").tolist()
        # Less than a byte is what sums of floats leave.
        return {self.prefixes[i]: float(sums[i]) for i in order if sums[i] >= 1}


def memory_peak(recording: RecordedData, worker: str | None = None) -> MemoryPeak:
    """Return what the bytes at the peak were; see `taskscope.Recording.memory_peak`."""
    return replace(_memory_peak(recording, worker), allocated=allocations(recording))


def _memory_peak(recording: RecordedData, worker: str | None) -> MemoryPeak:
    runs = own_runs(recording, None)
    if not runs:
        return _nothing("no Dask computation was recorded")
    if any(run.is_on_cluster for run in runs):
        return _of_workers(recording, runs, worker)
    if worker is not None:
        raise UnknownNameError(f"worker must be None, got {worker!r}: these computes were on no cluster")
    samples, tasks, results = recording.resources, running(recording, runs), _results(recording, runs)
    process = _Process(samples.time, samples.rss_bytes, samples.peak_bytes, results, tasks).possible()
    if not len(process.time):
        return _nothing("no sample of memory was taken")
    return _explained(recording, runs, process)


def _nothing(reason: str) -> MemoryPeak:
    return MemoryPeak(None, math.nan, math.nan, False, (), {}, reason, ())


def _of_workers(recording: RecordedData, runs: Sequence[Run], worker: str | None) -> MemoryPeak:
    samples: dict[str, list[WorkerSample]] = {}
    for sample in recording.workers:
        if sample.rss_bytes is not None and 0 <= sample.rss_bytes < 2**53 and sample.n_threads:
            samples.setdefault(sample.worker, []).append(sample)
    peaks = {name: max(s.rss_bytes or 0.0 for s in of) for name, of in samples.items()}
    peaks = dict(sorted(peaks.items(), key=lambda item: -item[1]))
    if worker is not None and worker not in peaks:
        raise UnknownNameError(unknown_name("worker", worker, list(peaks)))
    if not peaks:
        return _nothing("no worker reported its memory")
    name = next(iter(peaks)) if worker is None else worker
    mine = sorted(samples[name], key=lambda sample: sample.time_s)
    time = np.array([sample.time_s for sample in mine])
    managed = np.array([sample.managed_bytes or 0.0 for sample in mine])
    results = _Results((None,), np.zeros(len(time), np.int64), time, np.diff(managed, prepend=0.0), 0)
    rss = np.array([sample.rss_bytes for sample in mine], np.float64)
    tasks = running(recording, runs, name.__eq__)
    process = _Process(time, rss, np.full(len(time), np.nan), results, tasks).possible()
    return replace(_explained(recording, runs, process), worker=name, workers=peaks)


def _results(recording: RecordedData, runs: Sequence[Run]) -> _Results:
    """Return what Dask's own schedulers held."""
    prefixes, place_of = number_prefixes(recording.groups)
    times, changes, places = [np.empty(0)], [np.empty(0)], [np.empty(0, np.int64)]
    n_unsized = 0
    for run in runs:
        graph = recording.graphs.get(run.run)
        if graph is None:
            continue
        stop = recording.now_s if run.stop_s is None else run.stop_s
        enter, leave = graph.enter_times(), graph.exit_times(stop)
        # What a graph carries had been there before it was handed over.
        enter[graph.data] = run.start_s
        sizes = key_sizes(recording, run.run, graph)
        is_held = ~np.isnan(enter) & ~np.isnan(sizes)
        n_unsized += int((~np.isnan(enter) & np.isnan(sizes)).sum())
        times += [enter[is_held], leave[is_held]]
        changes += [sizes[is_held], -sizes[is_held]]
        places += [place_of[graph.group[is_held]]] * 2
    time = np.concatenate(times)
    order = np.argsort(time, kind="stable")
    change, place = np.concatenate(changes)[order], np.concatenate(places)[order]
    return _Results(prefixes, place, time[order], change, n_unsized)


@dataclass(frozen=True, slots=True, eq=False)
class _Bases:
    """What a process had before the first task of the computes of each sample, and whether it is known."""

    nbytes: _Floats
    is_known: NDArray[np.bool_]
    has_begun: NDArray[np.bool_]
    """Whether a task had begun."""
    held_time: _Floats
    """When to look what is held: results of a compute that is over are still in the caller's hands."""


def _bases_of(runs: Sequence[Run], process: _Process, now_s: float) -> _Bases:
    time, n = process.time, len(process.time)
    found = _Bases(np.zeros(n), np.zeros(n, bool), np.zeros(n, bool), time.copy())
    starts = np.sort(process.tasks.start)
    for start_s, stop_s, until_s in _stretches(runs, now_s):
        mine = np.flatnonzero((time >= start_s) & (time < until_s))
        found.held_time[mine] = np.minimum(time[mine], np.nextafter(stop_s, -np.inf))
        first = min(starts[starts >= start_s].tolist(), default=stop_s)
        found.has_begun[mine] = time[mine] > first
        level = process.rss[mine] - process.results.at(found.held_time[mine])
        is_before = time[mine] <= first
        if len(mine):
            found.is_known[mine] = is_before.any()
            found.nbytes[mine] = max(level[is_before][-1] if is_before.any() else level.min(), 0.0)
    return found


def _stretches(runs: Sequence[Run], now_s: float) -> list[tuple[float, float, float]]:
    """Return when computes that overlap began and ended, and when the next ones began."""
    found: list[list[float]] = []
    for run in sorted(runs, key=lambda run: run.start_s):
        stop_s = now_s if run.stop_s is None else run.stop_s
        if found and run.start_s < found[-1][1]:
            found[-1][1] = max(found[-1][1], stop_s)
        else:
            found.append([run.start_s, stop_s])
    nexts = [start_s for start_s, _ in found[1:]] + [math.inf]
    return [(start_s, stop_s, until) for (start_s, stop_s), until in zip(found, nexts, strict=True)]


def _moments(process: _Process, bases: _Bases, place: int) -> _Floats:
    """Return moments between a sample and the one before at which most may have been in memory."""
    stop_s = float(bases.held_time[place])
    if np.isnan(process.peak[place]) or not place:
        return np.array([stop_s])
    start_s = float(process.time[place - 1])
    begun = process.tasks.start[(process.tasks.start > start_s) & (process.tasks.start <= stop_s)]
    some = np.sort(begun)[:: max(len(begun) // _MAX_MOMENTS, 1)]
    return np.concatenate([[start_s], some, [stop_s]])


def _explained(recording: RecordedData, runs: Sequence[Run], process: _Process) -> MemoryPeak:
    most = np.fmax(process.rss, process.peak)
    place = int(np.argmax(most))
    bases = _bases_of(runs, process, recording.now_s)
    weights, left_over, moment = _weights(process, bases, place)
    peak = float(most[place])
    held = process.results.by_prefix(moment)
    held_bytes = sum(held.values())
    n_running = process.tasks.at(np.array([moment]))[0]
    base = float(bases.nbytes[place]) if bases.is_known[place] else 0.0
    # Whatever is measured too large, the parts are of what there was.
    of_results = min(held_bytes, peak)
    of_base = min(base, peak - of_results)
    left = peak - of_results - of_base
    in_flight = _varied(n_running * weights, left_over)
    in_flight *= np.minimum(left / np.maximum(in_flight.sum(axis=1), 1e-9), 1.0)[:, None]
    parts = [
        *(_measured("results", name, n * of_results / held_bytes) for name, n in held.items()),
        *_estimated(process.tasks.prefixes, in_flight),
        *([_measured("base", None, of_base)] if bases.is_known[place] else []),
        _estimate("unknown", None, np.maximum(left - in_flight.sum(axis=1), 0.0)),
    ]
    notes = tuple(_notes(process, bases, place, parts, is_too_large=held_bytes > peak - base))
    is_exact = not np.isnan(process.peak[place])
    time_s = float(process.time[place]) - recording.zero_s
    return MemoryPeak(None, peak, time_s, is_exact, tuple(parts), {}, None, notes)


def _weights(process: _Process, bases: _Bases, place: int) -> tuple[_Floats, _Floats, float]:
    """Return what a task of each prefix has, a row for each fit, what is left over, and when the peak was.

    The first row is of all samples, the others of a bootstrap. A sample tells of its moment; a mark of the
    kernel's of the moment before it at which, by what is known so far, most was in memory. Samples meet tasks
    anywhere, marks when they have most: which prefix it is both say, how much the marks.
    """
    n_prefixes = len(process.tasks.prefixes)
    step = max(len(process.time) // _MAX_SAMPLES, 1)
    places = np.union1d(np.arange(0, len(process.time), step), [place])
    moments = [_moments(process, bases, i) for i in places.tolist()]
    sizes = np.array([len(of) for of in moments])
    flat = np.concatenate(moments)
    ends = np.cumsum(sizes)
    n_running, held = process.tasks.at(flat), process.results.at(flat)
    now = (process.tasks.at(process.time[places]), process.results.at(bases.held_time[places]))
    begun = bases.has_begun[places].astype(np.float64)
    is_marked = ~np.isnan(process.peak[places])
    counts = fit_counts(len(places), _N_FITS)
    target = process.rss[places] - bases.nbytes[places] - now[1]
    # What stays once tasks had begun, whatever runs: memory that was let go of and not given back.
    stays = fitted(np.column_stack([now[0], begun]), np.maximum(target, 0.0), counts)[:, -1:]
    found, at_most = np.ones((1, n_prefixes)), ends - 1
    at_marks, marked = n_running[:0], stays[:, :0]
    for _ in range(_N_ROUNDS):
        likely = held + n_running @ (found[0] + 1.0)
        at_most = np.array(
            [e - n + int(np.argmax(likely[e - n : e])) for e, n in zip(ends, sizes, strict=True)]
        )
        at_marks = n_running[at_most][is_marked]
        marked = (process.peak[places] - bases.nbytes[places] - held[at_most])[is_marked] - stays
        both = np.concatenate([target - stays * begun, marked], axis=1)
        found = fitted(
            np.concatenate([now[0], at_marks]),
            np.maximum(both, 0.0),
            np.concatenate([counts, counts[:, is_marked]], axis=1),
        )
    found *= _times(found @ at_marks.T, marked, counts[:, is_marked])
    seen, of = (marked, at_marks) if is_marked.any() else (target - stays * begun, now[0])
    left_over = (seen[0] - of @ found[0])[of.any(axis=1)]
    if len(places) < MIN_SAMPLES:
        found = np.zeros_like(found)
    return found, left_over, float(flat[at_most[int(np.searchsorted(places, place))]])


def _times(likely: _Floats, marked: _Floats, counts: _Floats) -> _Floats:
    """Return how many times what they have anywhere tasks have at the kernel's marks, at least once."""
    known = (counts * likely**2).sum(axis=1)
    times = (counts * likely * marked).sum(axis=1) / np.where(known > 0, known, 1.0)
    at_least_once: _Floats = np.maximum(times, 1.0)[:, None]
    return at_least_once


def _varied(in_flight: _Floats, left_over: _Floats) -> _Floats:
    """Return the fits with what the first one leaves over at other times added to the others.

    A fit says what tasks have in the mean; at the peak it may well be more.
    """
    drawn = np.random.default_rng(_SEED).choice(left_over if len(left_over) else [0.0], len(in_flight))
    drawn[0] = 0.0
    sums = in_flight.sum(axis=1)
    varied: _Floats = in_flight * np.maximum(1.0 + drawn / np.maximum(sums, 1.0), 0.0)[:, None]
    return varied


def _measured(kind: PeakKind, prefix: str | None, nbytes: float) -> PeakPart:
    return PeakPart(kind, prefix, nbytes, nbytes, nbytes)


def _estimate(kind: PeakKind, prefix: str | None, fits: _Floats) -> PeakPart:
    low, high = np.percentile(fits, [5, 95]).tolist()
    nbytes = float(fits[0])
    return PeakPart(kind, prefix, nbytes, min(low, nbytes), max(high, nbytes))


def _estimated(prefixes: Sequence[str], in_flight: _Floats) -> list[PeakPart]:
    ran = [place for place in range(len(prefixes)) if in_flight[:, place].any()]
    parts = [_estimate("tasks", prefixes[place], in_flight[:, place]) for place in ran]
    return sorted(parts, key=lambda part: -part.nbytes)


def _notes(
    process: _Process, bases: _Bases, place: int, parts: Sequence[PeakPart], *, is_too_large: bool
) -> list[str]:
    few = too_few(len(process.time), "what tasks in flight had")
    notes = [few] if few else []
    if not bases.is_known[place]:
        notes.append(
            "cannot say what the process had before, because no sample is from before the first task: it is "
            "among the unknown"
        )
    if is_too_large:
        notes.append("results are measured larger than the process: some share memory, or are not in it")
    if process.results.n_unsized:
        n_unsized = process.results.n_unsized
        notes.append(
            f"{format_count(n_unsized)} {plural('result', n_unsized)} of unknown size "
            f"{'is' if n_unsized == 1 else 'are'} among the unknown"
        )
    unknown = sum(part.nbytes for part in parts if part.kind == "unknown")
    if bases.is_known[place] and unknown > _LARGE * sum(part.nbytes for part in parts):
        notes.append(
            "much is unknown: other work of this process, memory that was let go of and not given back, or "
            "tasks whose memory varies"
        )
    return notes
