"""Make `CacheData` of a recording, and the columns that a chart needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.cache_usage import Held
from taskscope.analysis.colours import prefix_colours
from taskscope.diagnostics.results import CacheData, Results
from taskscope.diagnostics.tasktext import TaskText, graph_texts
from taskscope.diagnostics.watch import WatchedRun
from taskscope.model.recording import RecordedData

__all__ = ["cache_data", "held_results"]


def cache_data(
    recording: RecordedData, runs: Mapping[int, WatchedRun], origin: float, since_s: float, *, counts: bool
) -> Results[CacheData]:
    """Return what was in the scheduler's cache during these runs, by when it left.

    Parameters
    ----------
    recording, runs, origin, since_s
        As of `task_data`.
    counts
        Whether the metric is 1 for every result, else it is what was measured.
    """
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
    recording: RecordedData, runs: Mapping[int, WatchedRun], since_s: float, *, counts: bool
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
