"""What profilers give, as dask.diagnostics has it: named tuples made of a recording."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.cache_usage import Held
from taskscope.analysis.colours import prefix_colours
from taskscope.diagnostics.window import WindowRun
from taskscope.errors import TaskscopeError
from taskscope.model.columns import GraphColumns, split_flags
from taskscope.model.keys import TEXT, KeyBlock
from taskscope.model.recording import RecordedData
from taskscope.model.records import FINISHED
from taskscope.sources.local.adapter.graph import Task

__all__ = [
    "CacheData",
    "GraphTexts",
    "ResourceData",
    "Results",
    "TaskData",
    "TaskText",
    "cache_data",
    "graph_texts",
    "held_results",
    "key_objects",
    "resource_data",
    "task_data",
    "task_texts",
]


_T = TypeVar("_T")


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


def key_objects(
    graph: GraphColumns, tasks: NDArray[np.integer], groups: Sequence[str], kinds: frozenset[type]
) -> list[Any]:
    """Return the keys of these tasks.

    What was recorded as text only comes back as text: keys longer than 4,096 characters, and those with a
    float that is not finite. Where a graph has a string that reads like another kind of key it has, it
    becomes that.
    """
    block = graph.keys.take(tasks)
    names = [groups[i] for i in graph.group[tasks].tolist()]
    return list(_decoded(block, names, kinds))


def _decoded(block: KeyBlock, names: Sequence[str], kinds: frozenset[type]) -> list[Any]:
    ints, texts = iter(block.ints.tolist()), iter(block.texts)
    literal = _as_it_is if kinds <= {str} else _literal_of(kinds)
    return [
        literal(next(texts)) if dims == TEXT else (name, *[next(ints) for _ in range(dims)])
        for dims, name in zip(block.dims.tolist(), names, strict=True)
    ]


def _as_it_is(text: str) -> Any:
    return text


def _literal_of(kinds: frozenset[type]) -> Callable[[str], Any]:
    def literal(text: str) -> Any:
        try:
            value = ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return text
        return value if type(value) in kinds and repr(value) == text else text

    return literal


_MAX_DEPENDENCIES = 8


class GraphTexts:
    """What is known of the tasks of one compute, shared by all that stand for one."""

    def __init__(
        self,
        graph: GraphColumns,
        groups: Sequence[str],
        prefixes: Sequence[str],
        kinds: frozenset[type],
        functions: Mapping[str, str],
    ) -> None:
        self._graph = graph
        self._groups = groups
        self._prefixes = prefixes
        self._kinds = kinds
        self._functions = functions
        self._first_edge = np.concatenate([[0], np.cumsum(graph.n_dependencies, dtype=np.int64)])

    def keys(self, tasks: Sequence[int]) -> list[Any]:
        """Return the keys of these tasks."""
        return key_objects(self._graph, np.asarray(tasks, np.int64), self._groups, self._kinds)

    def function(self, task: int) -> str:
        """Return the name of what a task calls, or its prefix where that is not known."""
        group = int(self._graph.group[task])
        return self._functions.get(self._groups[group]) or self._prefixes[group]

    def call(self, task: int) -> str:
        """Return what a task calls, and the keys it needs."""
        needed = self.dependencies(task)
        shown = [repr(key) for key in needed[:_MAX_DEPENDENCIES]]
        more = [f"{len(needed) - len(shown):,} more"] if len(needed) > len(shown) else []
        return f"{self.function(task)}({', '.join(shown + more)})"

    def dependencies(self, task: int) -> list[Any]:
        """Return the keys that a task needs."""
        edges = self._graph.edges[self._first_edge[task] : self._first_edge[task + 1]]
        return self.keys(edges.tolist())


def graph_texts(recording: RecordedData, runs: Mapping[int, WindowRun]) -> dict[int, GraphTexts]:
    """Return the texts of these runs' tasks, by run."""
    groups = [g.name for g in recording.groups]
    prefixes = [g.prefix for g in recording.groups]
    return {
        run: GraphTexts(graph, groups, prefixes, runs[run].kinds, runs[run].functions)
        for run, graph in recording.graphs.items()
        if run in runs
    }


class TaskText(Task):
    """A task as far as it was recorded: its key, what it calls, and the keys it needs.

    Nothing of the computation is kept alive for it, so it has neither function nor arguments, and cannot be
    called; its ``repr`` reads like that of the task.
    """

    __slots__ = ("_number", "_texts")

    def __init__(self, key: Any, texts: GraphTexts, number: int) -> None:
        # Not Task.__init__, which wants a function and its arguments.
        self.key = key
        self._texts = texts
        self._number = number

    def __repr__(self) -> str:
        """Return the text of the task."""
        return f"<Task {self.key!r} {self._texts.call(self._number)}>"

    @property
    def dependencies(self) -> frozenset[Any]:
        """The keys that the task needs."""
        return frozenset(self._texts.dependencies(self._number))

    def __getattr__(self, name: str) -> Any:
        """Say why an attribute of a task is not there."""
        raise AttributeError(
            f"a recorded task has no {name!r}: functions, arguments and results are not kept; "
            "it has key, dependencies and a repr"
        )

    def __call__(self, values: Any = ()) -> Any:
        """Refuse."""
        raise TaskscopeError(f"{self!r} is a record of a task and cannot be run")

    def __eq__(self, other: object) -> bool:
        """Return whether the other is a record of the same key that reads the same."""
        return isinstance(other, Task) and self.key == other.key and repr(self) == repr(other)

    def __hash__(self) -> int:
        """Return a hash of the key."""
        return hash(self.key)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel as text, without the recording."""
        texts = _Rendered(self._texts.function(self._number), self._texts.dependencies(self._number))
        return TaskText, (self.key, texts, 0)


class _Rendered(GraphTexts):
    """The texts of a single task."""

    def __init__(self, function: str, dependencies: list[Any]) -> None:
        self._function = function
        self._needed = dependencies

    def function(self, task: int) -> str:
        return self._function

    def dependencies(self, task: int) -> list[Any]:
        return self._needed


def task_data(
    recording: RecordedData, runs: Mapping[int, WindowRun], origin: float, since_s: float
) -> Results[TaskData]:
    """Return the tasks that finished in these runs after `since_s`, by run and start."""
    texts = graph_texts(recording, runs)
    workers = _workers(recording)
    found: dict[int, list[TaskData]] = {run: [] for run in texts}
    for block in recording.blocks:
        of_run = texts.get(block.run)
        if of_run is None:
            continue
        stop = block.start + block.duration
        mine = (split_flags(block.flags)[0] == FINISHED) & (stop >= since_s)
        tasks = block.task[mine].tolist()
        columns = (of_run.keys(tasks), tasks, block.start[mine] + origin, stop[mine] + origin)
        keys, tasks, starts, stops = (c if isinstance(c, list) else c.tolist() for c in columns)
        worker = workers[block.run]
        found[block.run].extend(
            TaskData(key, TaskText(key, of_run, task), start, end, worker[lane])
            for key, task, start, end, lane in zip(
                keys, tasks, starts, stops, block.lane[mine].tolist(), strict=True
            )
        )
    return Results(row for rows in found.values() for row in sorted(rows, key=lambda r: r.start_time))


def task_texts(recording: RecordedData, runs: Mapping[int, WindowRun]) -> list[str]:
    """Return what each task of a recording calls, in the order of `Recording.tasks`, or its prefix."""
    texts = graph_texts(recording, runs)
    found: list[str] = []
    for block in recording.blocks:
        of_run = texts.get(block.run)
        if of_run is None:
            group = recording.graphs[block.run].group[block.task]
            found += [recording.groups[i].prefix for i in group.tolist()]
        else:
            found += map(of_run.call, block.task.tolist())
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


def cache_data(
    recording: RecordedData, runs: Mapping[int, WindowRun], origin: float, since_s: float, *, counts: bool
) -> Results[CacheData]:
    """Return what was in the scheduler's cache during these runs, by when it left."""
    found: list[CacheData] = []
    for run, of_run in graph_texts(recording, runs).items():
        tasks, enter, leave = _held(recording, run, since_s)
        keys = of_run.keys(tasks.tolist())
        values = [1] * len(keys) if counts else _measured(runs[run].values, keys)
        times = zip((enter + origin).tolist(), (leave + origin).tolist(), strict=True)
        found += [
            CacheData(key, TaskText(key, of_run, task), value, *at)
            for key, task, value, at in zip(keys, tasks.tolist(), values, times, strict=True)
        ]
    return Results(found)


def held_results(
    recording: RecordedData, runs: Mapping[int, WindowRun], since_s: float, *, counts: bool
) -> Held:
    """Return the same as columns, of runs that no task started."""
    prefixes = list(prefix_colours(recording))
    places = {prefix: place for place, prefix in enumerate(prefixes)}
    of_group = np.array([places.get(g.prefix, 0) for g in recording.groups], np.int64)
    columns: list[tuple[NDArray[Any], ...]] = []
    for run, of_run in graph_texts(recording, runs).items():
        tasks, enter, leave = _held(recording, run, since_s)
        value = np.ones(len(tasks))
        if not counts:
            value = np.array(
                list(map(_number, _measured(runs[run].values, of_run.keys(tasks.tolist())))), float
            )
        columns.append((of_group[recording.graphs[run].group[tasks]], enter, leave, value))
    empty = (np.empty(0, np.int64), np.empty(0), np.empty(0), np.empty(0))
    prefix, enter, leave, value = (np.concatenate(parts) for parts in zip(empty, *columns, strict=True))
    return Held(tuple(prefixes), prefix, enter, leave, value)


def _held(
    recording: RecordedData, run: int, since_s: float
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return numbers of tasks, and when their results entered and left the cache, by the latter."""
    graph = recording.graphs[run]
    stop_s = next((r.stop_s for r in recording.runs if r.run == run), None)
    enter = graph.enter_times()
    leave = graph.exit_times(recording.now_s if stop_s is None else stop_s)
    held = ~np.isnan(enter) & (leave >= since_s)
    held[graph.data] = False
    tasks = np.flatnonzero(held)
    tasks = tasks[np.lexsort((enter[tasks], leave[tasks]))]
    return tasks, enter[tasks], leave[tasks]


def _number(value: object) -> float:
    try:
        return np.nan if value is None else float(value)  # type: ignore[arg-type]  # whatever the metric gave
    except (TypeError, ValueError):
        return np.nan


def _measured(values: Sequence[object], keys: Sequence[Any]) -> list[object]:
    known = dict(zip(values[::2], values[1::2], strict=True))
    return [known.get(key) for key in keys]


def resource_data(
    recording: RecordedData, spans_s: Iterable[tuple[float, float]], origin: float
) -> Results[ResourceData]:
    """Return the samples of these spans of time, in seconds after the recorder's zero.

    A sample whose CPU use is not known, as that of the first one never is, is left out.
    """
    rows = recording.resources
    times = rows.time
    mine = np.zeros(len(rows), bool)
    for start_s, stop_s in spans_s:
        mine |= (times >= start_s) & (times <= stop_s)
    rows = rows.part(mine & ~np.isnan(rows.cpu_percent))
    return Results(
        ResourceData(time_s + origin, rss_bytes / 1e6, cpu_percent)
        for time_s, cpu_percent, rss_bytes, *_ in rows.tuples()
    )
