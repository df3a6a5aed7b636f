"""Computes as they ran: their tasks in the order of their starts, and what each of them waited for.

Computes that overlap in time are one graph: tasks of the same key are one task, and a task may need the
result of another compute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from taskscope.errors import UnknownNameError, unknown_name
from taskscope.model.recording import RecordedData, count_tasks, key_sizes
from taskscope.model.tables.columns import GraphColumns
from taskscope.model.tables.records import Run

NONE = -1
"""Stands where there is no task."""

BY_NOTHING, BY_DEPENDENCY, BY_LANE = 0, 1, 2
"""What a task waited for last: nothing that is recorded, a task that it needs, the one before in its lane."""

_MAX_S = 4e9
_MOST_CACHED = 100_000
_T = TypeVar("_T")


class Cached:
    """Results of one function for the recording that it was last called for, unless that is large."""

    def __init__(self) -> None:
        self._last: tuple[RecordedData, dict[int | None, object]] | None = None

    def get(self, recording: RecordedData, run: int | None, make: Callable[[], _T]) -> _T:
        """Return the cached result, or make it."""
        if count_tasks(recording) > _MOST_CACHED:
            return make()
        # Results refer to their recording, so a dictionary with weak keys would keep all of them.
        last = self._last
        if last is None or last[0] is not recording:
            last = self._last = (recording, {})
        if run not in last[1]:
            last[1][run] = make()
        return last[1][run]  # type: ignore[return-value]  # it is what `make` returned for the same arguments


def to_ns(seconds: NDArray[np.float64] | float) -> NDArray[np.int64]:
    """Return seconds as whole nanoseconds, in which sums are exact; those of a century at most."""
    known = np.nan_to_num(np.asarray(seconds, np.float64), nan=0.0)
    return np.rint(np.clip(known, -_MAX_S, _MAX_S) * 1e9).astype(np.int64)


def own_runs(recording: RecordedData, run: int | None) -> list[Run]:
    """Return the compute of this number, or all.

    Raises
    ------
    UnknownNameError
        If there is no such compute.
    """
    runs = list(recording.runs)
    if run is None:
        return runs
    if run not in [one.run for one in runs]:
        raise UnknownNameError(unknown_name("run", run, [str(one.run) for one in runs]))
    return [one for one in runs if one.run == run]


def stop_of(recording: RecordedData, run: Run) -> float:
    """Return when a compute ended, or when the recording was taken."""
    return recording.now_s if run.stop_s is None else run.stop_s


def key_texts(recording: RecordedData, run: int, tasks: NDArray[np.integer] | None = None) -> list[str]:
    """Return the keys of a compute's graph as text, of these tasks or of all."""
    graph = recording.graphs[run]
    numbers = np.arange(len(graph.group)) if tasks is None else tasks
    names = [recording.groups[group].name for group in graph.group[numbers].tolist()]
    return list(graph.keys.take(numbers).iter_text(names))


@dataclass(frozen=True, slots=True, eq=False)
class Schedule:
    """The tasks of computes that overlap as equally long columns, the earliest first; times in nanoseconds.

    Times are after the zero of the recording, and within those of the computes. A task that ran several times
    has as many rows, and needs of its dependencies the rows that had begun before it.
    """

    runs: tuple[Run, ...]
    begin: int
    end: int
    row: NDArray[np.int64]
    """The row in the table of tasks."""
    run: NDArray[np.int64]
    number: NDArray[np.int32]
    """The number in the graph of its compute."""
    task: NDArray[np.int64]
    """The number among the keys of all these computes."""
    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    lane: NDArray[np.int64]
    group: NDArray[np.int64]
    cpu_s: NDArray[np.float64]
    nbytes: NDArray[np.float64]
    input_bytes: NDArray[np.float64]
    """The size of all results that each task needs; NaN where one is unknown."""
    n_needed: NDArray[np.int64]
    needed: NDArray[np.int64]
    """The places of what each task needs, `n_needed` for each in turn; all of them are before it."""
    is_partial: NDArray[np.bool_]
    """Whether of something that it needs nothing is recorded."""
    before: NDArray[np.int64]
    """The place of the task before in the lane, or `NONE`."""
    bound_to: NDArray[np.int64]
    """The place of the task that it waited for last, or `NONE`."""
    bound_by: NDArray[np.uint8]
    n_missing: int
    """Tasks of the computes that have no row."""
    is_graph_known: bool

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.row)

    @property
    def is_on_cluster(self) -> bool:
        """Whether workers of a cluster ran the tasks."""
        return any(run.is_on_cluster for run in self.runs)

    @property
    def scheduler(self) -> str | None:
        """What computed them."""
        return self.runs[0].scheduler

    @property
    def n_workers(self) -> int:
        """How many tasks could run at a time, as far as is known."""
        return max(max((run.n_workers or 0 for run in self.runs), default=0), len(np.unique(self.lane)), 1)

    @property
    def is_finished(self) -> bool:
        """Whether all of the computes finished."""
        return all(run.status == "finished" for run in self.runs)

    def by(self) -> NDArray[np.int64]:
        """Return the place of the task that has each element of `needed`."""
        return np.repeat(np.arange(len(self)), self.n_needed)

    def lags(self) -> NDArray[np.int64]:
        """Return how long after what it waited for each task began; of the others after the first one did."""
        first = self.start[0] if len(self) else self.begin
        since = np.where(self.bound_to == NONE, first, self.stop[self.bound_to])
        return np.maximum(self.start - since, 0)


_SCHEDULES = Cached()


def schedules_of(recording: RecordedData, run: int | None) -> tuple[Schedule, ...]:
    """Return a compute as it ran, or all of them: those that overlap together, the earliest first."""
    runs = own_runs(recording, run)
    return _SCHEDULES.get(
        recording, run, lambda: tuple(_scheduled(recording, part) for part in _overlapping(recording, runs))
    )


def _overlapping(recording: RecordedData, runs: Sequence[Run]) -> list[list[Run]]:
    """Return computes that are not inside of a task of another, those that overlap in time together."""
    parts: list[list[Run]] = []
    until_s = 0.0
    for one in sorted(runs, key=lambda one: (one.asked_s, -stop_of(recording, one))):
        if _is_nested(recording, one, runs):
            continue
        if parts and one.asked_s < until_s:
            parts[-1].append(one)
        else:
            parts.append([one])
            until_s = one.asked_s
        until_s = max(until_s, stop_of(recording, one))
    return parts


def _is_nested(recording: RecordedData, run: Run, runs: Sequence[Run]) -> bool:
    """Return whether a local compute ran within one task of another compute."""
    start_s, stop_s = run.start_s, stop_of(recording, run)
    around = {one.run for one in runs if one is not run and one.start_s <= start_s}
    return not run.is_on_cluster and any(
        bool(((block.start <= start_s) & (block.start + block.duration >= stop_s)).any())
        for block in recording.blocks
        if block.run in around and (block.run < run.run or stop_s > start_s)
    )


def _scheduled(recording: RecordedData, runs: Sequence[Run]) -> Schedule:
    zero_s = recording.zero_s
    begin = int(to_ns(min(run.asked_s for run in runs) - zero_s))
    end = max(int(to_ns(max(stop_of(recording, run) for run in runs) - zero_s)), begin)
    graphs = {run.run: recording.graphs[run.run] for run in runs if run.run in recording.graphs}
    keys = _Keys.of(recording, graphs)
    firsts = np.cumsum([0, *(len(block) for block in recording.blocks)]).tolist()
    blocks = [(b, first) for b, first in zip(recording.blocks, firsts, strict=False) if b.run in graphs]
    began = _joined([b.start for b, _ in blocks], np.float64) - zero_s
    took = _joined([b.duration for b, _ in blocks], np.float64)
    start = np.clip(to_ns(began), begin, end)
    stop = np.clip(to_ns(began + took), start, end)
    place = _joined([keys.first[b.run] + b.task for b, _ in blocks], np.int64)
    lane = _joined([b.lane for b, _ in blocks], np.int64)
    order = np.lexsort((stop, start))
    if len(runs) > 1:
        # What two clients' computes have in common is in the rows of both.
        order = order[_is_first(keys.task[place][order], start[order], lane[order])]
    place, start, stop, lane = place[order], start[order], stop[order], lane[order]
    task = keys.task[place]
    n_needed, needed, is_partial = keys.needs(place, task)
    before = _before(lane)
    bound_to, bound_by = _bound(start, stop, n_needed, needed, before)
    return Schedule(
        runs=tuple(runs),
        begin=begin,
        end=end,
        row=_joined([first + np.arange(len(b)) for b, first in blocks], np.int64)[order],
        run=_joined([np.full(len(b), b.run) for b, _ in blocks], np.int64)[order],
        number=_joined([b.task for b, _ in blocks], np.int32)[order],
        task=task,
        start=start,
        stop=stop,
        lane=lane,
        group=keys.group[place],
        cpu_s=_joined([b.cpu_s for b, _ in blocks], np.float64)[order],
        nbytes=_joined([b.sizes() for b, _ in blocks], np.float64)[order],
        input_bytes=keys.input_bytes(place),
        n_needed=n_needed,
        needed=needed,
        is_partial=is_partial,
        before=before,
        bound_to=bound_to,
        bound_by=bound_by,
        n_missing=sum(keys.n_missing(run, task) for run in runs),
        is_graph_known=all(run.run in graphs and graphs[run.run].known for run in runs),
    )


def _joined(parts: Iterable[NDArray[Any]], dtype: type[np.generic]) -> NDArray[Any]:
    return np.concatenate([np.empty(0, dtype), *(part.astype(dtype) for part in parts)])


def _is_first(*columns: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which rows differ from the row before."""
    is_first = np.zeros(len(columns[0]), bool)
    is_first[:1] = True
    for column in columns:
        is_first[1:] |= column[1:] != column[:-1]
    return is_first


@dataclass(frozen=True, slots=True, eq=False)
class _Keys:
    """The keys of several graphs, one graph after the other; keys of the same text are one task."""

    graphs: Mapping[int, GraphColumns]
    first: Mapping[int, int]
    """The place of the first key of each compute's graph."""
    task: NDArray[np.int64]
    group: NDArray[np.int64]
    n_dependencies: NDArray[np.int64]
    edges: NDArray[np.int64]
    """The tasks that each key depends on, in the order of the keys."""
    sizes: NDArray[np.float64]
    """The size of each task's result; NaN where it is unknown."""

    @classmethod
    def of(cls, recording: RecordedData, graphs: Mapping[int, GraphColumns]) -> _Keys:
        lengths = [len(graph.group) for graph in graphs.values()]
        firsts = np.cumsum([0, *lengths]).tolist()
        task = np.arange(firsts[-1])
        if len(graphs) > 1:
            numbers: dict[str, int] = {}
            texts = chain.from_iterable(key_texts(recording, run) for run in graphs)
            task = np.array([numbers.setdefault(text, len(numbers)) for text in texts], np.int64)
        shifted = [first + graph.edges for first, graph in zip(firsts, graphs.values(), strict=False)]
        sizes = np.full(len(task), np.nan)
        own = _joined([key_sizes(recording, run, graph) for run, graph in graphs.items()], np.float64)
        sizes[task[~np.isnan(own)]] = own[~np.isnan(own)]
        return cls(
            graphs,
            dict(zip(graphs, firsts, strict=False)),
            task,
            _joined([graph.group for graph in graphs.values()], np.int64),
            _joined([graph.n_dependencies for graph in graphs.values()], np.int64),
            task[_joined(shifted, np.int64)],
            sizes,
        )

    def _needed(self, place: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the tasks that the keys at these places need, and which of the places needs each."""
        counts = self.n_dependencies
        first = np.cumsum(counts) - counts
        mine = counts[place]
        by = np.repeat(np.arange(len(place)), mine)
        at = np.arange(len(by)) + np.repeat(first[place] - np.cumsum(mine) + mine, mine)
        return self.edges[at], by

    def needs(
        self, place: NDArray[np.int64], task: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
        """Return how many rows each row needs, these rows, and whether there is none of something."""
        n = len(place)
        if not n or not len(self.edges):
            return np.zeros(n, np.int64), np.empty(0, np.int64), np.zeros(n, bool)
        key, by = self._needed(place)
        found = _rows_before(task, key, by, len(self.task))
        is_here = np.zeros(len(self.task), bool)
        is_here[task] = True
        for run, graph in self.graphs.items():
            is_here[self.task[self.first[run] + np.concatenate((graph.data, graph.skipped))]] = True
        is_partial = np.zeros(n, bool)
        is_partial[by[~is_here[key]]] = True
        # What began after it, by the clocks of a cluster or in a crafted file, cannot be what it waited for.
        kept = (found != NONE) & (found < by)
        return np.bincount(by[kept], minlength=n), found[kept], is_partial

    def input_bytes(self, place: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the size of all results that each key needs."""
        key, by = self._needed(place)
        sums: NDArray[np.float64] = np.bincount(by, self.sizes[key], len(place)).astype(np.float64)
        return sums

    def n_missing(self, run: Run, task: NDArray[np.int64]) -> int:
        """Return how many tasks of a compute have no row."""
        if run.run not in self.graphs:
            return run.n_tasks
        graph, first = self.graphs[run.run], self.first[run.run]
        has_row = np.zeros(len(self.task), bool)
        has_row[task] = True
        own = has_row[self.task[first : first + len(graph.group)]]
        own[np.concatenate((graph.data, graph.skipped))] = False
        return max(run.n_tasks - int(own.sum()), 0)


def _rows_before(
    task: NDArray[np.int64], key: NDArray[np.int64], by: NDArray[np.int64], n_keys: int
) -> NDArray[np.int64]:
    """Return for each pair of a task and a place the last place before it that is of the task, or `NONE`."""
    place = np.full(n_keys, NONE)
    n = len(task)
    if np.bincount(task, minlength=1).max() <= 1:
        place[task] = np.arange(n)
        return place[key]
    pairs = np.sort(task * n + np.arange(n))
    at = np.searchsorted(pairs, key * n + by) - 1
    found = pairs[np.maximum(at, 0)]
    return np.where((at >= 0) & (found // n == key), found % n, NONE)


def _before(lane: NDArray[np.int64]) -> NDArray[np.int64]:
    order = np.argsort(lane, kind="stable")
    before = np.full(len(lane), NONE)
    is_same = lane[order][1:] == lane[order][:-1]
    before[order[1:][is_same]] = order[:-1][is_same]
    return before


def _bound(
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    n_needed: NDArray[np.int64],
    needed: NDArray[np.int64],
    before: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    by_stop = np.argsort(stop, kind="stable")
    rank = np.empty(len(stop), np.int64)
    rank[by_stop] = np.arange(len(stop))
    last = np.full(len(stop), NONE)
    has = np.flatnonzero(n_needed)
    if len(has):
        firsts = (np.cumsum(n_needed) - n_needed)[has]
        last[has] = by_stop[np.maximum.reduceat(rank[needed], firsts)]
    never = np.iinfo(np.int64).min
    needed_until = np.where(last == NONE, never, np.minimum(stop[last], start))
    lane_until = np.where(before == NONE, never, np.minimum(stop[before], start))
    by = np.where(needed_until >= lane_until, BY_DEPENDENCY, BY_LANE)
    to = np.where(by == BY_DEPENDENCY, last, before)
    return to, np.where(to == NONE, BY_NOTHING, by).astype(np.uint8)


def busy_ns(
    schedule: Schedule,
    since: NDArray[np.int64],
    until: NDArray[np.int64],
    *,
    least: int = 1,
    most: int | None = None,
) -> NDArray[np.int64]:
    """Return for how much of each time at least and at most so many tasks ran at once."""
    if not len(schedule):
        return np.zeros(len(since), np.int64)
    times = np.concatenate((schedule.start, schedule.stop))
    order = np.argsort(times, kind="stable")
    times = times[order]
    n_busy = np.cumsum(np.repeat((1, -1), len(schedule))[order])[:-1]
    is_so = (n_busy >= least) & (n_busy <= (len(schedule) if most is None else most))
    sums = np.concatenate(([0], np.cumsum(np.where(is_so, np.diff(times), 0))))
    return (np.interp(until, times, sums) - np.interp(since, times, sums)).astype(np.int64)
