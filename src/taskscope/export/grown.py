"""Graphs of a file that was written while recording, put together from what was appended."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taskscope.export.checks import check_columns, require, seconds, whole_number
from taskscope.export.pack import keys_of, unpack
from taskscope.export.schema import GRAPH, KEYS, LANDED, InFlight
from taskscope.model.columns import (
    SCHEDULER_OBSERVED,
    GraphColumns,
    RowBlock,
    narrow_sizes,
    narrow_times,
    round_down_f4,
)
from taskscope.model.records import INTERRUPTED

__all__ = ["GrownGraphs", "rows_in_flight"]

_Columns = Mapping[str, NDArray[Any]]
_NAMED = {*KEYS, "group", "data", "data_sizes"}
_LINKED = {"n_dependencies", "edges"}
_PARTS = tuple(a | b | c for a in (set(), _NAMED) for b in (set(), _LINKED) for c in (set(), {"kept"}))


class GrownGraphs:
    """Takes parts of graphs in order, and gives the graphs of as many as came."""

    def __init__(self) -> None:
        self._heads: dict[int, dict[str, Any]] = {}
        self._columns: dict[int, dict[str, list[NDArray[Any]]]] = defaultdict(lambda: defaultdict(list))
        self._landed: dict[int, list[_Columns]] = defaultdict(list)

    def add(self, content: bytes) -> None:
        """Take the next part of a graph."""
        head, columns = unpack(content, GRAPH)
        require(columns.keys() in _PARTS, "a part of a graph has keys, dependencies, or what is kept")
        run = whole_number(head.get("run"), "the number of a run")
        self._heads[run] = head
        for name, values in columns.items():
            self._columns[run][name].append(values)

    def land(self, content: bytes) -> None:
        """Take what has landed, or does not have to."""
        head, columns = unpack(content, LANDED)
        require(
            "task" in columns and len(columns) == 2,
            "what landed has a time or a value, or does not have to run",
        )
        require(len({len(c) for c in columns.values()}) == 1, "columns of landings must be equally long")
        check_columns(GraphColumns, columns)
        self._landed[whole_number(head.get("run"), "the number of a run")].append(columns)

    def graphs(self, errors: Mapping[int, Mapping[int, str]]) -> Iterator[tuple[int, GraphColumns]]:
        """Yield each run with its graph; `errors` are what tasks raised, by run and number.

        Of a graph of which not all was written, dependencies and what was held are not known.

        Raises
        ------
        DamagedFileError
            If parts contradict each other.
        """
        for run, head in self._heads.items():
            yield run, self._graph(run, head, dict(errors.get(run, {})))

    def _graph(self, run: int, head: Mapping[str, Any], errors: dict[int, str]) -> GraphColumns:
        parts = self._columns[run]
        columns = {name: _joined(parts.get(name, ()), GRAPH[name][0]) for name in _NAMED | _LINKED | {"kept"}}
        keys = keys_of({name: columns[name] for name in KEYS})
        n, linked = len(keys), columns["n_dependencies"]
        n_keys = whole_number(head.get("n_keys"), "the number of keys")
        known = n == len(linked) == n_keys == head.get("settled")
        start = seconds(head.get("start"), "the start of a run")
        require(len(columns["data"]) == len(columns["data_sizes"]), "data must have sizes")
        enter, values, spared = self._landings(run, n)
        nothing = np.empty(0, np.int32)
        if known:
            require(_below(columns["data"], n), "a key must be in its graph")
            enter[columns["data"]] = start
        return GraphColumns(
            keys=keys,
            group=columns["group"],
            n_dependencies=_narrow(linked) if known else np.zeros(n, np.uint8),
            edges=columns["edges"] if known else nothing,
            enter=narrow_times(enter, start) if known else np.full(n, np.nan),
            enter_zero=start,
            kept=columns["kept"] if known else nothing,
            data=columns["data"],
            data_sizes=columns["data_sizes"],
            values=values if known else None,
            spared=np.flatnonzero(spared).astype(np.int32),
            errors=errors,
            known=known,
        )

    def _landings(
        self, run: int, n: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None, NDArray[np.bool_]]:
        enter, values, spared = np.full(n, np.nan), np.full(n, np.nan), np.zeros(n, bool)
        valued = False
        for columns in self._landed[run]:
            require(_below(columns["task"], n), "what landed must be in its graph")
            if "enter" in columns:
                enter[columns["task"]] = columns["enter"]
            elif "spared" in columns:
                spared[columns["task"]] = columns["spared"] != 0
            else:
                values[columns["task"]] = columns["values"]
                valued = True
        return enter, values if valued else None, spared


def rows_in_flight(rows: object, blocks: Sequence[RowBlock], now_s: float) -> Iterator[RowBlock]:
    """Yield tasks that were in flight `now_s` as interrupted then, but those that have ended since.

    Raises
    ------
    DamagedFileError
        If `rows` are not `taskscope.export.schema.InFlight`.
    """
    require(isinstance(rows, list), "tasks in flight are a list")
    assert isinstance(rows, list)
    by_run: dict[int, list[InFlight]] = defaultdict(list)
    for row in map(_in_flight, rows):
        by_run[row[0]].append(row)
    ended: dict[int, list[NDArray[np.int32]]] = defaultdict(list)
    for other in blocks:
        ended[other.run].append(other.task)
    for run, tasks in by_run.items():
        block = _interrupted(run, tasks, now_s)
        yield block.part(~np.isin(block.task, _joined(ended[run], "<i4")))


def _in_flight(row: object) -> InFlight:
    require(isinstance(row, list) and len(row) == 5, "a task in flight has five fields")
    assert isinstance(row, list)
    run, lane, task, start, flags = row
    require(whole_number(lane, "a lane") < 2**16, "a lane must be known")
    require(whole_number(flags, "flags") < 2**8, "flags must be known")
    return (
        whole_number(run, "a run"),
        lane,
        whole_number(task, "a task"),
        seconds(start, "a start"),
        flags,
    )


def _interrupted(run: int, tasks: Sequence[InFlight], now_s: float) -> RowBlock:
    _, lane, task, start, flags = (np.array(column) for column in zip(*tasks, strict=True))
    n = len(tasks)
    observed = flags.astype(np.uint8) & SCHEDULER_OBSERVED
    return RowBlock(
        run,
        task.astype(np.int32),
        start.astype(np.float64),
        round_down_f4(np.maximum(now_s - start, 0.0)),
        np.full(n, np.nan, np.float32),
        narrow_sizes(np.full(n, np.nan)),
        lane.astype(np.uint16),
        (observed | INTERRUPTED).astype(np.uint8),
    )


def _joined(parts: Sequence[NDArray[Any]], kind: str) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.empty(0, kind)


def _narrow(counts: NDArray[Any]) -> NDArray[Any]:
    return counts.astype(np.uint8) if not len(counts) or counts.max() < 256 else counts


def _below(numbers: NDArray[Any], limit: int) -> bool:
    return bool(((numbers >= 0) & (numbers < limit)).all())
