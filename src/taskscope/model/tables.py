"""The tables of a recording, as columns: what `taskscope.Recording.to_pandas` gives.

`TABLES` declares them, and ``docs/tables.md`` is made of it. Times are seconds after `Recording.started_at`;
what is not known is ``NaN`` or ``None``, never 0. A key that is a string stands as it is, any other as its
``repr``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from taskscope.model.activities import ACTIVITIES, FAILED_ATTEMPT, ActivityRows, Transfer
from taskscope.model.columns import GraphColumns, RowBlock
from taskscope.model.held import HeldRows
from taskscope.model.records import OBSERVED_BY, RUNNING, STATUSES, Group, Lane, Message, Run, TaskBlock
from taskscope.model.resources import ResourceRows
from taskscope.model.workers import WorkerSample
from taskscope.schema import Column, Table, columns_of, derived, shown

if TYPE_CHECKING:
    from taskscope.model.recording import Recording

__all__ = ["TABLES", "Columns", "build_table"]

Columns: TypeAlias = Mapping[str, "NDArray[Any]"]


def _public(declared: type) -> tuple[Column, ...]:
    return tuple(column for column in columns_of(declared) if not column.internal)


_KEY = derived("key", "text", "The task's key.")
_PREFIX = shown(Group, "prefix")
_GROUP = shown(Group, "name", name="group", meaning="The task group.")
_RUN = shown(Run, "run")

_DECLARED = (
    Table(
        name="runs",
        meaning="One row for each compute.",
        columns=_public(Run),
    ),
    Table(
        name="tasks",
        meaning="One row each time that a task ended, or was in flight when the recording was taken.",
        columns=(
            _RUN,
            _KEY,
            _PREFIX,
            _GROUP,
            shown(RowBlock, "lane"),
            shown(Lane, "worker"),
            shown(Lane, "thread"),
            shown(RowBlock, "start", name="start_s"),
            derived("stop_s", "number", "When it ended.", unit="s", optional=True, is_time=True),
            shown(RowBlock, "cpu", name="cpu_s", meaning="CPU time of its thread meanwhile.", optional=True),
            derived("status", "text", "How it ended.", choices=STATUSES),
            derived("observed_by", "text", "Who took the times.", choices=OBSERVED_BY),
            shown(
                RowBlock,
                "size",
                name="result_bytes",
                kind="number",
                meaning="How large its result is.",
                optional=True,
            ),
            derived("error", "text", "What it raised, type and message.", optional=True),
        ),
    ),
    Table(
        name="activities",
        meaning="One row for the computing of each task; on a cluster others for what workers did for it "
        "besides, and for attempts that failed and were followed by another.",
        columns=(
            _RUN,
            _KEY,
            shown(ActivityRows, "lane"),
            derived("activity", "text", "What was done.", choices=("compute", *ACTIVITIES)),
            shown(ActivityRows, "start", name="start_s"),
            derived("stop_s", "number", "When it ended.", unit="s", optional=True, is_time=True),
            derived("source", "text", "The worker that data came from.", optional=True),
            shown(ActivityRows, "nbytes", meaning="How much came from there.", optional=True),
            derived("error", "text", "What the task, or the attempt, raised.", optional=True),
        ),
    ),
    Table(
        name="transfers",
        meaning="One row for each time that data went between workers, as told by the one that received it "
        "and by the one that sent it. Where workers do not give out their logs, there are the received ones "
        "only, without their bytes.",
        columns=_public(Transfer),
    ),
    Table(
        name="resources",
        meaning="One row for each sample of this process and its children.",
        columns=(
            shown(ResourceRows, "time", name="time_s"),
            derived("worker", "text", "The number of the process.", optional=True),
            shown(
                ResourceRows,
                "cpu_percent",
                meaning="CPU since the sample before, 100 per core.",
                optional=True,
            ),
            shown(ResourceRows, "rss_bytes", optional=True),
            derived("limit_bytes", "number", "How much it may use.", unit="bytes", optional=True),
            shown(ResourceRows, "n_processes", kind="whole number"),
            shown(
                ResourceRows, "gap", kind="yes or no", meaning="Whether samples are missing before this one."
            ),
        ),
    ),
    Table(
        name="workers",
        meaning="One row for each sample of a worker of a cluster.",
        # As numbers, so that what is unknown is NaN among what is measured.
        columns=tuple(replace(c, kind="number") if c.optional else c for c in _public(WorkerSample)),
    ),
    Table(
        name="cache",
        meaning="One row for each result that the scheduler kept in memory.",
        columns=(
            _RUN,
            _KEY,
            _PREFIX,
            derived(
                "metric", "number", "Its size, in bytes or the metric that was asked for.", optional=True
            ),
            derived("enter_s", "number", "When it came.", unit="s", is_time=True),
            derived(
                "exit_s",
                "number",
                "When it left; unknown on a cluster, where nobody tells (see `holdings`).",
                unit="s",
                optional=True,
                is_time=True,
            ),
        ),
    ),
    Table(
        name="holdings",
        meaning="What workers of a cluster were seen to hold of each group, from a moment on.",
        columns=(
            shown(HeldRows, "time", name="time_s"),
            shown(HeldRows, "run"),
            _PREFIX,
            _GROUP,
            shown(HeldRows, "n_keys"),
            shown(HeldRows, "nbytes"),
            shown(HeldRows, "n_unsized"),
        ),
    ),
    Table(
        name="dependencies",
        meaning="One row for each result that a task needs.",
        columns=(_RUN, _KEY, derived("dependency", "text", "The key of what it needs.")),
    ),
    Table(
        name="messages",
        meaning="What was dropped, restored or estimated.",
        columns=_public(Message),
    ),
)

TABLES: Mapping[str, Table] = {table.name: table for table in _DECLARED}
"""The tables of a recording, by name."""


def _texts(values: Sequence[object]) -> NDArray[np.object_]:
    column = np.empty(len(values), object)
    column[:] = values
    return column


def _none_to_nan(values: Sequence[float | None], zero_s: float = 0.0) -> NDArray[np.float64]:
    return np.array([np.nan if v is None else v - zero_s for v in values], np.float64)


def _of_records(columns: Sequence[Column], records: Sequence[object], zero_s: float) -> Columns:
    return {c.name: _values(c, [getattr(r, c.name) for r in records], zero_s) for c in columns}


def _values(column: Column, values: list[Any], zero_s: float) -> NDArray[Any]:
    if column.kind == "number":
        return _none_to_nan(values, zero_s if column.is_time else 0.0)
    if column.kind == "texts":
        values = ["; ".join(texts) for texts in values]
    # Nobody knows how many tasks other clients will have.
    return np.array(values, column.dtype) if None not in values else _texts(values)


def _runs(recording: Recording) -> Columns:
    columns = _of_records(TABLES["runs"].columns, recording.runs, recording.zero_s)
    n_tasks = [None if run.is_of_others else run.n_tasks for run in recording.runs]
    return {**columns, "n_tasks": _values(shown(Run, "n_tasks"), n_tasks, 0.0)}


def _key_texts(graph: GraphColumns, groups: Sequence[str]) -> NDArray[np.object_]:
    names = [groups[i] for i in graph.group.tolist()]
    return _texts(list(graph.keys.iter_text(names)))


def _tasks(recording: Recording) -> Columns:
    tasks = recording.tasks
    names = _texts([g.name for g in recording.groups])
    prefixes = _texts([g.prefix for g in recording.groups])
    group = names[tasks.group]
    lane = tasks.lane.astype(np.int64)
    return {
        "run": tasks.run.astype(np.int64),
        "key": _texts(list(tasks.keys.iter_text(group.tolist()))),
        "prefix": prefixes[tasks.group],
        "group": group,
        "lane": lane,
        "worker": _texts([n.worker for n in recording.lanes])[lane],
        "thread": np.array([n.thread for n in recording.lanes], np.int64)[lane],
        "start_s": tasks.start,
        "stop_s": np.where(tasks.status == RUNNING, np.nan, tasks.stop),
        "cpu_s": tasks.cpu.astype(np.float64),
        "status": _texts(STATUSES)[tasks.status],
        "observed_by": _texts(OBSERVED_BY)[tasks.observed],
        "result_bytes": tasks.size,
        "error": _errors(tasks),
    }


def _errors(tasks: TaskBlock) -> NDArray[np.object_]:
    column = np.full(len(tasks), None, object)
    for row, text in tasks.errors.items():
        column[row] = text
    return column


def _activities(recording: Recording) -> Columns:
    tasks, columns = _tasks(recording), recording.activities
    rows, n = columns.rows, len(tasks["run"])
    source = _texts([source or None for source in columns.sources])[rows.source]
    has_failed = rows.kind == FAILED_ATTEMPT
    error = np.full(len(rows), None, object)
    error[has_failed], source[has_failed] = source[has_failed], None
    start = rows.start - recording.zero_s
    return {
        "run": np.concatenate([tasks["run"], rows.run.astype(np.int64)]),
        "key": np.concatenate([tasks["key"], _activity_keys(recording)]),
        "lane": np.concatenate([tasks["lane"], rows.lane.astype(np.int64)]),
        "activity": np.concatenate([_texts(["compute"] * n), _texts(ACTIVITIES)[rows.kind]]),
        "start_s": np.concatenate([tasks["start_s"], start]),
        "stop_s": np.concatenate([tasks["stop_s"], start + rows.duration]),
        "source": np.concatenate([_texts([None] * n), source]),
        "nbytes": np.concatenate([np.full(n, np.nan), rows.nbytes]),
        "error": np.concatenate([tasks["error"], error]),
    }


def _activity_keys(recording: Recording) -> NDArray[np.object_]:
    rows, groups = recording.activities.rows, [g.name for g in recording.groups]
    keys = np.full(len(rows), None, object)
    for run in np.unique(rows.run).tolist():
        mine = np.flatnonzero(rows.run == run)
        graph, tasks = recording.graphs[run], rows.task[mine]
        names = [groups[i] for i in graph.group[tasks].tolist()]
        keys[mine] = _texts(list(graph.keys.take(tasks).iter_text(names)))
    return keys


def _transfers(recording: Recording) -> Columns:
    logged = [*recording.transfers, *_unlogged(recording)]
    return _of_records(TABLES["transfers"].columns, logged, recording.zero_s)


def _unlogged(recording: Recording) -> Iterator[Transfer]:
    """Yield what workers received of which they gave out no log."""
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


def _resources(recording: Recording) -> Columns:
    rows = recording.resources
    n = len(rows)
    limit = recording.metadata.get("memory_limit_bytes")
    worker = recording.metadata.get("pid")
    return {
        "time_s": rows.time - recording.zero_s,
        "worker": _texts([None if worker is None else str(worker)] * n),
        "cpu_percent": rows.cpu_percent,
        "rss_bytes": rows.rss_bytes,
        "limit_bytes": np.full(n, np.nan if limit is None else float(str(limit))),
        "n_processes": rows.n_processes.astype(np.int64),
        "gap": rows.gap.astype(bool),
    }


def _workers(recording: Recording) -> Columns:
    return _of_records(TABLES["workers"].columns, recording.workers, recording.zero_s)


def _cache(recording: Recording) -> Columns:
    stops = {r.run: recording.now_s if r.stop_s is None else r.stop_s for r in recording.runs}
    on_cluster = {r.run for r in recording.runs if r.is_on_cluster}
    groups = [g.name for g in recording.groups]
    prefixes = _texts([g.prefix for g in recording.groups])
    parts: dict[str, list[NDArray[np.generic]]] = {
        c: [] for c in ("run", "key", "prefix", "metric", "enter", "exit")
    }
    for run, graph in recording.graphs.items():
        enter = graph.enter_times()
        held = np.argsort(enter, kind="stable")[: np.count_nonzero(~np.isnan(enter))]
        parts["run"].append(np.full(len(held), run, np.int64))
        parts["key"].append(_key_texts(graph, groups)[held])
        parts["prefix"].append(prefixes[graph.group][held])
        parts["metric"].append(_metric(recording, run, graph)[held])
        parts["enter"].append(enter[held] - recording.zero_s)
        exits = np.full(len(held), np.nan) if run in on_cluster else graph.exit_times(stops[run])[held]
        parts["exit"].append(exits - recording.zero_s)
    return {
        "run": _join(parts["run"], np.int64),
        "key": _join(parts["key"], object),
        "prefix": _join(parts["prefix"], object),
        "metric": _join(parts["metric"], np.float64),
        "enter_s": _join(parts["enter"], np.float64),
        "exit_s": _join(parts["exit"], np.float64),
    }


def _holdings(recording: Recording) -> Columns:
    rows = recording.holdings
    return {
        "time_s": rows.time - recording.zero_s,
        "run": rows.run.astype(np.int64),
        "prefix": _texts([g.prefix for g in recording.groups])[rows.group],
        "group": _texts([g.name for g in recording.groups])[rows.group],
        "n_keys": rows.n_keys.astype(np.int64),
        "nbytes": rows.nbytes,
        "n_unsized": rows.n_unsized.astype(np.int64),
    }


def _metric(recording: Recording, run: int, graph: GraphColumns) -> NDArray[np.float64]:
    if recording.metadata.get("metric") == "count":
        return np.ones(len(graph.group))
    if graph.values is not None:
        return graph.values.astype(np.float64)
    sizes = np.full(len(graph.group), np.nan)
    sizes[graph.data] = graph.data_sizes
    for block in recording.blocks:
        if block.run == run:
            sizes[block.task] = block.sizes()
    return sizes


def _dependencies(recording: Recording) -> Columns:
    groups = [g.name for g in recording.groups]
    runs, keys, dependencies = [], [], []
    for run, graph in recording.graphs.items():
        texts = _key_texts(graph, groups)
        runs.append(np.full(len(graph.edges), run, np.int64))
        keys.append(texts[graph.edge_sources()])
        dependencies.append(texts[graph.edges])
    return {
        "run": _join(runs, np.int64),
        "key": _join(keys, object),
        "dependency": _join(dependencies, object),
    }


def _join(parts: Sequence[NDArray[np.generic]], dtype: type) -> NDArray[np.generic]:
    return np.concatenate([np.empty(0, dtype), *parts])


def _messages(recording: Recording) -> Columns:
    return _of_records(TABLES["messages"].columns, recording.messages, recording.zero_s)


_BUILDERS: Mapping[str, Callable[[Recording], Columns]] = {
    "runs": _runs,
    "tasks": _tasks,
    "activities": _activities,
    "transfers": _transfers,
    "resources": _resources,
    "workers": _workers,
    "cache": _cache,
    "holdings": _holdings,
    "dependencies": _dependencies,
    "messages": _messages,
}


def build_table(recording: Recording, name: str) -> Columns:
    """Return a table of `TABLES` with the columns that are declared there, in that order."""
    columns = _BUILDERS[name](recording)
    return {c.name: columns[c.name] for c in TABLES[name].columns}
