"""What profilers give, as dask.diagnostics has it: named tuples made of a recording."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.cache_usage import Held
from taskscope.analysis.display.colours import prefix_colours
from taskscope.errors import TaskscopeError
from taskscope.model.recording import RecordedData
from taskscope.model.tables.columns import RowBlock
from taskscope.model.tables.records import FINISHED, flag_codes
from taskscope.record import Recorder
from taskscope.sources.local.adapter.graph import Task

_T = TypeVar("_T")
_MAX_DEPENDENCIES = 8
Metric: TypeAlias = Callable[[Any], object]


@dataclass(slots=True)
class SeenRun:
    """A compute of a profiler: types of its keys, what tasks call by group, the metric's values by key."""

    run: int
    start_s: float
    stop_s: float | None = None
    kinds: frozenset[type] = frozenset()
    functions: Mapping[str, str] = field(default_factory=dict)
    values: dict[object, object] = field(default_factory=dict)


class Recorded(Protocol):
    """A profiler, as far as its results are made of it."""

    metric: Metric | None
    cleared_s: float
    runs: dict[int, SeenRun]

    @property
    def recorder(self) -> Recorder: ...

    def recorded(self) -> RecordedData: ...


class TaskData(NamedTuple):
    """One task; times are seconds on the axis of ``time.perf_counter``, as in ``dask.diagnostics``."""

    key: Any
    task: Task
    start_time: float
    end_time: float
    worker_id: int | None


class ResourceData(NamedTuple):
    """One sample: its time as that of ``time.perf_counter``, memory in MB, CPU in percent, 100 per core."""

    time: float
    mem: float
    cpu: float


class CacheData(NamedTuple):
    """One result in the scheduler's cache, from when it entered to when it left, and its metric.

    The metric is None where the function that measures failed.
    """

    key: Any
    task: Task
    metric: Any
    cache_time: float
    free_time: float


class Results(list[_T]):
    """A list that can also be called, because in 2015 ``results`` was a method."""

    def __call__(self) -> Self:
        """Return itself."""
        return self


class _Graph:
    """What is known of the tasks of one compute, shared by all that stand for one."""

    def __init__(self, recording: RecordedData, run: SeenRun) -> None:
        self.columns = graph = recording.graphs[run.run]
        self.run = run
        self._groups = recording.groups
        self._first_edge = np.concatenate([[0], np.cumsum(graph.n_dependencies, dtype=np.int64)])

    def keys(self, tasks: Sequence[int]) -> list[Any]:
        rows = np.asarray(tasks, np.int64)
        names = [self._groups[i].name for i in self.columns.group[rows].tolist()]
        return list(self.columns.keys.take(rows).iter_keys(names, self.run.kinds))

    def call(self, task: int) -> str:
        """Return what a task calls, or its prefix where that is not known, and the keys it needs."""
        group = self._groups[int(self.columns.group[task])]
        needed = self.dependencies(task)
        shown = [repr(key) for key in needed[:_MAX_DEPENDENCIES]]
        more = [f"{len(needed) - len(shown):,} more"] if len(needed) > len(shown) else []
        return f"{self.run.functions.get(group.name) or group.prefix}({', '.join(shown + more)})"

    def dependencies(self, task: int) -> list[Any]:
        edges = self.columns.edges[self._first_edge[task] : self._first_edge[task + 1]]
        return self.keys(edges.tolist())

    def metrics(self, keys: Sequence[Any]) -> list[object]:
        """Return what the metric gave of these keys' results; None where it gave nothing."""
        return [self.run.values.get(key) for key in keys]


class _Alone(_Graph):
    """The graph of a task that has travelled."""

    def __init__(self, call: str, dependencies: list[Any]) -> None:
        self._call = call
        self._needed = dependencies

    def call(self, task: int) -> str:
        return self._call

    def dependencies(self, task: int) -> list[Any]:
        return self._needed


class TaskText(Task):
    """A task as far as it was recorded: its key, what it calls, and the keys it needs.

    Nothing of the computation is kept alive for it, so it has neither function nor arguments, and cannot be
    called; its ``repr`` reads like that of the task.
    """

    __slots__ = ("_graph", "_number")

    def __init__(self, key: Any, graph: _Graph, number: int) -> None:
        # Not Task.__init__, which wants a function and its arguments.
        self.key = key
        self._graph = graph
        self._number = number

    def __repr__(self) -> str:
        return f"<Task {self.key!r} {self._graph.call(self._number)}>"

    @property
    def dependencies(self) -> frozenset[Any]:
        """The keys that the task needs."""
        return frozenset(self._graph.dependencies(self._number))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"a recorded task has no {name!r}: functions, arguments and results are not kept; "
            "it has key, dependencies and a repr"
        )

    def __call__(self, values: Any = ()) -> Any:
        raise TaskscopeError(f"{self!r} is a record of a task and cannot be run")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Task) and self.key == other.key and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(self.key)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel as text, without the recording."""
        alone = _Alone(self._graph.call(self._number), self._graph.dependencies(self._number))
        return TaskText, (self.key, alone, 0)


def _graphs(recording: RecordedData, runs: Mapping[int, SeenRun]) -> dict[int, _Graph]:
    return {run: _Graph(recording, runs[run]) for run in recording.graphs if run in runs}


def task_data(profiler: Recorded) -> Iterator[TaskData]:
    """Yield the tasks that finished, by run and start."""
    recording, origin = profiler.recorded(), profiler.recorder.origin
    blocks: dict[int, list[RowBlock]] = defaultdict(list)
    for block in recording.blocks:
        blocks[block.run].append(block)
    workers = _workers(recording)
    for run, graph in _graphs(recording, profiler.runs).items():
        if run not in blocks:
            continue
        rows = RowBlock.concat(blocks[run])
        stop = rows.start + rows.duration
        mine = np.flatnonzero((flag_codes(rows.flags, "status") == FINISHED) & (stop >= profiler.cleared_s))
        mine = mine[np.argsort(rows.start[mine], kind="stable")]
        tasks, worker = rows.task[mine].tolist(), workers[run]
        columns = (rows.start[mine] + origin, stop[mine] + origin, rows.lane[mine])
        ended = zip(graph.keys(tasks), tasks, *(column.tolist() for column in columns), strict=True)
        for key, task, start_time, end_time, lane in ended:
            yield TaskData(key, TaskText(key, graph, task), start_time, end_time, worker[lane])


def task_texts(recording: RecordedData, runs: Mapping[int, SeenRun]) -> list[str]:
    """Return what each task of a recording calls, in the order of `Recording.tasks`, or its prefix."""
    graphs = _graphs(recording, runs)
    found: list[str] = []
    for block in recording.blocks:
        graph = graphs.get(block.run)
        if graph is None:
            group = recording.graphs[block.run].group[block.task]
            found += [recording.groups[i].prefix for i in group.tolist()]
        else:
            found += map(graph.call, block.task.tolist())
    return found


def _workers(recording: RecordedData) -> dict[int, list[int | None]]:
    """Return the worker id of every lane, by run: what each scheduler calls its workers."""
    # A task that no worker reported has a lane with a negative thread.
    threads = [lane.thread if lane.thread >= 0 else None for lane in recording.lanes]
    # A cluster's worker is known by its address, and its threads are what runs its tasks.
    local = [lane.thread >= 0 and lane.worker.isdecimal() for lane in recording.lanes]
    processes = [int(n.worker) if here else None for n, here in zip(recording.lanes, local, strict=True)]
    alone: list[int | None] = [None] * len(recording.lanes)
    ids = {"synchronous": alone, "processes": processes}
    return {run.run: ids.get(run.scheduler or "", threads) for run in recording.runs}


class _Cached(NamedTuple):
    """The results of one compute that were in the cache, by when they left."""

    graph: _Graph
    tasks: NDArray[np.int64]
    enter_s: NDArray[np.float64]
    leave_s: NDArray[np.float64]


def _cached(profiler: Recorded, recording: RecordedData) -> Iterator[_Cached]:
    stops = {run.run: run.stop_s for run in recording.runs}
    for run, graph in _graphs(recording, profiler.runs).items():
        stop_s = stops.get(run)
        enter = graph.columns.enter_times()
        leave = graph.columns.exit_times(recording.now_s if stop_s is None else stop_s)
        mine = ~np.isnan(enter) & (leave >= profiler.cleared_s)
        mine[graph.columns.data] = False
        tasks = np.flatnonzero(mine)
        tasks = tasks[np.lexsort((enter[tasks], leave[tasks]))]
        yield _Cached(graph, tasks, enter[tasks], leave[tasks])


def cache_data(profiler: Recorded) -> Iterator[CacheData]:
    """Yield the results that were in the scheduler's cache, by when they left."""
    origin = profiler.recorder.origin
    for graph, rows, enter_s, leave_s in _cached(profiler, profiler.recorded()):
        tasks = rows.tolist()
        keys = graph.keys(tasks)
        metrics = [1] * len(keys) if profiler.metric is None else graph.metrics(keys)
        times = (enter_s + origin).tolist(), (leave_s + origin).tolist()
        for key, task, metric, cache_time, free_time in zip(keys, tasks, metrics, *times, strict=True):
            yield CacheData(key, TaskText(key, graph, task), metric, cache_time, free_time)


def cached_results(profiler: Recorded) -> Held:
    """Return the same as columns."""
    recording = profiler.recorded()
    prefixes = list(prefix_colours(recording))
    places = {prefix: place for place, prefix in enumerate(prefixes)}
    of_group = np.array([places.get(g.prefix, 0) for g in recording.groups], np.int64)
    columns: list[tuple[NDArray[Any], ...]] = [(np.empty(0, np.int64), *[np.empty(0)] * 3)]
    for graph, tasks, enter_s, leave_s in _cached(profiler, recording):
        value = np.ones(len(tasks))
        if profiler.metric is not None:
            value[:] = [_number(metric) for metric in graph.metrics(graph.keys(tasks.tolist()))]
        columns.append((of_group[graph.columns.group[tasks]], enter_s, leave_s, value))
    return Held(tuple(prefixes), *(np.concatenate(parts) for parts in zip(*columns, strict=True)))


def _number(value: object) -> float:
    try:
        return np.nan if value is None else float(value)  # type: ignore[arg-type]  # whatever the metric gave
    except (TypeError, ValueError):
        return np.nan


def resource_data(profiler: Recorded, spans_s: Iterable[tuple[float, float]]) -> Iterator[ResourceData]:
    """Yield the samples of these spans of time, in seconds after the recorder's zero.

    A sample whose CPU use is not known, as that of the first one never is, is left out.
    """
    rows, origin = profiler.recorded().resources, profiler.recorder.origin
    mine = np.zeros(len(rows), bool)
    for start_s, stop_s in spans_s:
        mine |= (rows.time >= start_s) & (rows.time <= stop_s)
    for time_s, cpu_percent, rss_bytes, *_ in rows.part(mine & ~np.isnan(rows.cpu_percent)).tuples():
        yield ResourceData(time_s + origin, rss_bytes / 1e6, cpu_percent)
