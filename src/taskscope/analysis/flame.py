"""Samples of call stacks made small enough to be drawn: fewer calls, and fewer points in time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taskscope.model.stacks import Function, StackColumns
from taskscope.wire import wire_text

__all__ = ["FlameRows", "flame_message", "flame_rows"]

MAX_BINS = 120
MAX_CALLS = 4_000


@dataclass(frozen=True, slots=True, eq=False)
class FlameRows:
    """What a flame graph with a timeline is drawn from.

    Parameters
    ----------
    start_s
        When each bin begins, in seconds after the recorder's zero, ascending.
    functions, prefixes
        Names that the columns refer to.
    parent, function
        ``i4``, one element per call, as in `taskscope.model.stacks.StackColumns`.
    bin, prefix, node, count, seconds
        ``u2``, ``u2``, ``i4``, ``u4``, ``f4``, one element per row: samples whose innermost call that is
        drawn is `node`, -1 for the task itself.
    n_left_out
        How many calls are not among them: they count for the one that made them.
    """

    start_s: NDArray[np.float64]
    functions: tuple[Function, ...]
    prefixes: tuple[str, ...]
    parent: NDArray[np.int32]
    function: NDArray[np.int32]
    bin: NDArray[np.uint16]
    prefix: NDArray[np.uint16]
    node: NDArray[np.int32]
    count: NDArray[np.uint32]
    seconds: NDArray[np.float32]
    n_left_out: int


def flame_message(stacks: StackColumns) -> dict[str, Any]:
    """Return what the browser draws of samples: plain values, and all ``columns`` in one piece of bytes."""
    rows = flame_rows(stacks)
    columns: dict[str, NDArray[Any]] = {
        "start_s": rows.start_s,
        "parent": rows.parent,
        "function": rows.function,
        "bin": rows.bin,
        "prefix": rows.prefix,
        "node": rows.node,
        "count": rows.count,
        "seconds": rows.seconds,
    }
    return {
        "interval_s": stacks.interval_s,
        "functions": [(wire_text(f.name), wire_text(f.file), f.line) for f in rows.functions],
        "prefixes": list(map(wire_text, rows.prefixes)),
        "n_left_out": rows.n_left_out,
        "lengths": {name: len(values) for name, values in columns.items()},
        "columns": b"".join(values.tobytes() for values in columns.values()),
    }


def flame_rows(stacks: StackColumns, *, max_bins: int = MAX_BINS, max_calls: int = MAX_CALLS) -> FlameRows:
    """Return what to draw of samples: the longest calls, and cycles joined to at most `max_bins`."""
    rows = stacks.rows
    drawn, kept = _kept(stacks, max_calls)
    node = drawn[rows.node]
    starts, cycle = np.unique(rows.start, return_inverse=True)
    joined = -(-len(starts) // max_bins) or 1
    in_bin = cycle // joined
    n_prefixes, n_calls = len(stacks.prefixes), len(kept) + 1
    places = (in_bin * max(n_prefixes, 1) + rows.prefix) * n_calls + node + 1
    unique, inverse = np.unique(places, return_inverse=True)
    rest, call = np.divmod(unique, n_calls)
    bins, prefix = np.divmod(rest, max(n_prefixes, 1))
    return FlameRows(
        start_s=starts[::joined],
        functions=stacks.functions,
        prefixes=stacks.prefixes,
        parent=drawn[stacks.parent[kept]],
        function=stacks.function[kept],
        bin=bins.astype(np.uint16),
        prefix=prefix.astype(np.uint16),
        node=(call - 1).astype(np.int32),
        count=np.bincount(inverse, rows.count, len(unique)).astype(np.uint32),
        seconds=np.bincount(inverse, rows.seconds, len(unique)).astype(np.float32),
        n_left_out=len(stacks.parent) - len(kept),
    )


def _kept(stacks: StackColumns, max_calls: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return which call each is drawn as (the last element is for none), and the calls that are drawn."""
    n = len(stacks.parent)
    seconds = np.bincount(stacks.rows.node % (n + 1), stacks.rows.seconds, n + 1)
    parents = stacks.parent.tolist()
    # A call stands after the one it was made from.
    total = seconds.tolist()
    for call in range(n - 1, -1, -1):
        if parents[call] >= 0:
            total[parents[call]] += total[call]
    # Callers took at least as long and stand before, so none that is drawn lacks its caller.
    order = np.lexsort((np.arange(n), -np.array(total[:n])))
    kept = np.sort(order[:max_calls])
    drawn = np.full(n + 1, -1, np.int32)
    drawn[kept] = np.arange(len(kept))
    if n > max_calls:
        is_kept = np.zeros(n, bool)
        is_kept[kept] = True
        for call in np.flatnonzero(~is_kept).tolist():
            drawn[call] = drawn[parents[call]]
    return drawn, kept
