"""Samples of what worker threads were doing: a tree of calls, counted per cycle, run, prefix and worker."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

__all__ = ["NOT_SAMPLED_WITHOUT_LOCK", "NO_STACKS", "Function", "StackColumns", "StackRows"]

NOT_SAMPLED_WITHOUT_LOCK = (
    "call stacks are not sampled: this Python runs threads without its global lock (GIL), and looking at the "
    "stack of a thread that runs may crash it then"
)
"""The message of a recording whose process could not be sampled."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function that was seen on a stack; `line` is where it is defined, 0 where that is unknown."""

    name: str
    file: str
    line: int


@dataclass(frozen=True, slots=True, eq=False)
class StackRows:
    """Counts of samples as equally long columns, by the innermost call that was seen.

    Parameters
    ----------
    start
        ``f8``: when the cycle began, in seconds after the recorder's zero.
    run
        ``i4`` run numbers.
    prefix, worker
        ``u4``: places in `StackColumns.prefixes` and `StackColumns.workers`.
    node
        ``i4``: the innermost call, a place in `StackColumns.parent`; -1 where Dask called C code itself.
    count
        ``u4``: how many samples saw it.
    seconds
        ``f8``: the time these samples stand for, an estimate.
    """

    start: NDArray[np.float64]
    run: NDArray[np.int32]
    prefix: NDArray[np.uint32]
    worker: NDArray[np.uint32]
    node: NDArray[np.int32]
    count: NDArray[np.uint32]
    seconds: NDArray[np.float64]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.start)

    def take(self, rows: NDArray[np.bool_]) -> StackRows:
        """Return the rows that are marked."""
        return StackRows(
            self.start[rows],
            self.run[rows],
            self.prefix[rows],
            self.worker[rows],
            self.node[rows],
            self.count[rows],
            self.seconds[rows],
        )

    @staticmethod
    def concat(parts: list[StackRows]) -> StackRows:
        """Return the rows of all parts, in order."""
        return StackRows(
            np.concatenate([np.empty(0, np.float64), *(p.start for p in parts)]),
            np.concatenate([np.empty(0, np.int32), *(p.run for p in parts)]),
            np.concatenate([np.empty(0, np.uint32), *(p.prefix for p in parts)]),
            np.concatenate([np.empty(0, np.uint32), *(p.worker for p in parts)]),
            np.concatenate([np.empty(0, np.int32), *(p.node for p in parts)]),
            np.concatenate([np.empty(0, np.uint32), *(p.count for p in parts)]),
            np.concatenate([np.empty(0, np.float64), *(p.seconds for p in parts)]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class StackColumns:
    """All samples of a recording.

    Parameters
    ----------
    functions
        What stands on the stacks.
    parent, function
        ``i4``, one element per call: the call it was made from (-1 for the task's own function), which always
        stands before it, and its place in `functions`.
    prefixes, workers
        Names that rows refer to.
    rows
        The counts.
    interval_s, cycle_s
        Seconds between samples, and the length of a cycle, as they were asked for; None if nothing sampled.
    dropped
        How many samples are no longer held.
    """

    functions: tuple[Function, ...]
    parent: NDArray[np.int32]
    function: NDArray[np.int32]
    prefixes: tuple[str, ...]
    workers: tuple[str, ...]
    rows: StackRows
    interval_s: float | None = None
    cycle_s: float | None = None
    dropped: int = 0

    def pruned(self) -> StackColumns:
        """Return the same without calls, functions and names that no row refers to."""
        used = np.zeros(len(self.parent), bool)
        used[self.rows.node[self.rows.node >= 0]] = True
        # Parents stand before their children, so one pass from the end reaches all of them.
        for node in range(len(used) - 1, -1, -1):
            if used[node] and self.parent[node] >= 0:
                used[self.parent[node]] = True
        places = np.append(np.cumsum(used) - 1, -1).astype(np.int32)
        functions, function = np.unique(self.function[used], return_inverse=True)
        prefixes, prefix = np.unique(self.rows.prefix, return_inverse=True)
        workers, worker = np.unique(self.rows.worker, return_inverse=True)
        rows = replace(
            self.rows,
            prefix=prefix.astype(np.uint32),
            worker=worker.astype(np.uint32),
            node=places[self.rows.node],
        )
        return replace(
            self,
            functions=tuple(self.functions[place] for place in functions.tolist()),
            parent=places[self.parent[used]],
            function=function.astype(np.int32),
            prefixes=tuple(self.prefixes[place] for place in prefixes.tolist()),
            workers=tuple(self.workers[place] for place in workers.tolist()),
            rows=rows,
        )


NO_STACKS = StackColumns((), np.empty(0, np.int32), np.empty(0, np.int32), (), (), StackRows.concat([]))
"""What a recording has where nothing was sampled."""
