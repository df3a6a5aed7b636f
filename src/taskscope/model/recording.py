"""A recording, immutable: the tables that every result is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from taskscope.errors import UnknownNameError, unknown_name
from taskscope.model.dataframes import Coded, Columns, data_frame, joined_columns, text_column
from taskscope.model.keys import KeyBlock
from taskscope.model.public_tables import TABLES
from taskscope.model.tables.activities import (
    ACTIVITIES,
    FAILED_ATTEMPT,
    NO_ACTIVITIES,
    ActivityColumns,
    Steal,
    Transfer,
)
from taskscope.model.tables.cache_usage import NO_CACHE_ROWS, CacheRows
from taskscope.model.tables.columns import GraphColumns, RowBlock, joined_measures
from taskscope.model.tables.process import PeakLine, ResourceRows
from taskscope.model.tables.records import (
    FLAGS,
    RUNNING,
    Group,
    Lane,
    Message,
    Run,
    TaskBlock,
    count_runs,
    flag_codes,
    split_flags,
)
from taskscope.model.tables.stacks import NO_STACKS, MeasuredLine, StackColumns
from taskscope.model.tables.workers import LogLine, Metric, WorkerSample
from taskscope.schema import Column

if TYPE_CHECKING:
    import pandas as pd

_T = TypeVar("_T", Group, Lane)
_N = TypeVar("_N", bound=np.generic)


class Results(dict[Any, Any]):
    """Results of analyses by function and parameters; a copy or a pickle of a recording has none."""

    def __reduce__(self) -> tuple[type[Results], tuple[()]]:
        return Results, ()


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class RecordedData:
    """Everything recorded of one or more computes.

    Times are seconds after `started_at`. Get a table with `table` or `to_pandas`; :doc:`tables` has them all.
    """

    started_at: datetime
    zero_s: float
    runs: tuple[Run, ...]
    groups: tuple[Group, ...]
    lanes: tuple[Lane, ...]
    blocks: tuple[RowBlock, ...]
    graphs: Mapping[int, GraphColumns]
    resources: ResourceRows
    messages: tuple[Message, ...]
    now_s: float
    dropped: int
    metadata: Mapping[str, object]
    stacks: StackColumns = NO_STACKS
    activities: ActivityColumns = NO_ACTIVITIES
    transfers: tuple[Transfer, ...] = ()
    steals: tuple[Steal, ...] = ()
    workers: tuple[WorkerSample, ...] = ()
    metrics: tuple[Metric, ...] = ()
    logs: tuple[LogLine, ...] = ()
    measured_lines: tuple[MeasuredLine, ...] = ()
    peak_lines: tuple[PeakLine, ...] = ()
    holdings: CacheRows = NO_CACHE_ROWS
    unknown: frozenset[str] = frozenset()
    results: Results = field(default_factory=Results, init=False)
    """What analyses have computed of it."""

    @property
    def tasks(self) -> TaskBlock:
        """All tasks, with times after `started_at`; computed on each access.

        A task that was in flight at the snapshot stops at the snapshot: with status ``interrupted`` where
        its compute was over, else ``running``.
        """
        return join_rows([(block, self.graphs[block.run]) for block in self.blocks], self.zero_s)

    @property
    def is_on_cluster(self) -> bool:
        """Whether workers of a cluster ran any of its computes."""
        return any(run.is_on_cluster for run in self.runs)

    def table(self, name: str) -> Columns:
        """Return a table as a mapping of column names to equally long arrays or lists.

        Raises
        ------
        UnknownNameError
            If there is no such table.
        """
        if name not in TABLES:
            raise UnknownNameError(unknown_name("table", name, TABLES))
        return Tables(self).get(name)

    def to_pandas(self, name: str) -> pd.DataFrame:
        """Return a table as a pandas DataFrame.

        Raises
        ------
        UnknownNameError
            If there is no such table.
        MissingDependencyError
            If pandas is not installed.
        """
        return data_frame(self.table(name))

    def __repr__(self) -> str:
        n_tasks = count_tasks(self)
        states = ", ".join(sorted({r.status for r in self.runs})) or "empty"
        dropped = f", {self.dropped:,} dropped" if self.dropped else ""
        n_runs = count_runs(self.runs)
        runs, tasks = ("run" if n_runs == 1 else "runs"), ("task" if n_tasks == 1 else "tasks")
        return f"<Recording: {n_runs} {runs} ({states}), {n_tasks:,} {tasks}{dropped}>"


class Keys(NamedTuple):
    """The texts of all keys of all graphs, and where each run's begin."""

    texts: NDArray[np.object_]
    first: Mapping[int, int]


_Coded: TypeAlias = "Mapping[str, NDArray[Any] | Coded]"


class Tables:
    """The tables of a recording; several share the texts of keys, which take longest to make."""

    def __init__(self, recording: RecordedData) -> None:
        self.recording = recording

    def get(self, name: str) -> Columns:
        return {
            column: values.column() if isinstance(values, Coded) else values
            for column, values in self.coded(name).items()
        }

    def coded(self, name: str) -> _Coded:
        """Return a table in which a text of many rows is kept once."""
        columns = TABLES[name].columns
        if name not in _BUILDERS:
            return _of_records(columns, getattr(self.recording, name), self.recording.zero_s)
        found = _BUILDERS[name](self)
        return {c.name: found[c.name] for c in columns}

    @cached_property
    def tasks(self) -> _Coded:
        return _tasks(self.recording, self.keys)

    @cached_property
    def keys(self) -> Keys:
        groups = [g.name for g in self.recording.groups]
        graphs = self.recording.graphs
        texts = [graph.keys.to_text([groups[i] for i in graph.group.tolist()]) for graph in graphs.values()]
        ends = np.cumsum([0, *map(len, texts)]).tolist()
        return Keys(np.concatenate([np.empty(0, object), *texts]), dict(zip(graphs, ends, strict=False)))


def count_tasks(recording: RecordedData) -> int:
    """Return how many tasks a recording holds."""
    return sum(map(len, recording.blocks))


def _of_records(columns: Sequence[Column], records: Sequence[object], zero_s: float) -> Columns:
    return {c.name: _values(c, [getattr(r, c.name) for r in records], zero_s) for c in columns}


def _values(column: Column, values: list[Any], zero_s: float) -> NDArray[Any]:
    if column.kind == "number":
        zero_s = zero_s if column.is_time else 0.0
        return np.array([np.nan if v is None else v - zero_s for v in values], np.float64)
    if column.kind == "texts":
        values = ["; ".join(texts) for texts in values]
    return np.array(values, column.dtype) if None not in values else text_column(values)


def _tasks(recording: RecordedData, keys: Keys) -> _Coded:
    tasks, lanes = recording.tasks, recording.lanes
    numbers = [keys.first[block.run] + block.task.astype(np.int64) for block in recording.blocks]
    of_groups = {"prefix": "prefix", "group": "name", "span": "span", "function": "function"}
    flags = {n: Coded(text_column(FLAGS[n].choices), codes) for n, codes in split_flags(tasks.flags).items()}
    return {
        "run": tasks.run.astype(np.int64),
        "key": Coded(keys.texts, np.concatenate([np.empty(0, np.int64), *numbers])),
        **{
            column: Coded(text_column([getattr(g, name) for g in recording.groups]), tasks.group)
            for column, name in of_groups.items()
        },
        "lane": tasks.lane.astype(np.int64),
        "worker": Coded(text_column([n.worker for n in lanes]), tasks.lane),
        "thread": np.array([n.thread for n in lanes], np.int64)[tasks.lane],
        "start_s": tasks.start,
        "stop_s": np.where(tasks.status == RUNNING, np.nan, tasks.stop),
        "queued_s": _queued(recording),
        **{{"nbytes": "result_bytes"}.get(name, name): values for name, values in tasks.measured().items()},
        **flags,
        "error": _errors(tasks),
    }


_ROUNDED_S = 1e-5
"""Times of results may be rounded by less than this."""


def _queued(recording: RecordedData) -> NDArray[np.float64]:
    """Return how long each task had its inputs before it began; NaN where that is unknown."""
    ready = {run: ready_times(graph) for run, graph in recording.graphs.items()}
    waits = [block.start - ready[block.run][block.task] for block in recording.blocks]
    queued: NDArray[np.float64] = np.concatenate([np.empty(0), *waits])
    # Of several attempts, the inputs of the last one are known.
    queued[queued < -_ROUNDED_S] = np.nan
    queued[queued < 0] = 0.0
    return queued


def ready_times(graph: GraphColumns) -> NDArray[np.float64]:
    """Return when the last input of each key entered memory; of a key without inputs, when data did."""
    if not graph.known:
        return np.full(len(graph.group), np.nan)
    ready = np.full(len(graph.group), graph.enter_zero)
    entered = np.nan_to_num(graph.enter_times(), nan=np.inf)
    np.maximum.at(ready, graph.edge_sources(), entered[graph.edges])
    return np.where(np.isinf(ready), np.nan, ready)


def _errors(tasks: TaskBlock) -> NDArray[np.object_]:
    column = np.full(len(tasks), None, object)
    for row, text in tasks.errors.items():
        column[row] = text
    return column


def _activities(recording: RecordedData, tasks: _Coded, keys: Keys) -> _Coded:
    columns = recording.activities
    rows, n = columns.rows, count_tasks(recording)
    sources = text_column([source or None for source in columns.sources])
    has_failed = rows.kind == FAILED_ATTEMPT
    error = np.full(len(rows), None, object)
    error[has_failed] = sources[rows.source[has_failed]]
    first = np.array([keys.first[run] for run in rows.run.tolist()], np.int64)
    start = rows.start - recording.zero_s
    others: _Coded = {
        "run": rows.run.astype(np.int64),
        "key": Coded(keys.texts, first + rows.task),
        "lane": rows.lane.astype(np.int64),
        "start_s": start,
        "stop_s": start + rows.duration,
        "error": error,
    }
    # Place 0 of the sources is none.
    source = np.concatenate([np.zeros(n, np.int64), np.where(has_failed, 0, rows.source)])
    return {
        **{name: joined_columns([tasks[name], values]) for name, values in others.items()},
        "activity": Coded(
            text_column(["compute", *ACTIVITIES]),
            np.concatenate([np.zeros(n, np.int64), 1 + rows.kind.astype(np.int64)]),
        ),
        "source": Coded(sources, source),
        "nbytes": np.concatenate([np.full(n, np.nan), rows.nbytes]),
    }


def _transfers(recording: RecordedData) -> Columns:
    logged = [*recording.transfers, *_unlogged(recording)]
    return _of_records(TABLES["transfers"].columns, logged, recording.zero_s)


def _unlogged(recording: RecordedData) -> Iterator[Transfer]:
    """Yield transfers that workers received and have no log of."""
    columns = recording.activities
    rows = columns.rows.part(
        np.flatnonzero((columns.rows.kind == ACTIVITIES.index("transfer")) & np.isnan(columns.rows.nbytes))
    )
    for lane, start, duration, source in zip(
        rows.lane.tolist(), rows.start.tolist(), rows.duration.tolist(), rows.source.tolist(), strict=True
    ):
        worker = recording.lanes[lane].worker
        yield Transfer(
            worker, columns.sources[source] or None, "incoming", start, start + duration, None, None, 0, ()
        )


def _resources(recording: RecordedData) -> Columns:
    rows = recording.resources
    n, stored = len(rows), rows.arrays()
    limit = recording.metadata.get("memory_limit_bytes")
    worker = recording.metadata.get("pid")
    return {
        **{c.name: stored[c.name].astype(c.dtype) for c in TABLES["resources"].columns if c.name in stored},
        "time_s": rows.time - recording.zero_s,
        "worker": text_column([None if worker is None else str(worker)] * n),
        "limit_bytes": np.full(n, np.nan if limit is None else limit, np.float64),
    }


def _cache(recording: RecordedData, keys: Keys) -> _Coded:
    prefixes = text_column([g.prefix for g in recording.groups])
    parts: list[_Coded] = [
        {
            "run": np.full(len(held), run, np.int64),
            "key": Coded(keys.texts, keys.first[run] + held),
            "prefix": Coded(prefixes, recording.graphs[run].group[held]),
            **usage,
        }
        for run, held, usage in cache_usage(recording)
    ]
    return _joined("cache", parts)


def cache_usage(recording: RecordedData) -> Iterator[tuple[int, NDArray[np.int64], Columns]]:
    """Yield each run's keys that were kept in memory, as they came, and their sizes and times."""
    stops = {r.run: recording.now_s if r.stop_s is None else r.stop_s for r in recording.runs}
    on_cluster = {r.run for r in recording.runs if r.is_on_cluster}
    for run, graph in recording.graphs.items():
        enter = graph.enter_times()
        held = np.argsort(enter, kind="stable")[: np.count_nonzero(~np.isnan(enter))]
        exits = np.full(len(held), np.nan) if run in on_cluster else graph.exit_times(stops[run])[held]
        yield (
            run,
            held,
            {
                "metric": _metric(recording, run, graph)[held],
                "enter_s": enter[held] - recording.zero_s,
                "exit_s": exits - recording.zero_s,
            },
        )


def _holdings(recording: RecordedData) -> Columns:
    rows = recording.holdings
    return {
        "time_s": rows.time - recording.zero_s,
        "run": rows.run.astype(np.int64),
        "prefix": text_column([g.prefix for g in recording.groups])[rows.group],
        "group": text_column([g.name for g in recording.groups])[rows.group],
        "n_keys": rows.n_keys.astype(np.int64),
        "nbytes": rows.nbytes,
        "n_unsized": rows.n_unsized.astype(np.int64),
    }


def _lines(recording: RecordedData) -> Columns:
    stacks, rows = recording.stacks, recording.stacks.lines
    functions = [*stacks.functions, None]
    return {
        "run": rows.run.astype(np.int64),
        "prefix": text_column(stacks.prefixes)[rows.prefix],
        "worker": text_column(stacks.workers)[rows.worker],
        "file": text_column([f and f.file for f in functions])[rows.function],
        "function": text_column([f and f.name for f in functions])[rows.function],
        "line": rows.line,
        "count": rows.count.astype(np.int64),
        **{name: values for name, values in rows.arrays().items() if values.dtype.kind == "f"},
    }


def _metric(recording: RecordedData, run: int, graph: GraphColumns) -> NDArray[np.float64]:
    if recording.metadata.get("metric") == "count":
        return np.ones(len(graph.group))
    if graph.values is not None:
        return graph.values.astype(np.float64)
    return key_sizes(recording, run, graph)


def key_sizes(recording: RecordedData, run: int, graph: GraphColumns) -> NDArray[np.float64]:
    """Return the bytes of every key of a run, NaN where unknown or no longer kept."""
    sizes = np.full(len(graph.group), np.nan)
    sizes[graph.data] = graph.data_sizes
    for block in recording.blocks:
        if block.run == run:
            sizes[block.task] = block.sizes()
    return sizes


def _dependencies(recording: RecordedData, keys: Keys) -> _Coded:
    parts: list[_Coded] = [
        {
            "run": np.full(len(graph.edges), run, np.int64),
            "key": Coded(keys.texts, keys.first[run] + graph.edge_sources()),
            "dependency": Coded(keys.texts, keys.first[run] + graph.edges),
        }
        for run, graph in recording.graphs.items()
    ]
    return _joined("dependencies", parts)


def _joined(table: str, parts: Sequence[_Coded]) -> _Coded:
    return {
        c.name: joined_columns([part[c.name] for part in parts]) if parts else np.empty(0, c.dtype)
        for c in TABLES[table].columns
    }


_BUILDERS: Mapping[str, Callable[[Tables], _Coded]] = {
    "tasks": lambda tables: tables.tasks,
    "activities": lambda tables: _activities(tables.recording, tables.tasks, tables.keys),
    "transfers": lambda tables: _transfers(tables.recording),
    "resources": lambda tables: _resources(tables.recording),
    "cache": lambda tables: _cache(tables.recording, tables.keys),
    "holdings": lambda tables: _holdings(tables.recording),
    "lines": lambda tables: _lines(tables.recording),
    "dependencies": lambda tables: _dependencies(tables.recording, tables.keys),
}


class _Graph(Protocol):
    """What names the tasks of a run, by their numbers in it."""

    @property
    def errors(self) -> Mapping[int, str]: ...

    def identify(self, tasks: NDArray[np.int32]) -> tuple[NDArray[np.uint32], KeyBlock]: ...


def join_rows(parts: Sequence[tuple[RowBlock, _Graph]], zero_s: float = 0.0) -> TaskBlock:
    """Return the rows of all parts in order, with times counted from `zero_s`."""
    named = [graph.identify(block.task) for block, graph in parts]
    starts = [np.empty(0), *(b.start for b, *_ in parts)]
    durations = [np.empty(0, np.float32), *(b.duration for b, *_ in parts)]
    start = np.concatenate(starts) - zero_s
    return TaskBlock(
        run=np.repeat(np.array([b.run for b, *_ in parts], np.int32), [len(group) for group, _ in named]),
        group=np.concatenate([np.empty(0, np.uint32), *(group for group, _ in named)]),
        lane=np.concatenate([np.empty(0, np.uint16), *(b.lane for b, *_ in parts)]),
        start=start,
        stop=start + np.concatenate(durations),
        flags=np.concatenate([np.empty(0, np.uint8), *(b.flags for b, *_ in parts)]),
        keys=KeyBlock.concat([keys for _, keys in named]),
        errors=_join_errors(parts),
        **joined_measures([block for block, *_ in parts]),
    )


def _join_errors(parts: Sequence[tuple[RowBlock, _Graph]]) -> dict[int, str]:
    found: dict[int, str] = {}
    first = 0
    for block, graph in parts:
        tasks, errors = block.task, graph.errors
        if errors:
            failed = np.flatnonzero(flag_codes(block.flags, "status"))
            texts = map(errors.get, tasks[failed].tolist())
            found |= {first + i: t for i, t in zip(failed.tolist(), texts, strict=True) if t is not None}
        first += len(tasks)
    return found


def own_groups_and_lanes(recorded: RecordedData) -> RecordedData:
    """Return the recording with no groups and lanes but its own, numbered from 0: a session has many more."""
    graphs, blocks, holdings = recorded.graphs, recorded.blocks, recorded.holdings
    activities = recorded.activities.rows
    group = _Used(recorded.groups, [holdings.group, *(graph.group for graph in graphs.values())])
    lane = _Used(recorded.lanes, [activities.lane, *(block.lane for block in blocks)])
    if not group.is_all:
        graphs = {run: replace(graph, group=group.places(graph.group)) for run, graph in graphs.items()}
        holdings = replace(holdings, group=group.places(holdings.group))
    if not lane.is_all:
        blocks = tuple(replace(block, lane=lane.places(block.lane)) for block in blocks)
        activities = replace(activities, lane=lane.places(activities.lane))
    return replace(
        recorded,
        groups=tuple(replace(each, id=i) for i, each in enumerate(group.rows)),
        lanes=tuple(replace(each, id=i) for i, each in enumerate(lane.rows)),
        graphs=graphs,
        blocks=blocks,
        holdings=holdings,
        activities=replace(recorded.activities, rows=activities),
    )


class _Used(Generic[_T]):
    """The rows that columns of ids refer to, and their new places."""

    def __init__(self, rows: Sequence[_T], columns: Sequence[NDArray[Any]]) -> None:
        is_used = np.zeros(len(rows), bool)
        for column in columns:
            is_used[column] = True
        self.rows: list[_T] = [rows[i] for i in np.flatnonzero(is_used).tolist()]
        self.is_all = len(self.rows) == len(rows)
        self._places = np.cumsum(is_used) - 1

    def places(self, ids: NDArray[_N]) -> NDArray[_N]:
        found: NDArray[_N] = self._places[ids].astype(ids.dtype)
        return found
