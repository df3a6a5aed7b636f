"""What a file says, held against itself: a recording that was loaded can be read without surprises."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taskscope.errors import DamagedFileError
from taskscope.export.schema import METADATA, RECORDS
from taskscope.model.columns import SCHEDULER_OBSERVED, GraphColumns, RowBlock, split_flags
from taskscope.model.keys import TEXT, KeyBlock
from taskscope.model.recording import RecordedData
from taskscope.model.records import OBSERVED_BY, STATUSES, Run
from taskscope.model.resources import ResourceRows
from taskscope.schema import Column, Kind, columns_of

__all__ = [
    "check_columns",
    "check_keys",
    "check_metadata",
    "check_record",
    "check_recording",
    "encodable",
    "require",
    "seconds",
    "whole_number",
]

_MAX_DIMS = 200
_MAX_DEPTH = 20
_MOST: Mapping[str, float] = {"s": 3e9, "bytes": 2.0**80, "percent": 1e9}
"""What numbers of a unit stay below: 95 years, a trillion terabytes, ten million cores.

Whatever is computed of these is finite, and three times together are nanoseconds in 64 bits.
"""
_MOST_OF_ANY = 1e290
_MEASURED = ("enter", "data_sizes", "values")


def require(condition: object, expectation: str) -> None:
    """Raise unless the condition holds.

    Raises
    ------
    DamagedFileError
        Naming the expectation.
    """
    if not condition:
        raise DamagedFileError(f"it contradicts itself: {expectation}")


def seconds(value: object, name: str) -> float:
    """Return a possible number of seconds."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    require(is_number and abs(value) < _MOST["s"], f"{name} must be a number of seconds")  # type: ignore[arg-type]  # it is one
    return float(value)  # type: ignore[arg-type]  # it is a number


def whole_number(value: object, name: str) -> int:
    """Return a whole number that a column can hold."""
    require(type(value) is int and 0 <= value < 2**31, f"{name} must be a whole number from 0 on")
    assert isinstance(value, int)
    return value


def check_record(table: str, row: object) -> object:
    """Return the record that a row of a small table describes."""
    require(table in RECORDS, f"a table {table!r} is not known")
    declared = RECORDS[table]
    columns = {c.name: c for c in columns_of(declared)}
    required = {f.name for f in fields(declared) if f.default is MISSING}
    is_row = isinstance(row, dict) and required <= row.keys() <= columns.keys()
    require(is_row, f"rows of {table} must have {list(columns)}")
    assert isinstance(row, dict)
    for name, value in row.items():
        require(_is_allowed(columns[name], value), f"{name} of {table} cannot be {reprlib.repr(value)}")
    record: object = declared(**{name: encodable(value) for name, value in row.items()})
    if isinstance(record, Run):
        _check_run(record)
    return record


_TYPES: Mapping[Kind, tuple[type, ...]] = {
    "whole number": (int,),
    "number": (int, float),
    "text": (str,),
    "yes or no": (bool,),
    "texts": (list,),
}
"""What JSON has for each kind of value."""


def _is_allowed(column: Column, value: object) -> bool:
    if value is None:
        return column.optional
    if type(value) not in _TYPES[column.kind]:
        return False
    if isinstance(value, list):
        return all(isinstance(text, str) for text in value)
    if isinstance(value, int | float):
        return abs(value) < (2**63 if column.kind == "whole number" else _most(column))
    return not column.choices or value in column.choices


def encodable(value: object) -> object:
    """Return a value in whose texts half a character is escaped, as it is in keys and errors."""
    if isinstance(value, list):
        return [encodable(text) for text in value]
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def _most(column: Column) -> float:
    return _MOST.get(column.unit, _MOST_OF_ANY)


def _check_run(run: Run) -> None:
    whole_number(run.run, "the number of a run")
    require(run.execution_count is None or 0 < run.execution_count < 2**53, "a cell is counted from 1")
    require(abs(run.n_tasks) < 2**53, "the number of tasks must be possible")
    require(run.n_workers is None or abs(run.n_workers) < 2**31, "the number of workers must be possible")
    require(run.source_crc is None, "the source of a cell stays where it ran")


def check_metadata(metadata: object) -> dict[str, Any]:
    """Return metadata whose values are what JSON has, and those that are computed with are numbers."""
    require(isinstance(metadata, dict), "metadata must be an object")
    assert isinstance(metadata, dict)
    for name, kinds in METADATA.items():
        value = metadata.get(name)
        require(
            value is None or (type(value) in kinds and 0 <= value < 2**53),
            f"{name} of the metadata cannot be {reprlib.repr(value)}",
        )
    _check_json(metadata, _MAX_DEPTH)
    return metadata


def _check_json(value: object, depth: int) -> None:
    require(depth > 0, f"metadata are nested at most {_MAX_DEPTH} deep")
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            _check_json(inner, depth - 1)
    elif isinstance(value, int | float):
        # Where memory has no limit, some systems say 2**63.
        most = _MOST_OF_ANY if isinstance(value, float) else 2**64
        require(abs(value) < most, "numbers of the metadata must be possible")


def check_columns(declared: type, columns: Mapping[str, NDArray[Any] | None]) -> None:
    """Raise unless the numbers in columns are such as their class declares.

    Raises
    ------
    DamagedFileError
        If not.
    """
    for column in columns_of(declared):
        values = columns.get(column.name)
        if values is None or values.dtype.kind != "f":
            continue
        is_allowed = np.abs(values) < _most(column)
        if column.optional:
            is_allowed |= np.isnan(values)
        what = "a time" if column.unit == "s" else column.name
        require(is_allowed.all(), f"{what} must be possible")


def check_keys(keys: KeyBlock) -> None:
    """Raise unless the parts of the keys fit each other."""
    is_text = keys.dims == TEXT
    require((is_text | (keys.dims <= _MAX_DIMS)).all(), f"a key has at most {_MAX_DIMS} integers")
    require(int(keys.dims[~is_text].sum(dtype=np.int64)) == len(keys.ints), "every integer belongs to a key")
    require(int(is_text.sum()) == len(keys.texts), "every text belongs to a key")


def check_recording(recording: RecordedData) -> None:
    """Raise unless groups, lanes, runs and tasks that are referred to are there.

    Raises
    ------
    DamagedFileError
        If not.
    """
    for name in ("groups", "lanes"):
        ids = [record.id for record in getattr(recording, name)]
        require(ids == list(range(len(ids))), f"{name} must be numbered by place")
    require(all(abs(lane.thread) < 2**63 for lane in recording.lanes), "a thread must be possible")
    prefixes = {group.prefix for group in recording.groups}
    require({total.prefix for total in recording.totals} <= prefixes, "totals are of groups")
    known = {run.run for run in recording.runs}
    require(recording.graphs.keys() <= known, "a graph belongs to a run")
    check_columns(ResourceRows, recording.resources.arrays())
    counted = (recording.resources.n_processes, recording.resources.gap)
    require(all((np.abs(c) < 2**31).all() for c in counted), "the number of processes must be possible")
    for graph in recording.graphs.values():
        _check_graph(graph, len(recording.groups))
    require({block.run for block in recording.blocks} <= recording.graphs.keys(), "tasks have a graph")
    for block in recording.blocks:
        _check_rows(block, len(recording.graphs[block.run].group), len(recording.lanes))
        require(not np.isin(block.task, recording.graphs[block.run].data).any(), "what ran is no data")


def _check_graph(graph: GraphColumns, n_groups: int) -> None:
    n = len(graph.group)
    check_keys(graph.keys)
    lengths = {len(graph.keys), len(graph.n_dependencies), len(graph.enter)}
    lengths |= set() if graph.values is None else {len(graph.values)}
    require(lengths == {n}, "columns of a graph must be equally long")
    require(_below(graph.group, n_groups), "a group must be known")
    require(int(graph.n_dependencies.sum(dtype=np.int64)) == len(graph.edges), "dependencies must add up")
    require(
        all(_below(a, n) for a in (graph.edges, graph.kept, graph.data, graph.spared)),
        "a key must be in its graph",
    )
    require(len(graph.data) == len(graph.data_sizes), "data must have sizes")
    require(len(np.unique(graph.data)) == len(graph.data), "a key is data once")
    require(all(0 <= task < n for task in graph.errors), "an error must be of a task")
    check_columns(
        GraphColumns,
        {
            name: getattr(graph, name)
            for name in ("enter", "data_sizes", "values")
            if getattr(graph, name) is not None
        },
    )


def _check_rows(block: RowBlock, n_keys: int, n_lanes: int) -> None:
    columns = (block.task, block.start, block.duration, block.cpu, block.size, block.lane, block.flags)
    require(len({len(column) for column in columns}) == 1, "columns of tasks must be equally long")
    require(_below(block.task, n_keys), "a task must be in its graph")
    require(_below(block.lane, n_lanes), "a lane must be known")
    require((block.flags < SCHEDULER_OBSERVED * len(OBSERVED_BY)).all(), "who observed a task must be known")
    require((split_flags(block.flags)[0] < len(STATUSES)).all(), "a status must be known")
    check_columns(RowBlock, block.arrays())
    require((block.duration >= 0).all(), "a time must be possible")


def _below(numbers: NDArray[Any], limit: int) -> bool:
    return bool(not len(numbers) or (numbers.min() >= 0 and numbers.max() < limit))
