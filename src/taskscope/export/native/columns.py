"""Columns of keys and tasks as a file's batches bring them: kept narrow, and found by run and by task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from taskscope.codec import is_constant, repeated
from taskscope.errors import DamagedFileError
from taskscope.model.keys import TEXT, KeyBlock
from taskscope.model.streams import MAX_KEY_INTS
from taskscope.model.tables.columns import MEASURED, round_down_f4, stored_measures, wide_sizes
from taskscope.model.tables.records import FLAGS, join_flags

_Columns: TypeAlias = Mapping[str, Any]

_AT_ONCE = 2**16
_INTS = tuple(f"i{i}" for i in range(MAX_KEY_INTS))


def require(condition: object, expectation: str) -> None:
    """Raise `DamagedFileError` with the expectation unless the condition holds."""
    if not condition:
        raise DamagedFileError(f"it contradicts itself: {expectation}")


class Keys:
    """Which run and which number in its graph each row of `keys` is."""

    def __init__(self, run: NDArray[Any], known: Sequence[int]) -> None:
        self._run = as_runs(run)
        self._is_one = len(run) > 0 and bool((self._run == self._run[0]).all())
        require(np.isin(_distinct(self._run), known).all(), "a key is of a graph")
        self._rows: dict[int, slice | NDArray[np.int64]] = {}
        self._task = np.empty(0 if self._is_one else len(run), np.int32)
        if self._is_one:
            self._rows[int(self._run[0])] = slice(0, len(run))
            return
        order = np.arange(len(run)) if is_sorted(self._run) else np.argsort(self._run, kind="stable")
        for first, last in spans_of(self._run[order]):
            rows = order[first:last]
            self._rows[int(self._run[rows[0]])] = rows
            self._task[rows] = np.arange(len(rows), dtype=np.int32)

    def n(self, run: int) -> int:
        return len(self._run[self.rows(run)])

    def rows(self, run: int) -> slice | NDArray[np.int64]:
        """Return what picks the keys of a run out of columns of all keys."""
        return self._rows.get(run, slice(0))

    def found(self, rows: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return runs and numbers in their graphs of rows of `keys`."""
        if self._is_one:
            # What refers to them was checked as it was decoded.
            return np.broadcast_to(self._run[0], len(rows)), rows.astype(np.int32, copy=False)
        rows = rows.astype(np.int64, copy=False)
        return self._run[rows], self._task[rows]

    def numbers(self, rows: NDArray[Any]) -> NDArray[np.int32]:
        return self.found(rows)[1]

    def by_run(self, rows: NDArray[Any]) -> ByRun:
        return ByRun(*self.found(rows))

    def blocks(
        self, dims: NDArray[Any], ints: NDArray[Any], texts: Sequence[str | None]
    ) -> dict[int, KeyBlock]:
        """Return the keys of each graph; `texts` are of keys that are text."""
        dims = dims.astype(np.uint8, copy=False)
        whole = KeyBlock(dims, ints.astype(np.int32, copy=False), tuple(text or "" for text in texts))
        return {
            run: whole if isinstance(rows, slice) else whole.take(rows) for run, rows in self._rows.items()
        }


class ByRun:
    """Rows of a table of keys, to be had by run."""

    def __init__(self, run: NDArray[np.int32], task: NDArray[np.int32]) -> None:
        self.run = run
        self._task = task
        self._order = None if is_sorted(run) else np.argsort(run, kind="stable")
        self._sorted = run if self._order is None else run[self._order]

    def of(self, run: int) -> tuple[Any, NDArray[np.int32]]:
        """Return the places of a run's rows, and the numbers of their keys."""
        first, last = np.searchsorted(self._sorted, [run, run + 1])
        rows: Any = slice(first, last) if self._order is None else self._order[first:last]
        return rows, self._task[rows]

    def spread(self, run: int, n: int, values: NDArray[Any], none: float) -> NDArray[np.float64]:
        """Return a column with the last value of each key of a run."""
        rows, of = self.of(run)
        found: NDArray[np.float64]
        if len(of) == n and (of == np.arange(n)).all():
            found = values[rows].astype(np.float64)
        else:
            found = np.full(n, none)
            found[of] = values[rows]
        return found


_TASK_TYPES = {
    "key": "i4",
    "start": "f8",
    "duration": "f4",
    "lane": "u2",
    "flags": "u1",
    "error": "i4",
}
"""The types of tasks' columns while reading, without the measured ones."""


def task_columns(column: Callable[[str, str], NDArray[Any]]) -> _Columns:
    """Return the rows of tasks, as columns of `RowBlock` with the rows of their keys."""
    kept = {name: column("tasks", name).astype(kind, copy=False) for name, kind in _TASK_TYPES.items()}
    return kept | {name: column("tasks", name) for name in MEASURED}


def narrowed(name: str, columns: _Columns) -> _Columns:
    """Return columns as they are kept until all have come."""
    if name == "keys":
        return _narrowed_keys(columns)
    if name == "dependencies":
        # Fewer than 2**31 keys fit into any file that is read.
        return {name: rows.astype(np.int32) for name, rows in columns.items()}
    if name != "tasks":
        return columns
    require((np.asarray(columns["lane"]) < 2**16).all(), "a lane must be known")
    return {
        "key": columns["key"].astype(np.int32),
        "start": columns["stop_s"] - columns["duration_s"],
        "duration": round_down_f4(columns["duration_s"]),
        **stored_measures(columns, len(columns["key"])),
        "lane": columns["lane"].astype(np.uint16),
        "flags": join_flags({name: columns[name] for name in FLAGS}),
        "error": whole_numbers(columns["error"]),
    }


def grown(values: Any, more: Any) -> Any:  # noqa: ANN401 - arrays, or lists of texts
    """Return a column with more values, in place: separate parts would fragment memory."""
    if isinstance(values, list):
        values.extend(more)
        return values
    n = len(values)
    if is_constant(values) and is_constant(more) and values[0] == more[0]:
        return repeated(values[:1], n + len(more))
    if values.dtype != more.dtype:
        # Sizes alone: one part may need no more than 32 bits.
        values, more = wide_sizes(values), wide_sizes(more)
    whole = values if values.flags.owndata and values.flags.writeable else values.copy()
    whole.resize(n + len(more), refcheck=False)
    whole[n:] = more
    return whole


def _narrowed_keys(columns: _Columns) -> _Columns:
    dims, texts = columns["dims"], columns["key_text"]
    is_text = dims == TEXT
    require(
        (is_text | (dims <= MAX_KEY_INTS)).all(), f"a key has at most {MAX_KEY_INTS} integers, or is text"
    )
    found = [texts[row] for row in np.flatnonzero(is_text).tolist()]
    require(None not in found, "a key that is text has one")
    n_ints = np.where(is_text, 0, dims)
    most = int(n_ints.max())
    ints = np.stack([columns[name] for name in _INTS[:most]], axis=1) if most else np.empty((len(dims), 0))
    is_one = np.arange(most) < n_ints[:, None]
    return {
        "run": as_runs(columns["run"]),
        "group": columns["group"].astype(np.uint32),
        "dims": dims.astype(np.uint8),
        "ints": ints[is_one].astype(np.int32),
        "key_text": found,
        "enter": np.full(len(dims), np.nan),
    }


def is_sorted(run: NDArray[np.int32]) -> bool:
    """Whether a column never falls."""
    return is_constant(run) or bool((run[1:] >= run[:-1]).all())


def _distinct(run: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the numbers that occur; neighbouring equal ones once."""
    return run[np.concatenate(([True], run[1:] != run[:-1]))] if len(run) else run


def spans_of(run: NDArray[np.int32]) -> list[tuple[int, int]]:
    """Return first and last of each stretch of equal numbers."""
    if is_constant(run):
        return [(0, len(run))]
    ends = [*(np.flatnonzero(run[1:] != run[:-1]) + 1).tolist(), len(run)]
    return list(pairwise([0, *ends])) if len(run) else []


def as_runs(run: NDArray[Any], least: int = 0) -> NDArray[np.int32]:
    """Return numbers of runs, checked, as they are kept."""
    require(((run >= least) & (run < 2**31)).all(), "the number of a run must be possible")
    return _each(lambda run: run.astype(np.int32, copy=False), run)


def whole_numbers(values: NDArray[Any]) -> NDArray[np.int32]:
    """Return whole numbers, -1 where there is none."""
    return _each(lambda values: np.nan_to_num(values, nan=-1.0).astype(np.int32), values)


def _each(change: Callable[[NDArray[Any]], NDArray[Any]], values: NDArray[Any]) -> NDArray[Any]:
    """Return a column that is changed number by number; of one that repeats a number, only that is."""
    return repeated(change(values[:1]), len(values)) if is_constant(values) else change(values)


def counts_of(of: NDArray[np.int32], n: int) -> NDArray[Any]:
    """Return how often each of `n` numbers is in a column that never falls, in 8 bits where they fit."""
    counts = np.zeros(n, np.uint32)
    # All at once, it and its 64 bits would be the most that loading takes.
    for first in range(0, len(of), _AT_ONCE):
        part = of[first : first + _AT_ONCE]
        counts[part[0] : part[-1] + 1] += np.bincount(part - part[0]).astype(np.uint32)
    return counts.astype(np.uint8) if counts.max(initial=0) < 256 else counts
