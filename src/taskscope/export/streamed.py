"""Tasks as they are written while recording: each names its own key, for its graph is not known yet."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taskscope.export.checks import check_keys, encodable, require, seconds, whole_number
from taskscope.export.pack import keys_of, unpack
from taskscope.export.schema import KEYS, TASK
from taskscope.model.columns import GraphColumns, RowBlock, narrow_sizes, round_down_f4
from taskscope.model.keys import TEXT, KeyBlock
from taskscope.model.records import STATUSES

__all__ = ["StreamedTasks"]

_Columns = Mapping[str, NDArray[Any]]
_INTERRUPTED = STATUSES.index("interrupted")


class StreamedTasks:
    """Gathers such tasks, and makes a graph without dependencies for each run."""

    def __init__(self) -> None:
        self._parts: list[tuple[_Columns, KeyBlock]] = []
        self._running: list[tuple[int, int, int, str, float]] = []

    def add(self, content: bytes) -> None:
        """Take tasks that have ended."""
        _, columns = unpack(content, TASK)
        require(columns.keys() == TASK.keys(), "tasks have all columns")
        keys = keys_of(columns)
        check_keys(keys)
        require({len(columns[c]) for c in TASK.keys() - KEYS.keys()} == {len(keys)}, "a task has one key")
        self._parts.append((columns, keys))
        # One of these may have been in flight when that was last noted.
        self._running = []

    def set_running(self, rows: object) -> None:
        """Take the tasks that are in flight now; those of which the worker is unknown have no lane."""
        require(isinstance(rows, list), "tasks in flight are a list")
        assert isinstance(rows, list)
        self._running = [task for row in rows if (task := _running_task(row)) is not None]

    def tables(
        self, now_s: float, errors: Mapping[int, Mapping[int, str]], known: AbstractSet[int]
    ) -> tuple[dict[int, GraphColumns], list[RowBlock]]:
        """Return graphs and tasks by run; what is in flight at the end was interrupted `now_s`.

        `errors` are what tasks raised, by run and by the place of the task among those of its run;
        `known` are the runs there are.
        """
        parts = [*self._parts, *([self._interrupted(now_s)] if self._running else [])]
        runs = np.unique(np.concatenate([np.empty(0, np.int32), *(c["run"] for c, _ in parts)]))
        graphs, blocks = {}, []
        require(set(runs.tolist()) <= known, "tasks are of a run")
        for run in runs.tolist():
            mine = [(c, k, np.flatnonzero(c["run"] == run)) for c, k in parts]
            columns = {
                name: np.concatenate([c[name][rows] for c, _, rows in mine])
                for name in ("group", "lane", "start", "duration", "cpu", "flags")
            }
            sizes = np.concatenate([_sizes(c["size"])[rows] for c, _, rows in mine])
            keys = KeyBlock.concat([k.take(rows) for _, k, rows in mine])
            graphs[run] = _graph(keys, columns.pop("group"), dict(errors.get(run, {})))
            task = np.arange(len(keys), dtype=np.int32)
            blocks.append(RowBlock(run, task, size=narrow_sizes(sizes), **columns))
        return graphs, blocks

    def _interrupted(self, now_s: float) -> tuple[_Columns, KeyBlock]:
        run, lane, group, texts, start = zip(*self._running, strict=True)
        n = len(texts)
        started = np.array(start, np.float64)
        columns: _Columns = {
            "run": np.array(run, np.int32),
            "group": np.array(group, np.uint32),
            "lane": np.array(lane, np.uint16),
            "start": started,
            "duration": round_down_f4(np.maximum(now_s - started, 0.0)),
            "cpu": np.full(n, np.nan, np.float32),
            "size": np.full(n, np.nan),
            "flags": np.full(n, _INTERRUPTED, np.uint8),
        }
        return columns, KeyBlock(np.full(n, TEXT, np.uint8), np.empty(0, np.int32), texts)


def _running_task(row: object) -> tuple[int, int, int, str, float] | None:
    require(isinstance(row, list) and len(row) == 5, "a task in flight has five fields")
    assert isinstance(row, list)
    run, lane, group, text, start = row
    if lane is None:
        return None
    require(isinstance(text, str), "a key is text")
    require(whole_number(lane, "a lane") < 2**16, "a lane must be known")
    return (
        whole_number(run, "a run"),
        lane,
        whole_number(group, "a group"),
        str(encodable(text)),
        seconds(start, "a start"),
    )


def _sizes(values: NDArray[Any]) -> NDArray[np.float64]:
    if values.dtype == np.float64:
        return values
    return np.where(values == 2**32 - 1, np.nan, values)


def _graph(keys: KeyBlock, group: NDArray[np.uint32], errors: dict[int, str]) -> GraphColumns:
    n = len(keys)
    nothing = np.empty(0, np.int32)
    return GraphColumns(
        keys=keys,
        group=group,
        n_dependencies=np.zeros(n, np.uint8),
        edges=nothing,
        enter=np.full(n, np.nan),
        enter_zero=0.0,
        kept=nothing,
        data=nothing,
        data_sizes=np.empty(0),
        values=None,
        errors=errors,
        known=False,
    )
