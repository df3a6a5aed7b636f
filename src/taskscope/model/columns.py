"""The columns a recording keeps: what workers did (`RowBlock`) and what was computed (`GraphColumns`).

Rows name a task by its number in its run's graph, so keys, groups and dependencies are kept once.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from taskscope.model.keys import KeyBlock
from taskscope.model.links import neighbours

__all__ = [
    "SCHEDULER_OBSERVED",
    "GraphColumns",
    "RowBlock",
    "narrow_sizes",
    "narrow_times",
    "round_down_f4",
    "split_flags",
]

UNKNOWN_SIZE = 2**32 - 1

SCHEDULER_OBSERVED = 8
"""The bit of `RowBlock.flags` that says that the scheduler took the times; the lower bits are the status."""


def narrow_sizes(sizes: NDArray[np.float64]) -> NDArray[np.uint32] | NDArray[np.float64]:
    """Return byte counts as ``u4`` where all fit (NaN becomes `UNKNOWN_SIZE`), else unchanged."""
    if len(sizes) and np.nanmax(sizes, initial=0.0) >= UNKNOWN_SIZE:
        return sizes
    return np.where(np.isnan(sizes), UNKNOWN_SIZE, sizes).astype(np.uint32)


def split_flags(flags: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return the codes into `STATUSES` and `OBSERVED_BY` that flags are made of."""
    observed = (flags >= SCHEDULER_OBSERVED).astype(np.uint8)
    return np.bitwise_and(flags, SCHEDULER_OBSERVED - 1, dtype=np.uint8), observed


def round_down_f4(values: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return non-negative values as ``f4`` rounded towards zero, so that no stop moves past the truth."""
    narrow = values.astype(np.float32)
    return np.where(narrow > values, np.nextafter(narrow, np.float32(0)), narrow)


@dataclass(frozen=True, slots=True, eq=False)
class RowBlock:
    """Tasks of one run that reached an end, about 27 bytes each.

    Parameters
    ----------
    run
        The run all rows belong to.
    task
        ``i4``: the task's number in the run's `GraphColumns`.
    start
        ``f8`` seconds after the recorder's zero.
    duration, cpu
        ``f4`` seconds; `cpu` is NaN where unknown.
    size
        ``u4`` or ``f8`` bytes of the result, see `narrow_sizes`.
    lane
        ``u2`` lane ids.
    flags
        ``u1``: status code, plus `SCHEDULER_OBSERVED` where the scheduler took the times.
    """

    run: int
    task: NDArray[np.int32]
    start: NDArray[np.float64]
    duration: NDArray[np.float32]
    cpu: NDArray[np.float32]
    size: NDArray[np.uint32] | NDArray[np.float64]
    lane: NDArray[np.uint16]
    flags: NDArray[np.uint8]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.task)

    def sizes(self) -> NDArray[np.float64]:
        """Return result sizes in bytes, NaN where unknown."""
        if self.size.dtype == np.float64:
            return self.size.astype(np.float64, copy=False)
        return np.where(self.size == UNKNOWN_SIZE, np.nan, self.size)

    def part(self, rows: slice | NDArray[np.generic]) -> RowBlock:
        """Return these rows."""
        return RowBlock(
            self.run,
            self.task[rows],
            self.start[rows],
            self.duration[rows],
            self.cpu[rows],
            self.size[rows],
            self.lane[rows],
            self.flags[rows],
        )

    def tail(self, first: int) -> RowBlock:
        """Return a copy without the rows before `first`, which holds none of their memory."""
        return RowBlock(
            self.run,
            self.task[first:].copy(),
            self.start[first:].copy(),
            self.duration[first:].copy(),
            self.cpu[first:].copy(),
            self.size[first:].copy(),
            self.lane[first:].copy(),
            self.flags[first:].copy(),
        )

    @staticmethod
    def concat(blocks: list[RowBlock]) -> RowBlock:
        """Return blocks of one run as one."""
        narrow = all(b.size.dtype == np.uint32 for b in blocks)
        size = np.concatenate([b.size if narrow else b.sizes() for b in blocks])
        return RowBlock(
            blocks[0].run,
            np.concatenate([b.task for b in blocks]),
            np.concatenate([b.start for b in blocks]),
            np.concatenate([b.duration for b in blocks]),
            np.concatenate([b.cpu for b in blocks]),
            size,
            np.concatenate([b.lane for b in blocks]),
            np.concatenate([b.flags for b in blocks]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class GraphColumns:
    """What is known of one run's graph: its keys, groups, dependencies, and what the scheduler held.

    All arrays but `edges` have one element per key of the graph, data included.

    Parameters
    ----------
    keys
        The keys.
    group
        ``u4`` group ids.
    n_dependencies, edges
        How many dependencies each key has, and their numbers, in key order.
    enter
        Seconds after the recorder's zero at which the result entered the scheduler's cache, NaN if never.
    kept
        Numbers of the keys whose result the compute was asked for; they never leave the cache.
    data
        Numbers of the keys that were data, not tasks, and their sizes in bytes.
    values
        What the user's cache metric gave per key, NaN where it gave nothing; None without such a metric.
    spared
        Numbers of the tasks that did not have to run: a cluster had their results, or those of what needs
        them.
    errors
        Error text by task number.
    known
        Whether `edges`, `enter` and `kept` are known; of a process that was killed early they may not be.
    """

    keys: KeyBlock
    group: NDArray[np.uint32]
    n_dependencies: NDArray[np.uint8] | NDArray[np.uint32]
    edges: NDArray[np.int32]
    enter: NDArray[np.float64] | NDArray[np.uint32]
    enter_zero: float
    kept: NDArray[np.int32]
    data: NDArray[np.int32]
    data_sizes: NDArray[np.float64]
    values: NDArray[np.float64] | None
    spared: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    errors: dict[int, str] = field(default_factory=dict)
    known: bool = True

    def neighbours(self, task: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the numbers of a task's dependencies and of its dependents, ascending."""
        return neighbours(task, self.n_dependencies, self.edges)

    def edge_sources(self) -> NDArray[np.int64]:
        """Return, for every edge, the number of the task that has the dependency."""
        return np.repeat(np.arange(len(self.n_dependencies)), self.n_dependencies)

    def enter_times(self) -> NDArray[np.float64]:
        """Return `enter` in seconds after the recorder's zero, NaN where a key never entered."""
        if self.enter.dtype == np.float64:
            return self.enter.astype(np.float64, copy=False)
        return np.where(self.enter == UNKNOWN_SIZE, np.nan, self.enter * 1e-6 + self.enter_zero)

    def exit_times(self, stop: float) -> NDArray[np.float64]:
        """Return when each key left the scheduler's cache: when the last task that needs it had landed.

        Requested keys, and keys that some task still needs, leave at `stop`; NaN where a key never entered.
        """
        enter = self.enter_times()
        leave = np.full(len(enter), -np.inf)
        np.maximum.at(leave, self.edges, np.nan_to_num(enter, nan=np.inf)[self.edge_sources()])
        leave[np.isinf(leave)] = stop
        leave[self.kept] = stop
        return np.where(np.isnan(enter), np.nan, np.minimum(leave, stop))


def narrow_times(times: NDArray[np.float64], zero: float) -> NDArray[np.uint32] | NDArray[np.float64]:
    """Return times as ``u4`` microseconds after `zero` where they fit (71 minutes), else unchanged."""
    if len(times) and np.nanmax(times - zero, initial=0.0) >= 4_000.0:
        return times
    ticks = np.where(np.isnan(times), UNKNOWN_SIZE, np.rint((times - zero) * 1e6))
    return np.maximum(ticks, 0).astype(np.uint32)
