"""Computes as they ran, prepared once: tasks by start, the predecessor of each, and the load of workers.

Computes that overlap in time are one graph: tasks of the same key are one task, and a task may need the
result of another compute.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from itertools import chain
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.cluster import lives_of
from taskscope.analysis.explain.waits import Stacks
from taskscope.analysis.totals import (
    PlacedBlock,
    blocks_by_run,
    makespan_s,
    n_workers_of,
    overlapping,
    stop_of,
    union_s,
)
from taskscope.errors import UnknownNameError, unknown_name
from taskscope.model.recording import RecordedData, count_tasks, key_sizes
from taskscope.model.tables.columns import GraphColumns, distinct
from taskscope.model.tables.records import Run, number_prefixes
from taskscope.model.tables.stacks import Wait

NONE = -1
"""The place of no task."""

BY_NOTHING, BY_DEPENDENCY, BY_LANE = 0, 1, 2
"""The last wait of a task: for nothing recorded, for a task that it needs, for the one before in its lane."""

_OF_TASKS = (
    *("row", "run", "number", "task", "start", "stop", "lane", "group"),
    *("cpu_s", "nbytes", "input_bytes", "is_partial"),
)
"""The columns of a schedule with a value for each task."""
_MAX_S = 4e9
_MOST_CACHED = 100_000
_T_co = TypeVar("_T_co", covariant=True)


class OfComputes(Protocol[_T_co]):
    """A function of all computes of a recording, or of one."""

    def __call__(self, recording: RecordedData, run: int | None = None) -> _T_co: ...


def cached(function: OfComputes[_T_co]) -> OfComputes[_T_co]:
    """Make a function keep its results in their recording; in a large one while they are `kept`."""

    @wraps(function)
    def known(recording: RecordedData, run: int | None = None) -> _T_co:
        place = function, run
        results = recording.results
        if place in results:
            found: _T_co = results[place]
            return found
        found = function(recording, run)
        # Of two threads that compute it at a time both return what is there first.
        is_kept = kept in results or not is_large(recording)
        return results.setdefault(place, found) if is_kept else found

    return known


@contextmanager
def kept(recording: RecordedData) -> Iterator[None]:
    """Keep the results of all functions that are `cached` until this ends, of a large recording too."""
    if not is_large(recording):
        yield
        return
    recording.results[kept] = True
    try:
        yield
    finally:
        recording.results.clear()


def is_large(recording: RecordedData) -> bool:
    """Return whether results about all tasks of a recording take too much memory to be kept."""
    return count_tasks(recording) > _MOST_CACHED


@cached
def prefixes_of(recording: RecordedData, run: int | None = None) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return the prefixes of all computes, and the number that each group's has among them."""
    del run
    return number_prefixes(recording.groups)


def to_ns(seconds: NDArray[np.float64] | float) -> NDArray[np.int64]:
    """Return seconds, up to a century, as whole nanoseconds, in which sums are exact."""
    known = np.nan_to_num(np.asarray(seconds, np.float64), nan=0.0)
    return np.rint(np.clip(known, -_MAX_S, _MAX_S) * 1e9).astype(np.int64)


def own_runs(recording: RecordedData, run: int | None) -> list[Run]:
    """Return the compute of this number, or all but added up ones; raise for a number that none has."""
    runs = [one for one in recording.runs if one.n_runs == 1]
    if run is None:
        return runs
    if run not in [one.run for one in runs]:
        raise UnknownNameError(unknown_name("run", run, [str(one.run) for one in runs]))
    return [one for one in runs if one.run == run]


def place_of(recording: RecordedData) -> str:
    """Return where something is missing, as the end of a sentence: in a file that was cut, else nothing."""
    return " in this file, which is not complete" if recording.metadata.get("truncated") else ""


def makespan_of(recording: RecordedData, run: int | None) -> float:
    """Return how long computes took from the start of the first to the end of the last, in seconds."""
    return makespan_s(recording, own_runs(recording, run))


def key_texts(recording: RecordedData, run: int, tasks: NDArray[np.integer] | None = None) -> list[str]:
    """Return the keys of these tasks, or of all, of a compute's graph as text."""
    graph = recording.graphs[run]
    numbers = np.arange(len(graph.group)) if tasks is None else tasks
    names = [recording.groups[group].name for group in graph.group[numbers].tolist()]
    texts: list[str] = graph.keys.take(numbers).to_text(names).tolist()
    return texts


@dataclass(frozen=True, eq=False)
class Schedule:
    """The tasks of computes that overlap as equally long columns, the earliest first.

    `start` and `stop` are nanoseconds after the zero of the recording, within the times of the computes. A
    task that ran several times has as many rows, and needs of its dependencies the rows that had begun
    before it.
    """

    recording: RecordedData
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
    """NaN where it is unknown."""
    nbytes: NDArray[np.float64]
    input_bytes: NDArray[np.float64]
    """The size of all results that each task needs; NaN where one is unknown."""
    n_needed: NDArray[np.int64]
    needed: NDArray[np.int64]
    """The places of the tasks that each task needs, `n_needed` for each in turn; all are before it."""
    is_partial: NDArray[np.bool_]
    """Whether a task that it needs has no row."""
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
        """The name of Dask's scheduler."""
        return self.runs[0].scheduler

    @property
    def is_finished(self) -> bool:
        """Whether all of the computes finished."""
        return all(run.status == "finished" for run in self.runs)

    @cached_property
    def n_workers(self) -> int:
        """How many tasks could run at a time; where that is not known, as many as had a lane."""
        known = n_workers_of(self.recording, self.runs) or 0
        n_lanes = 0 if known and not self.is_on_cluster else len(distinct(self.lane))
        return max(known, n_lanes, 1)

    @property
    def recorded_s(self) -> float:
        """How long the computes took."""
        return (self.end - self.begin) / 1e9

    def window(self, first: int, last: int) -> Schedule:
        """Return the tasks from one place to another, as if they needed none of the others."""
        own = slice(first, last)
        edges = slice(*(int(self.n_needed[:at].sum()) for at in (first, last)))
        is_here = self.needed[edges] >= first
        by = self.by[edges][is_here] - first
        columns = {name: getattr(self, name)[own] for name in _OF_TASKS}
        return replace(
            self,
            **columns,
            begin=int(columns["start"][0]),
            end=int(columns["stop"].max()),
            n_needed=np.bincount(by, minlength=last - first),
            needed=self.needed[edges][is_here] - first,
        )

    @property
    def outside_s(self) -> float:
        """The time before the first task and after the last one."""
        return self.recorded_s - (int(self.stop.max() - self.start[0]) / 1e9 if len(self) else 0)

    @cached_property
    def seconds(self) -> NDArray[np.float64]:
        """How long each task took."""
        return (self.stop - self.start) / 1e9

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All prefixes of the recording."""
        return prefixes_of(self.recording)[0]

    @cached_property
    def prefix(self) -> NDArray[np.int64]:
        """The place of each task's prefix in `names`."""
        numbers: NDArray[np.int64] = prefixes_of(self.recording)[1][self.group]
        return numbers

    @cached_property
    def by(self) -> NDArray[np.int64]:
        """The place of the task that has each element of `needed`."""
        return np.repeat(np.arange(len(self)), self.n_needed)

    @cached_property
    def dependents(self) -> list[list[int]]:
        """The places of the tasks that need each task."""
        found: list[list[int]] = [[] for _ in range(len(self))]
        for other, task in zip(self.needed.tolist(), self.by.tolist(), strict=True):
            found[other].append(task)
        return found

    @cached_property
    def before(self) -> NDArray[np.int64]:
        """The place of the task before in the lane, or `NONE`."""
        order = np.argsort(self.lane, kind="stable")
        before = np.full(len(self), NONE)
        is_same = self.lane[order][1:] == self.lane[order][:-1]
        before[order[1:][is_same]] = order[:-1][is_same]
        return before

    @cached_property
    def at_once(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """When tasks began and ended, ascending, and how many ran from each of these times to the next."""
        times = np.concatenate((self.start, self.stop))
        order = np.argsort(times, kind="stable")
        return times[order], np.cumsum(np.where(order < len(self), 1, -1), dtype=np.int32)[:-1]

    @cached_property
    def _bound(self) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        start, stop = self.start, self.stop
        by_stop = np.argsort(stop, kind="stable")
        rank = np.empty(len(stop), np.int64)
        rank[by_stop] = np.arange(len(stop))
        last = np.full(len(stop), NONE)
        has = np.flatnonzero(self.n_needed)
        if len(has):
            firsts = (np.cumsum(self.n_needed) - self.n_needed)[has]
            last[has] = by_stop[np.maximum.reduceat(rank[self.needed], firsts)]
        never = np.iinfo(np.int64).min
        needed_until = np.where(last == NONE, never, np.minimum(stop[last], start))
        lane_until = np.where(self.before == NONE, never, np.minimum(stop[self.before], start))
        by = np.where(needed_until >= lane_until, BY_DEPENDENCY, BY_LANE)
        to = np.where(by == BY_DEPENDENCY, last, self.before)
        return to, np.where(to == NONE, BY_NOTHING, by).astype(np.uint8)

    @property
    def bound_to(self) -> NDArray[np.int64]:
        """The place of the task that each task waited for last, or `NONE`."""
        return self._bound[0]

    @property
    def bound_by(self) -> NDArray[np.uint8]:
        """Why each task waited for it: `BY_NOTHING`, `BY_DEPENDENCY` or `BY_LANE`."""
        return self._bound[1]

    @cached_property
    def _lags(self) -> tuple[NDArray[np.float64], list[tuple[float, list[int]]]]:
        bound_to, start = self.bound_to, self.start
        first = int(start[0]) if len(self) else self.begin
        lag = np.maximum(start - np.where(bound_to == NONE, first, self.stop[bound_to]), 0)
        # A replay makes waits for a worker anew.
        lag[2 * busy_ns(self, start - lag, start, least=self.n_workers) >= lag] = 0
        arrivals = []
        for run in self.runs:
            late = int(to_ns(run.asked_s - self.recording.zero_s)) - (first if len(self) else 0)
            if late > 0 and len(self.runs) > 1:
                mine = np.flatnonzero(self.run == run.run)
                # Its tasks did not wait before it was started.
                lag[mine] = np.minimum(lag[mine], np.maximum(start[mine] - first - late, 0))
                arrivals.append((late / 1e9, mine.tolist()))
        return lag / 1e9, arrivals

    @property
    def lag_s(self) -> NDArray[np.float64]:
        """How long after it could have begun each task began, without waits for a worker."""
        return self._lags[0]

    @property
    def arrivals(self) -> list[tuple[float, list[int]]]:
        """When later computes were started, in seconds after the first task, and their tasks."""
        return self._lags[1]

    @cached_property
    def _placement(self) -> tuple[NDArray[np.int64], tuple[int, ...], tuple[str, ...]]:
        lanes, place = np.unique(self.lane, return_inverse=True)
        of_lane = [self.recording.lanes[lane].worker for lane in lanes.tolist()]
        names = tuple(dict.fromkeys(of_lane))
        if not self.is_on_cluster or len(names) < 2:
            return np.zeros(len(self), np.int64), (self.n_workers,), ()
        pools = np.array([names.index(worker) for worker in of_lane], np.int64)
        return pools[place], tuple(of_lane.count(name) for name in names), names

    @property
    def pool(self) -> NDArray[np.int64]:
        """The place in `workers` of the worker that ran each task; 0 where any worker can run any task."""
        return self._placement[0]

    @property
    def threads(self) -> tuple[int, ...]:
        """How many tasks each worker runs at a time."""
        return self._placement[1]

    @property
    def workers(self) -> tuple[str, ...]:
        """The addresses of the workers, where tasks keep theirs."""
        return self._placement[2]

    @cached_property
    def n_threads(self) -> int:
        """How many tasks can run at a time when they run again; lanes of a lost worker had successors."""
        _, place = np.unique(self.lane, return_inverse=True)
        first, last = (
            np.full(place.max(initial=0) + 1, self.end),
            np.zeros(place.max(initial=0) + 1, np.int64),
        )
        np.minimum.at(first, place, self.start)
        np.maximum.at(last, place, self.stop)
        first.sort()
        at_once = np.arange(1, len(first) + 1) - np.searchsorted(np.sort(last), first, side="right")
        started_with = n_workers_of(self.recording, self.runs)
        n_own = self._own_threads(started_with)
        return min(sum(self.threads), max(started_with or 0, min(int(at_once.max()), n_own)))

    def _own_threads(self, started_with: int | None) -> int:
        """Return how many threads the workers had, without those of tasks that seceded (`worker_client`)."""
        lives = lives_of(self.recording)
        lanes = Counter(self.recording.lanes[lane].worker for lane in distinct(self.lane).tolist())
        known = {name: lives[name].n_threads for name in lanes if name in lives and lives[name].n_threads}
        # A worker that was not seen to come was there at the start.
        n_there = sum(n for name, n in lanes.items() if name not in known)
        n_there = n_there if started_with is None else min(n_there, started_with)
        return n_there + sum(min(n, known[name]) for name, n in lanes.items() if name in known)

    @cached_property
    def load(self) -> Load:
        """How busy the computes kept workers and cores."""
        return load_of(self)

    @cached_property
    def takes_s(self) -> NDArray[np.float64]:
        """How long each task would have taken if a core had always been free."""
        return self.load.takes_s(self.seconds, self.cpu_s, self.prefix)

    @cached_property
    def at_lock(self) -> NDArray[np.float64]:
        """The part of each task in which it waited for a lock of the user's own, by samples of its prefix."""
        if not self.load.lock_s:
            return np.zeros(len(self))
        shares = [self.load.waiting.get(name, {}).get("lock", 0.0) for name in self.names]
        return np.array(shares)[self.prefix]


@cached
def schedules_of(recording: RecordedData, run: int | None = None) -> tuple[Schedule, ...]:
    """Return one compute, or all, prepared; computes that overlap are one, the earliest first."""
    blocks = blocks_by_run(recording)
    return tuple(
        _scheduled(recording, part, [block for one in part for block in blocks[one.run]])
        for part in overlapping(recording, own_runs(recording, run), blocks)
    )


def _scheduled(recording: RecordedData, runs: Sequence[Run], blocks: Sequence[PlacedBlock]) -> Schedule:
    zero_s = recording.zero_s
    begin = int(to_ns(min(run.asked_s for run in runs) - zero_s))
    end = max(int(to_ns(max(stop_of(recording, run) for run in runs) - zero_s)), begin)
    graphs = {run.run: recording.graphs[run.run] for run in runs if run.run in recording.graphs}
    keys = _JoinedGraphs.of(recording, graphs)
    blocks = [placed for placed in blocks if placed.block.run in graphs]
    began = _joined([b.start for b, _ in blocks], np.float64) - zero_s
    took = _joined([b.duration for b, _ in blocks], np.float64)
    start = np.clip(to_ns(began), begin, end)
    stop = np.clip(to_ns(began + took), start, end)
    place = _joined([keys.first[b.run] + b.task for b, _ in blocks], np.int64)
    lane = _joined([b.lane for b, _ in blocks], np.int64)
    order = np.lexsort((stop, start))
    if len(runs) > 1:
        # The common tasks of two clients' computes are in the rows of both.
        order = order[_is_first(keys.task[place][order], start[order], lane[order])]
    place, start, stop, lane = place[order], start[order], stop[order], lane[order]
    task = keys.task[place]
    n_needed, needed, is_partial = keys.needs(place, task)
    return Schedule(
        recording=recording,
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
        n_missing=sum(keys.n_missing(run, task) for run in runs),
        is_graph_known=all(run.run in graphs and graphs[run.run].known for run in runs),
    )


def _joined(parts: Iterable[NDArray[Any]], dtype: type[np.generic]) -> NDArray[Any]:
    return np.concatenate([np.empty(0, dtype), *parts], dtype=dtype, casting="unsafe")


def _is_first(*columns: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which rows differ from the row before."""
    is_first = np.zeros(len(columns[0]), bool)
    is_first[:1] = True
    for column in columns:
        is_first[1:] |= column[1:] != column[:-1]
    return is_first


@dataclass(frozen=True, slots=True, eq=False)
class _JoinedGraphs:
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
    def of(cls, recording: RecordedData, graphs: Mapping[int, GraphColumns]) -> _JoinedGraphs:
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
        # A task that began later, by the clocks of a cluster, is none that it waited for.
        kept = (found != NONE) & (found < by)
        return np.bincount(by[kept], minlength=n), found[kept], is_partial

    def input_bytes(self, place: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the size of all results that each key needs."""
        key, by = self._needed(place)
        sums: NDArray[np.float64] = np.bincount(by, self.sizes[key], len(place)).astype(np.float64)
        return sums

    def n_missing(self, run: Run, task: NDArray[np.int64]) -> int:
        """Return how many tasks of a compute lack a row; those that were released early need none."""
        if run.run not in self.graphs:
            return run.n_tasks
        graph, first = self.graphs[run.run], self.first[run.run]
        has_row = np.zeros(len(self.task), bool)
        has_row[task] = True
        own = has_row[self.task[first : first + len(graph.group)]]
        own[graph.released] = True
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
    times, n_busy = schedule.at_once
    is_so = np.append((n_busy >= least) & (n_busy <= (len(schedule) if most is None else most)), False)
    sums = np.zeros(len(times), np.int64)
    np.cumsum(np.diff(times) * is_so[:-1], out=sums[1:])

    def before(at: NDArray[np.int64]) -> NDArray[np.int64]:
        at = np.maximum(at, times[0])
        place = np.searchsorted(times, at, side="right") - 1
        found: NDArray[np.int64] = sums[place] + (at - times[place]) * is_so[place]
        return found

    return before(until) - before(since)


COUNTED_S = 1.0
"""In less time without samples of ready threads, tasks that wait and tasks that lack a core look the same."""

_LEAST_S = 1e-9
_MAX_UNKNOWN = 0.05
_LOCK_SHARE = 0.55
"""Measured with two to four threads on two cores: 0.75 to 1 where tasks are Python, else 0 to 0.45."""
_ONE_CORE = 1.25
"""Threads that take turns at one lock keep no more cores busy."""
_READY = 3.0
"""Threads that wait for the lock are not ready for a core: where many are, they do not wait for it."""
_IN_PYTHON = 1.5
_MOST_CORES = 0.75
_BLOCKED = 0.2
"""A smaller part of the time without a core may be an error of the mean."""


@dataclass(frozen=True, slots=True)
class Load:
    """How busy computes kept workers and cores; None where it is not known.

    `concurrency` is the mean number of tasks at a time; `cpu_rate` and `process_rate` are the cores that the
    tasks' threads and the whole process kept busy; `cpu_share` is the CPU time of tasks over their durations;
    `n_interpreters` is how many processes ran tasks; `ready` is how many threads of the process ran or could
    have run; `got` is the part of the cores they could have used that other programs left them.
    """

    concurrency: float
    cpu_rate: float | None
    cpu_share: float | None
    n_cores: int | None
    n_interpreters: int
    lock_share: float | None
    shares_interpreter: bool
    """Whether several tasks may run in one interpreter."""
    has_held_lock: bool
    """Whether the interpreter's lock was held nearly always."""
    is_lock_bound: bool
    """Whether several threads took turns at it."""
    stacks: Stacks
    ready: float | None = None
    process_rate: float | None = None
    got: float = 1.0
    lock_s: float = 0.0
    """For how long tasks took turns at a lock of the user's."""
    waiting: Mapping[str, Mapping[Wait, float]] = field(default_factory=dict)
    """Which part of the samples of each prefix saw which wait."""

    @property
    def stretch(self) -> float:
        """Return how many times as long as they ran the threads of the process could have run."""
        return max(self.ready / self.process_rate, 1.0) if self.ready and self.process_rate else 1.0

    @property
    def is_crowded(self) -> bool:
        """Whether other programs had cores that threads of the process could have used."""
        return self.got <= _MOST_CORES

    @property
    def beside_share(self) -> float:
        """Return the part of the tasks' time without a core in which further threads of the process ran."""
        if self.process_rate is None or self.cpu_rate is None:
            return 0.0
        beside, without = self.process_rate - self.cpu_rate, self.concurrency - self.cpu_rate
        return min(max(beside, 0.0) / without, 1.0) if without > 0 else 0.0

    def capacity(self, *, is_quiet: bool) -> float:
        """Return how many cores tasks can use at a time, on a machine as busy as it was or on a quiet one."""
        if self.has_held_lock:
            return float(self.n_interpreters) * (1.0 if is_quiet else self.got)
        return (self.n_cores or math.inf) * (1.0 if is_quiet else self.got)

    def takes_s(
        self, seconds: NDArray[np.float64], cpu_s: NDArray[np.float64], prefix: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return how long tasks would have taken if a core had always been free for them.

        Tasks are taken to have queued for a core in proportion to their CPU time, as all threads of the
        process did: an estimate for a prefix as a whole. Unknown CPU time is taken to be like the others'.
        """
        is_unknown = np.isnan(cpu_s)
        cpu_s = on_core_s(seconds, cpu_s)
        without_core_s = np.bincount(prefix, seconds - cpu_s)
        queued_s = np.bincount(prefix, np.where(is_unknown, 0.0, cpu_s)) * (self.stretch - 1)
        blocked = 1 - np.minimum(queued_s / np.maximum(without_core_s, _LEAST_S), 1.0)
        blocked[blocked < _BLOCKED] = 0.0
        takes_s: NDArray[np.float64] = seconds - (seconds - cpu_s) * (1 - blocked)[prefix]
        whole_s = np.bincount(prefix, np.where(is_unknown, 0.0, seconds))
        part_s = np.bincount(prefix, np.where(is_unknown, 0.0, takes_s))
        share = np.where(whole_s > 0, part_s / np.maximum(whole_s, _LEAST_S), 1.0)[prefix]
        return np.where(is_unknown, seconds * share, takes_s)


def on_core_s(seconds: NDArray[np.float64], cpu_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for how much of their time tasks had a core: for all of it where that is not known."""
    return np.minimum(np.where(np.isnan(cpu_s), seconds, cpu_s), seconds)


def load_of(schedule: Schedule) -> Load:
    """Return how busy workers and cores were."""
    recording = schedule.recording
    start, stop = schedule.start / 1e9, schedule.stop / 1e9
    busy_s, task_s = union_s(start, stop), float((stop - start).sum())
    concurrency = task_s / busy_s if busy_s else 0.0
    workers = {recording.lanes[lane].worker for lane in distinct(schedule.lane).tolist()}
    is_here = not schedule.is_on_cluster or all(
        "://127.0.0.1:" in name or name.startswith("inproc://") for name in workers
    )
    n_cores = recording.metadata.get("n_cores") if is_here else None
    ready, process_rate = _ready_of(schedule) if is_here else (None, None)
    cores = int(n_cores) if isinstance(n_cores, int | float) and n_cores >= 1 else None
    is_known = task_s > 0 and np.isnan(schedule.cpu_s).mean() <= _MAX_UNKNOWN
    cpu_s = float(np.nansum(schedule.cpu_s)) if is_known else None
    stacks = _stacks(schedule, max(ready / process_rate, 1.0) if ready and process_rate else 1.0)
    waiting, waiting_share, lock_s = _waiting(schedule, stacks, busy_s, concurrency)
    # A process pool's tasks share no interpreter, inproc workers share that of this process.
    n_interpreters = len({"" if name.startswith("inproc://") else name for name in workers}) or 1
    lock_share = _lock_share(schedule)
    in_python = concurrency * (1 - waiting_share) / n_interpreters
    shares_interpreter = schedule.scheduler in ("threads", None) or schedule.is_on_cluster
    has_lock = shares_interpreter and (cores is None or cores > 1) and (lock_share or 0.0) >= _LOCK_SHARE
    # A thread that has the lock may itself lack a core, where threads that need no lock use all of them.
    has_lock &= cpu_s is None or cpu_s / busy_s <= _ONE_CORE * n_interpreters
    has_lock &= ready is None or ready <= max(_READY, concurrency / 2)
    is_free = ready is None or process_rate is None or not cores
    return Load(
        concurrency=concurrency,
        cpu_rate=None if cpu_s is None else cpu_s / busy_s,
        cpu_share=None if cpu_s is None else cpu_s / task_s,
        n_cores=cores,
        n_interpreters=n_interpreters,
        lock_share=lock_share,
        shares_interpreter=shares_interpreter,
        has_held_lock=has_lock,
        is_lock_bound=has_lock and in_python >= _IN_PYTHON,
        ready=ready,
        process_rate=process_rate,
        got=1.0 if is_free else min((process_rate or 0.0) / max(min(ready or 0.0, cores or 1), 1e-9), 1.0),
        lock_s=lock_s,
        waiting=waiting,
        stacks=stacks,
    )


def _lock_share(schedule: Schedule) -> float | None:
    """Return the mean over the computes, weighted by their durations."""
    known = [(run.lock_share, run) for run in schedule.runs if run.lock_share is not None]
    seconds = [max(stop_of(schedule.recording, run) - run.start_s, _LEAST_S) for _, run in known]
    return float(np.average([share for share, _ in known], weights=seconds)) if known else None


def _stacks(schedule: Schedule, stretch: float) -> Stacks:
    """Return samples of the computes, with which part of their time tasks of each prefix had a core."""
    names = schedule.names
    seconds = np.where(np.isnan(schedule.cpu_s), 0.0, schedule.seconds)
    whole_s = np.bincount(schedule.prefix, seconds, len(names))
    cpu_s = np.bincount(schedule.prefix, np.nan_to_num(schedule.cpu_s), len(names))
    shares = {name: float(cpu_s[i] / whole_s[i]) for i, name in enumerate(names) if whole_s[i]}
    return Stacks(schedule.recording, [run.run for run in schedule.runs], cpu_shares=shares, stretch=stretch)


def _waiting(
    schedule: Schedule, stacks: Stacks, busy_s: float, concurrency: float
) -> tuple[dict[str, dict[Wait, float]], float, float]:
    """Return what samples saw tasks wait for by prefix, as a part of all, and the time of turns at a lock."""
    sums = np.bincount(schedule.prefix, schedule.seconds, len(schedule.names)).tolist()
    by_prefix = {name: seconds for name, seconds in zip(schedule.names, sums, strict=True) if seconds}
    waiting = {prefix: stacks.waiting(prefix) for prefix in by_prefix}
    whole_s = max(sum(by_prefix.values()), _LEAST_S)
    waited_s = sum(
        min(sum(waiting[prefix].values()) + stacks.outside(prefix), 1.0) * own
        for prefix, own in by_prefix.items()
    )
    at_lock = sum(waiting[prefix].get("lock", 0.0) * own for prefix, own in by_prefix.items()) / whole_s
    # While one task or more waited for it, another one had it.
    return waiting, waited_s / whole_s, busy_s * min(at_lock * concurrency, 1.0)


def _ready_of(schedule: Schedule) -> tuple[float | None, float | None]:
    """Return how many threads were ready while tasks ran, and how many cores they had."""
    if not len(schedule):
        return None, None
    recording = schedule.recording
    first_s, last_s = (float(t) / 1e9 + recording.zero_s for t in (schedule.start[0], schedule.stop.max()))
    samples = recording.resources
    seconds = np.diff(samples.time, prepend=samples.time[:1])
    known = ~np.isnan(samples.ready_threads) & ~np.isnan(samples.cpu_percent) & (seconds > 0)
    known &= (samples.time >= first_s) & (samples.time <= last_s)
    if not known.any():
        return None, None
    ready, percent = (
        float(np.average(values[known], weights=seconds[known]))
        for values in (samples.ready_threads, samples.cpu_percent)
    )
    return ready, percent / 100
