"""The size of a task's result, in bytes: bounded cost, never a copy, and no use of the user's random state.

`dask.sizeof` draws samples of collections and of object columns with the global ``random`` and
``numpy.random`` generators, so measuring with it would change the random numbers of the user's code. Those
types are sampled here at even steps instead; all others go to Dask's own handlers.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from dask.sizeof import sizeof

_SAMPLES = 10
_MAX_DEPTH = 3
_MAX_TYPES = 512
_NAN = float("nan")

Measure = Callable[[Any], float]
"""``Any``: a result can be anything, and each measure is only given objects of its own type."""

_SCALARS: tuple[type, ...] = (int, float, bool, complex, str, bytes, bytearray, type(None))

# Of types that the garbage collector does not track `sys.getsizeof` returns the same, in five times the time.
measures: dict[type, Measure] = {
    kind: kind.__sizeof__  # type: ignore[misc]  # of the class, to be called with an object of it
    for kind in _SCALARS
}
"""How to measure the types met before; a hot path may read this before it calls `result_size`."""


def result_size(result: object) -> float:
    """Return the estimated size of an object in bytes, NaN where it cannot be known; never raises.

    Notes
    -----
    Arrays count their buffers, once for a broadcast axis. Collections of more than ten elements are
    extrapolated from ten of them, as `dask.sizeof` does; nesting deeper than three levels counts as shallow.
    """
    try:
        measure = measures.get(type(result)) or _find(type(result))
        return float(measure(result))
    except BaseException as problem:  # noqa: BLE001 - a user's type may raise anything when measured
        return _unless_interrupted(problem)


def size_despite(problem: BaseException, result: object) -> float:
    """Return the size of an object for whose type `measures` has nothing, or a function that raised."""
    return result_size(result) if type(problem) is KeyError else _unless_interrupted(problem)


def _unless_interrupted(problem: BaseException) -> float:
    """Return NaN for an unknown size; called in the handler of an exception."""
    # Ctrl-C only interrupts the main thread; elsewhere the user's type raised it.
    if isinstance(problem, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
        raise problem
    return _NAN


def _find(kind: type) -> Measure:
    measure: Measure
    if issubclass(kind, dict):
        measure = _mapping_size
    elif issubclass(kind, (list, tuple, set, frozenset)):
        measure = _collection_size
    elif kind.__module__.partition(".")[0] == "pandas":
        measure = _pandas_size
    else:
        measure = sizeof.dispatch(kind)
    if len(measures) < _MAX_TYPES:
        measures[kind] = measure
    return measure


def _nested_size(items: Iterable[object], depth: int) -> float:
    total = 0.0
    for item in items:
        deep = isinstance(item, (list, tuple, set, frozenset, dict))
        if deep and depth >= _MAX_DEPTH:
            total += sys.getsizeof(item)
        elif isinstance(item, dict):
            total += _mapping_size(item, depth + 1)
        elif isinstance(item, (list, tuple, set, frozenset)):
            total += _collection_size(item, depth + 1)
        else:
            total += result_size(item)
    return total


def _collection_size(items: Any, depth: int = 0) -> float:
    count = len(items)
    if not isinstance(items, (list, tuple)) or count <= _SAMPLES:
        sample = list(islice(items, _SAMPLES))
    else:
        sample = list(items[:: -(-count // _SAMPLES)])
    scale = count / len(sample) if sample else 0.0
    return sys.getsizeof(items) + scale * _nested_size(sample, depth)


def _mapping_size(items: Any, depth: int = 0) -> float:
    sample = list(islice(items.items(), _SAMPLES))
    scale = len(items) / len(sample) if sample else 0.0
    keys_and_values = [part for pair in sample for part in pair]
    return sys.getsizeof(items) + scale * _nested_size(keys_and_values, depth)


def _pandas_size(frame: Any) -> float:
    """Return the bytes of a pandas object: its buffers, and object columns extrapolated from a sample."""
    usage = frame.memory_usage(deep=False) if hasattr(frame, "memory_usage") else sys.getsizeof(frame)
    total = float(usage.sum() if hasattr(usage, "sum") else usage)
    for column in _object_columns(frame):
        count = len(column)
        sample = column[:: -(-count // 100) or 1]
        if len(sample):
            total += count / len(sample) * sum(map(sys.getsizeof, sample))
    return total


def _object_columns(frame: Any) -> list[Any]:
    """Return the object columns and index of a pandas object as arrays, without copying them."""
    parts = [frame, *([frame.index] if hasattr(frame, "index") else [])]
    found: list[Any] = []
    for part in parts:
        if getattr(part, "ndim", 1) == 2:
            found.extend(part.iloc[:, i].array for i, t in enumerate(part.dtypes) if t.kind == "O")
        elif _kind(part) == "O" and not hasattr(part, "levels"):
            found.append(part.array)
    return found


def _kind(part: Any) -> str | None:
    return getattr(getattr(part, "dtype", None), "kind", None)
