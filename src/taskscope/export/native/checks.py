"""What a file says, held against itself: a recording that was loaded can be read without surprises."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taskscope.codec import Section
from taskscope.errors import DamagedFileError
from taskscope.model.recording import RecordedData
from taskscope.model.streams import MAX_KEY_INTS
from taskscope.model.tables.columns import GraphColumns, RowBlock
from taskscope.model.tables.records import BEFORE, Run
from taskscope.model.tables.stacks import CLIENT_RUN, LineRows
from taskscope.schema import Table, columns_of

_MAX_DEPTH = 20
_MOST: Mapping[str, float] = {"s": 3e9, "bytes": 2.0**80, "percent": 1e9}
"""What numbers of a unit stay below: 95 years, a trillion terabytes, ten million cores.

Whatever is computed of these is finite, and three times together are nanoseconds in 64 bits.
"""
_MOST_OF_ANY = 1e290
_METADATA: Mapping[str, tuple[type, ...]] = {
    "dt_s": (int, float),
    "interrupted": (bool,),
    "memory_limit_bytes": (int,),
    "n_cores": (int, float),
    "pid": (int,),
}
"""What those metadata are that more is made of than text; any of them may be None or missing."""

_COUNTS = {"n_keys", "n_unsized", "count"}
"""Columns that are kept in 32 bits."""
_SIGNED = {"thread", "line", *(f"i{i}" for i in range(MAX_KEY_INTS))}
"""Columns of whole numbers that may be less than 0."""


def require(condition: object, expectation: str) -> None:
    """Raise `DamagedFileError` with the expectation unless the condition holds."""
    if not condition:
        raise DamagedFileError(f"it contradicts itself: {expectation}")


def check_head(head: dict[str, Any]) -> dict[str, Any]:
    """Return what the first frame says, if it can be."""
    zero_s = head.get("zero_s")
    is_number = isinstance(zero_s, int | float) and not isinstance(zero_s, bool)
    require(is_number and abs(zero_s) < _MOST["s"], "zero_s must be a number of seconds")  # type: ignore[arg-type]  # it is one
    try:
        started_at = datetime.fromisoformat(head["started_at"])
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedFileError(f"it does not say when it was recorded: {error}") from error
    require(started_at.tzinfo is not None, "started_at must have a time zone")
    # Any zone and any time after it can then be told.
    require(1970 < started_at.year < 3000, "started_at must be a possible date")
    require(isinstance(head.get("grows"), bool), "it says whether it was written while recording")
    return {**head, "zero_s": float(zero_s)}  # type: ignore[arg-type]  # it is a number


def check_section(table: Table, section: Section) -> None:
    """Raise unless numbers are possible; what else a column may be is checked as it is decoded."""
    for column in table.columns:
        values = section.columns[column.name]
        if column.kind == "number" and isinstance(values, np.ndarray):
            most = _MOST.get(column.unit, _MOST_OF_ANY)
            what = "a time" if column.unit == "s" else column.name
            require(_is_within(values, -most, most), f"{what} must be possible")
        elif column.kind == "whole number" and column.name not in _SIGNED and isinstance(values, np.ndarray):
            most = 2**32 if column.name in _COUNTS else 2**53
            # A client's stacks between computes are of run -1.
            least = CLIENT_RUN - 1 if column.name == "run" else -1
            require(_is_within(values, least, most), f"{column.name} must be possible")


def _is_within(values: NDArray[Any], low: float, high: float) -> bool:
    """Whether all that is known lies between these; what may be unknown was checked as it was decoded."""
    if not len(values):
        return True
    if values.strides == (0,):
        values = values[:1]
    # As numbers of Python, for the limits may be beyond those of the column's type.
    least, most = float(np.fmin.reduce(values)), float(np.fmax.reduce(values))
    return (least > low and most < high) or math.isnan(least)


def check_run(run: Run) -> Run:
    """Return a run whose numbers are possible."""
    require(0 <= run.run < 2**31, "the number of a run must be possible")
    require(run.start_s is not None, "a run has a start")
    require(run.execution_count is None or run.execution_count > 0, "a cell is counted from 1")
    require(run.n_workers is None or abs(run.n_workers) < 2**31, "the number of workers must be possible")
    took = [getattr(run, name) for name in BEFORE if name != "received_s"]
    require(all(value is None or value >= 0 for value in took), "what a compute took before is not negative")
    return run


def check_metadata(metadata: object) -> dict[str, Any]:
    """Return metadata whose values are what JSON has, and those that are computed with are numbers."""
    require(isinstance(metadata, dict), "metadata must be an object")
    assert isinstance(metadata, dict)
    for name, kinds in _METADATA.items():
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
    """Raise unless the numbers in columns are such as their class declares."""
    for column in columns_of(declared):
        values = columns.get(column.name)
        if values is None or values.dtype.kind != "f":
            continue
        most = _MOST.get(column.unit, _MOST_OF_ANY)
        is_known = column.optional or not np.isnan(values.min(initial=0.0))
        what = "a time" if column.unit == "s" else column.name
        require(is_known and _is_within(values, -most, most), f"{what} must be possible")


def check_recording(recording: RecordedData) -> None:
    """Raise unless what is referred to is there, as far as reading did not see to it."""
    prefixes = {group.prefix for group in recording.groups}
    require({total.prefix for total in recording.totals} <= prefixes, "totals are of groups")
    known = {run.run for run in recording.runs}
    require(recording.graphs.keys() <= known, "a graph belongs to a run")
    for graph in recording.graphs.values():
        _check_graph(graph)
    for block in recording.blocks:
        check_columns(RowBlock, block.arrays())
        require(not np.isin(block.task, recording.graphs[block.run].data).any(), "what ran is no data")
    rows = recording.holdings
    require(set(np.unique(rows.run).tolist()) <= known, "cache usage is of a run")
    samples = recording.resources.n_processes
    require((np.abs(samples) < 2**31).all(), "the number of processes must be possible")
    require((recording.stacks.rows.seconds >= 0).all(), "a time must be possible")
    check_columns(LineRows, recording.stacks.lines.arrays())
    sums = ("seconds", "self_seconds", "cpu_s", "cpu_known_s", "squares", "self_squares")
    require(
        all((getattr(recording.stacks.lines, name) >= 0).all() for name in sums), "a time must be possible"
    )
    require(
        all(0 <= n < 2**31 for s in recording.workers for n in (s.n_threads, s.n_executing or 0)),
        "the number of threads must be possible",
    )


def _check_graph(graph: GraphColumns) -> None:
    measured = ("enter", "data_sizes", "values")
    check_columns(GraphColumns, {name: getattr(graph, name) for name in measured})
