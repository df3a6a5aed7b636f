"""The tables of a recording, as columns.

Times are seconds after `Recording.started_at`; what is not known is ``NaN`` or ``None``, never 0.

============== =========================================================================================
table          columns
============== =========================================================================================
runs           run, label, cell, scheduler, n_workers, n_tasks, start_s, stop_s, status, error
tasks          run, key, prefix, group, lane, worker, thread, start_s, stop_s, cpu_s, status, observed_by,
               result_bytes, error
activities     run, key, lane, activity, start_s, stop_s, source, nbytes, error
transfers      worker, peer, direction, start_s, stop_s, nbytes, compressed_bytes, n_keys, keys
resources      time_s, worker, cpu_percent, rss_bytes, limit_bytes, n_processes, gap
workers        time_s, worker, name, n_threads, n_executing, cpu_percent, rss_bytes, managed_bytes,
               unmanaged_bytes, spilled_bytes, limit_bytes
cache          run, key, prefix, metric, enter_s, exit_s
holdings       time_s, run, prefix, group, n_keys, nbytes, n_unsized
dependencies   run, key, dependency
messages       time_s, level, text
============== =========================================================================================

A key that is a string stands as it is, any other as its ``repr``. The `n_tasks` of a run leave out those that
did not have to run, because a cluster had their results, or those of what needs them. Each task has a row of
activities for its computing; those of a cluster have others for what workers did besides, and for attempts
that failed and were followed by another. A transfer is told by the worker that
received it and by the one that sent it; where workers do not give out their logs, there are the received ones
only, without their bytes. On a cluster nobody tells when a result was let go, so `exit_s` is unknown; what
workers were seen to hold of each group from a moment on is in holdings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from taskscope.model.activities import ACTIVITIES, FAILED_ATTEMPT, Transfer
from taskscope.model.columns import GraphColumns
from taskscope.model.records import OBSERVED_BY, RUNNING, STATUSES, TaskBlock
from taskscope.model.workers import WorkerSample

if TYPE_CHECKING:
    from taskscope.model.recording import Recording

__all__ = ["TABLES", "Columns"]

Columns: TypeAlias = Mapping[str, "NDArray[np.generic] | list[object]"]


def _texts(values: Sequence[object]) -> NDArray[np.object_]:
    column = np.empty(len(values), object)
    column[:] = values
    return column


def _none_to_nan(values: Sequence[float | None], zero_s: float = 0.0) -> NDArray[np.float64]:
    return np.array([np.nan if v is None else v - zero_s for v in values], np.float64)


def _runs(recording: Recording) -> Columns:
    runs, zero = recording.runs, recording.zero_s
    return {
        "run": np.array([r.run for r in runs], np.int64),
        "label": _texts([r.label for r in runs]),
        "cell": _texts([r.cell for r in runs]),
        "scheduler": _texts([r.scheduler for r in runs]),
        "n_workers": _texts([r.n_workers for r in runs]),
        "n_tasks": _texts([None if r.is_of_others else r.n_tasks for r in runs])
        if any(r.is_of_others for r in runs)
        else np.array([r.n_tasks for r in runs], np.int64),
        "start_s": _none_to_nan([r.start_s for r in runs], zero),
        "stop_s": _none_to_nan([r.stop_s for r in runs], zero),
        "status": _texts([r.status for r in runs]),
        "error": _texts([r.error for r in runs]),
    }


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
    zero = recording.zero_s
    return {
        "worker": _texts([t.worker for t in logged]),
        "peer": _texts([t.peer or None for t in logged]),
        "direction": _texts([t.direction for t in logged]),
        "start_s": np.array([t.start_s - zero for t in logged], np.float64),
        "stop_s": np.array([t.stop_s - zero for t in logged], np.float64),
        "nbytes": _none_to_nan([t.nbytes for t in logged]),
        "compressed_bytes": _none_to_nan([t.compressed_bytes for t in logged]),
        "n_keys": np.array([t.n_keys for t in logged], np.int64),
        "keys": _texts(["; ".join(t.keys) for t in logged]),
    }


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
            worker, columns.sources[source], "incoming", start, start + duration, None, None, 0, ()
        )


def _resources(recording: Recording) -> Columns:
    rows = recording.resources
    n = len(rows)
    limit = recording.metadata.get("memory_limit_bytes")
    worker = recording.metadata.get("pid")
    return {
        "time_s": rows[:, 0] - recording.zero_s,
        "worker": _texts([None if worker is None else str(worker)] * n),
        "cpu_percent": rows[:, 1],
        "rss_bytes": rows[:, 2],
        "limit_bytes": np.full(n, np.nan if limit is None else float(str(limit))),
        "n_processes": rows[:, 3].astype(np.int64),
        "gap": rows[:, 4].astype(bool),
    }


def _workers(recording: Recording) -> Columns:
    rows, zero = recording.workers, recording.zero_s
    columns: dict[str, NDArray[np.generic] | list[object]] = {
        "time_s": np.array([row.time_s - zero for row in rows], np.float64),
        "worker": _texts([row.worker for row in rows]),
        "name": _texts([row.name for row in rows]),
        "n_threads": np.array([row.n_threads for row in rows], np.int64),
    }
    measured = [field.name for field in fields(WorkerSample) if field.name not in columns]
    return columns | {name: _none_to_nan([getattr(row, name) for row in rows]) for name in measured}


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
    return {
        "time_s": _none_to_nan([m.time_s for m in recording.messages], recording.zero_s),
        "level": _texts([m.level for m in recording.messages]),
        "text": _texts([m.text for m in recording.messages]),
    }


TABLES: Mapping[str, Callable[[Recording], Columns]] = {
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
