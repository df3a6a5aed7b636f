"""The columns that a recording keeps: ended tasks (`RowBlock`) and graphs (`GraphColumns`).

Rows name a task by its number in its run's graph, so keys, groups and dependencies are kept once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from taskscope.model.keys import KeyBlock
from taskscope.schema import About, Rows, columns_of

_Number = TypeVar("_Number", bound=np.number[Any])

NEEDS = ("needed", "skipped", "released")
"""Whether a task has to run: a cluster has its result or those of its dependents, or no future needs it."""

NEEDED, SKIPPED, NOT_HELD = range(len(NEEDS))

UNKNOWN_SIZE = 2**32 - 1
_AT_ONCE = 2**16


def distinct(values: NDArray[_Number]) -> NDArray[_Number]:
    """Return the values that occur, each once, in ascending order.

    `numpy.unique` would import `numpy.ma`, which parses text into syntax trees. In a thread of ours that
    takes tens of milliseconds from the compute, and on CPython 3.11 a traceback that IPython formats
    meanwhile fails with "AST constructor recursion depth mismatch".
    """
    ordered = np.sort(values)
    return ordered[np.concatenate(([True], ordered[1:] != ordered[:-1]))] if len(ordered) else ordered


def median(values: NDArray[np.float32] | NDArray[np.float64]) -> float:
    """Return the median; NaN of no values or with a NaN. `numpy.median` has the import of `distinct`."""
    if not len(values) or np.isnan(values).any():
        return math.nan
    middle = ((len(values) - 1) // 2, len(values) // 2)
    return float(np.partition(values, middle)[[*middle]].sum() / 2)


def distinct_pairs(
    first: NDArray[np.integer[Any]], second: NDArray[np.integer[Any]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the pairs of numbers from 0 that occur, each once, in ascending order."""
    n_second = int(second.max(initial=0)) + 1
    return np.divmod(distinct(first.astype(np.int64) * n_second + second), n_second)


def possible_sizes(sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return byte counts, NaN where impossible: a user's function for `dask.sizeof` may return anything."""
    # Files and pages have no greater numbers.
    return np.where((sizes >= 0) & (sizes < 2**52), sizes, np.nan)


def narrow_sizes(sizes: NDArray[np.uint32] | NDArray[np.float64]) -> NDArray[np.uint32] | NDArray[np.float64]:
    """Return byte counts as ``u4`` where all fit (NaN becomes `UNKNOWN_SIZE`), else unchanged."""
    if sizes.dtype == np.uint32 or np.fmax.reduce(sizes, initial=0.0) >= UNKNOWN_SIZE:
        return sizes
    narrow = np.full(len(sizes), UNKNOWN_SIZE, np.uint32)
    np.copyto(narrow, sizes, casting="unsafe", where=~np.isnan(sizes))
    return narrow


def wide_sizes(sizes: NDArray[np.uint32] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return byte counts as numbers, NaN where they are unknown."""
    if sizes.dtype == np.float64:
        return sizes.astype(np.float64, copy=False)
    return np.where(sizes == UNKNOWN_SIZE, np.nan, sizes)


def round_down_f4(values: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return non-negative values as ``f4`` rounded towards zero, so that no stop moves past the truth."""
    narrow = values.astype(np.float32)
    above = narrow > values
    if above.any():
        narrow[above] = np.nextafter(narrow[above], np.float32(0))
    return narrow


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Measured(Rows):
    """The measures of each task besides its times.

    A lane's list has them in this order; recordings, files, pages and users' tables have these columns.
    """

    cpu_s: Annotated[
        NDArray[np.float32],
        About("CPU time of its thread meanwhile.", unit="s", optional=True),
    ]
    nbytes: Annotated[
        NDArray[np.uint32] | NDArray[np.float64],
        About("How large its result is; see `narrow_sizes`.", unit="bytes", optional=True),
    ]

    def sizes(self) -> NDArray[np.float64]:
        """Return result sizes in bytes, NaN where unknown."""
        return wide_sizes(self.nbytes)

    def measured(self) -> dict[str, NDArray[np.float64]]:
        """Return the measures, NaN where unknown."""
        found = {name: getattr(self, name) for name in MEASURED}
        return {name: values.astype(np.float64) for name, values in found.items()} | {"nbytes": self.sizes()}


MEASURED = tuple(column.name for column in columns_of(Measured))
"""The names of the measures."""

_OF_MEASURED = {column.name: column for column in columns_of(Measured)}


def stored_measures(measured: Mapping[str, NDArray[np.float64]], n: int) -> dict[str, NDArray[Any]]:
    """Return all columns of `Measured` for `n` tasks as they are stored, NaN where nothing was measured."""
    known = {name: measured.get(name, np.full(n, np.nan)) for name in MEASURED}
    return {
        name: narrow_sizes(values)
        if name == "nbytes"
        else values.astype(_OF_MEASURED[name].stored[0], copy=False)
        for name, values in known.items()
    }


def joined_measures(blocks: Sequence[Measured]) -> dict[str, NDArray[Any]]:
    """Return the measures of the tasks of all blocks, in order; sizes are not narrowed."""
    found = {
        name: [block.sizes() if name == "nbytes" else getattr(block, name) for block in blocks]
        for name in MEASURED
    }
    return {
        name: np.concatenate([np.empty(0, _OF_MEASURED[name].stored[-1]), *parts])
        for name, parts in found.items()
    }


@dataclass(frozen=True, slots=True, eq=False)
class RowBlock(Measured):
    """Tasks of one run that reached an end, about 27 bytes each."""

    run: int
    task: Annotated[
        NDArray[np.int32], About("The task's number in the graph of the run.", refers="keys.task")
    ]
    start: Annotated[NDArray[np.float64], About("When it began.", unit="s", is_time=True)]
    duration: Annotated[NDArray[np.float32], About("How long it took.", unit="s")]
    lane: Annotated[NDArray[np.uint16], About("The lane that it ran in.", refers="lanes.id")]
    flags: Annotated[NDArray[np.uint8], About("What `FLAGS` declares.")]

    def continues_in(self, rows: RowBlock) -> bool:
        return self.run == rows.run

    @classmethod
    def concat(cls, parts: Sequence[Self]) -> Self:
        """Return blocks of one run as one; sizes are narrow where all are."""
        if len({part.nbytes.dtype for part in parts}) > 1:
            parts = [replace(part, nbytes=part.sizes()) for part in parts]
        return super(RowBlock, cls).concat(parts)


@dataclass(frozen=True, slots=True, eq=False)
class GraphColumns:
    """One run's graph: its keys, groups, dependencies, and the scheduler's cache."""

    keys: KeyBlock
    group: Annotated[NDArray[np.uint32], About("The task group of each key.", refers="groups.id")]
    n_dependencies: Annotated[
        NDArray[np.uint8] | NDArray[np.uint32], About("How many dependencies each key has.")
    ]
    edges: Annotated[NDArray[np.int32], About("The numbers of the dependencies, in the order of the keys.")]
    enter: Annotated[
        NDArray[np.uint32] | NDArray[np.float64],
        About(
            "When each result entered the scheduler's cache; see `narrow_times`.",
            unit="s",
            is_time=True,
            optional=True,
        ),
    ]
    enter_zero: float
    kept: Annotated[
        NDArray[np.int32],
        About("The keys whose result the compute was asked for; they never leave the cache."),
    ]
    data: Annotated[NDArray[np.int32], About("The keys that were data, not tasks.")]
    data_sizes: Annotated[
        NDArray[np.float64],
        About(
            "How large those data are; NaN: unknown.",
            unit="bytes",
            optional=True,
        ),
    ]
    values: Annotated[
        NDArray[np.float64] | None,
        About(
            "What the user's cache metric gave for each key, NaN where it gave nothing; None without one.",
            optional=True,
        ),
    ]
    skipped: Annotated[
        NDArray[np.int32],
        About(
            "The tasks that did not have to run: a cluster had their results, or those of what needs them."
        ),
    ] = field(default_factory=lambda: np.empty(0, np.int32))
    released: Annotated[
        NDArray[np.int32], About("The tasks that were released before they ran: no future needed them.")
    ] = field(default_factory=lambda: np.empty(0, np.int32))
    errors: dict[int, str] = field(default_factory=dict)
    """Error text by task number."""
    known: bool = True
    """Whether `edges`, `enter` and `kept` are known; of a process that was killed early they may not be."""

    def identify(self, tasks: NDArray[np.int32]) -> tuple[NDArray[np.uint32], KeyBlock]:
        """Return the group ids and the keys of tasks by their numbers."""
        return self.group[tasks], self.keys.take(tasks)

    def neighbours(self, task: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the numbers of a task's dependencies and of its dependents, ascending."""
        return neighbours(task, self.n_dependencies, self.edges)

    def needs(self) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """Return the tasks that do not have to run, and why, as places in `NEEDS`."""
        needs = np.repeat(np.array([SKIPPED, NOT_HELD], np.uint8), (len(self.skipped), len(self.released)))
        return np.concatenate((self.skipped, self.released)), needs

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
    if np.fmax.reduce(times, initial=zero) - zero >= 4_000.0:
        return times
    narrow = np.empty(len(times), np.uint32)
    # The intermediate array takes twice the room of the times.
    for first in range(0, len(times), _AT_ONCE):
        ticks = times[first : first + _AT_ONCE] - zero
        ticks *= 1e6
        np.rint(ticks, out=ticks)
        np.maximum(ticks, 0, out=ticks)
        ticks[np.isnan(ticks)] = UNKNOWN_SIZE
        narrow[first : first + _AT_ONCE] = ticks
    return narrow


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The other end of a dependency."""

    row: int | None
    key_text: str


@dataclass(frozen=True, slots=True)
class TaskLinks:
    """A task's neighbours in its graph; the sequences may be cut, the counts are of all."""

    dependencies: tuple[Neighbour, ...]
    n_dependencies: int
    dependents: tuple[Neighbour, ...]
    n_dependents: int


def neighbours(
    task: int, n_dependencies: NDArray[np.integer], edges: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers of a task's dependencies and of its dependents, ascending.

    Examples
    --------
    >>> [found.tolist() for found in neighbours(1, np.array([0, 1, 2]), np.array([0, 0, 1], np.int32))]
    [[0], [2]]
    """
    ends = np.cumsum(n_dependencies, dtype=np.int64)
    dependencies = np.sort(edges[ends[task] - int(n_dependencies[task]) : ends[task]])
    return dependencies.astype(np.int64), np.searchsorted(ends, np.flatnonzero(edges == task), side="right")


def cut_links(
    found: tuple[NDArray[np.int64], NDArray[np.int64]],
    limit: int,
    name: Callable[[NDArray[np.int32]], Iterable[Neighbour]],
) -> TaskLinks:
    """Return at most `limit` of the dependencies and of the dependents that `neighbours` found, as links.

    Examples
    --------
    >>> name = lambda shown: [Neighbour(n, "") for n in shown]
    >>> links = cut_links((np.array([3, 4]), np.array([7])), 1, name)
    >>> len(links.dependencies), links.n_dependencies, len(links.dependents), links.n_dependents
    (1, 2, 1, 1)
    """
    dependencies, dependents = found
    links = tuple(name(np.concatenate((dependencies[:limit], dependents[:limit])).astype(np.int32)))
    n_first = min(len(dependencies), limit)
    return TaskLinks(links[:n_first], len(dependencies), links[n_first:], len(dependents))
