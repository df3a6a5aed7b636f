"""A run's graph, turned into columns in slices while the compute goes on."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count, islice

import numpy as np
from numpy.typing import NDArray

from taskscope.model.columns import GraphColumns, narrow_times
from taskscope.model.keys import KeyBlock, KeyBuilder, key_block
from taskscope.model.links import neighbours
from taskscope.recorder.graphpart import GraphPart, GraphPlace, Links, graph_part
from taskscope.recorder.graphsource import GraphSource

__all__ = ["GraphBuilder", "Outline"]


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """The shape of a graph: group ids, how many dependencies each key has, which, and which keys are data."""

    group: NDArray[np.uint32]
    n_dependencies: NDArray[np.uint32]
    edges: NDArray[np.int32]
    data: NDArray[np.int32]


class GraphBuilder:
    """Numbers the keys of a graph, and gathers groups and dependencies slice by slice.

    Keys are numbered when they are first met, in a row or in the graph, so that starting costs nothing
    however large the graph is.

    Parameters
    ----------
    source
        What the scheduler knew at the start; its dependencies are let go when all were processed.
    start
        When the run started, on the recorder's axis; data is held from then on.
    groups_of
        Gives the group id of every key of a slice.
    """

    def __init__(
        self, source: GraphSource, start: float, groups_of: Callable[[Sequence[object]], list[int]]
    ) -> None:
        self._dependencies = source.dependencies
        self._kept = source.kept
        self._kept_numbers: NDArray[np.int32] | None = None
        self._grows = source.grows
        self._data = source.data
        self._groups_of = groups_of
        self.n_keys = len(source.dependencies)
        self._unmet: Iterator[object] = iter(source.dependencies)
        self._index: defaultdict[object, int] = defaultdict(count().__next__)
        self._keys: list[object] = []
        self._builder = KeyBuilder()
        self._group = array("I")
        self._n_dependencies = array("I")
        self._edges = array("i")
        self.start = start
        self._room = np.full(self.n_keys, np.nan)
        self._enter = self._room
        self._values: NDArray[np.float64] | None = None
        self._spared = np.zeros(0, bool)
        self.errors: dict[int, str] = {}
        self.group_counts: Counter[int] = Counter()
        """How many tasks (not data) of each group were seen so far."""

    @property
    def complete(self) -> bool:
        """Whether every key was processed."""
        return len(self._group) == self.n_keys

    def grow(self, source: GraphSource) -> None:
        """Add keys that are new to a graph that grows, before any row of them is numbered."""
        self._dependencies = {**self._dependencies, **source.dependencies}
        self._unmet = chain(self._unmet, list(source.dependencies))
        self._kept |= source.kept
        self._kept_numbers = None
        self.n_keys += len(source.dependencies)
        if self.n_keys > len(self._room):
            # Room for as many again, so that a graph that grows key by key is not copied each time.
            self._room = np.concatenate((self._room, np.full(self.n_keys, np.nan)))
        self._enter = self._room[: self.n_keys]

    def advance(self, n_keys: int) -> None:
        """Process the next `n_keys` keys, or fewer."""
        keys = self._next_keys(min(n_keys, self.n_keys - len(self._group)))
        groups = self._groups_of(keys)
        self._builder.extend(keys)
        dependencies = list(map(self._dependencies.__getitem__, keys))
        self._n_dependencies.fromlist(list(map(len, dependencies)))
        self._edges.fromlist(self._numbers([d for needed in dependencies for d in needed]))
        self.group_counts.update(groups)
        if self._data:
            self.group_counts.subtract(g for k, g in zip(keys, groups, strict=True) if k in self._data)
        # Last, because `complete` is read from its length.
        self._group.fromlist(groups)
        if self.complete:
            # A million sets: their owner frees them with the compute, as without us.
            self._dependencies, self._unmet = {}, iter(())

    def _next_keys(self, n_keys: int) -> list[object]:
        first = len(self._group)
        lacking = first + n_keys - len(self._keys)
        if lacking > 0:
            self._numbers(list(islice(self._unmet, lacking)))
        return self._keys[first : first + n_keys]

    def _numbers(self, keys: Sequence[object]) -> list[int]:
        index = self._index
        numbers = list(map(index.__getitem__, keys))
        n_new = len(index) - len(self._keys)
        if n_new:
            new = list(islice(reversed(index), n_new))
            self._keys += reversed(new)
        return numbers

    def land(self, tasks: NDArray[np.int32], times: NDArray[np.float64]) -> None:
        """Note when the results of these tasks entered the scheduler's cache."""
        self._enter[tasks] = times

    def numbers(self, keys: Sequence[object]) -> NDArray[np.int32]:
        """Return the number of every key."""
        return np.array(self._numbers(keys), np.int32)

    def measure(self, tasks: NDArray[np.int32], values: NDArray[np.float64]) -> None:
        """Note what the user's cache metric gave for these tasks."""
        if self._values is None:
            self._values = np.full(self.n_keys, np.nan)
        self._values[tasks] = values

    def spare(
        self, tasks: NDArray[np.int32], are_spared: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """Note whether these tasks do not have to run; return those of which that is new, and whether.

        What is said last of a task counts.
        """
        if self.n_keys > len(self._spared):
            self._spared = np.concatenate((self._spared, np.zeros(self.n_keys, bool)))
        tasks, last = np.unique(tasks[::-1], return_index=True)
        are_spared = are_spared[::-1][last]
        is_new = self._spared[tasks] != are_spared
        self._spared[tasks] = are_spared
        return tasks[is_new], are_spared[is_new]

    def spared(self) -> NDArray[np.int32]:
        """Return the numbers of the tasks that do not have to run."""
        return np.flatnonzero(self._spared).astype(np.int32)

    def values_of(self, tasks: NDArray[np.generic]) -> NDArray[np.float64]:
        """Return what the user's cache metric gave for these tasks, NaN where it gave nothing so far."""
        return np.full(len(tasks), np.nan) if self._values is None else self._values[tasks]

    def links(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.int32]]:
        """Return the group of every key, how many dependencies it has, and which; only once `complete`."""
        # An array cannot grow while anyone looks at its memory.
        columns = np.array if self._grows else np.asarray
        return (
            columns(np.frombuffer(self._group, np.uint32)),
            columns(np.frombuffer(self._n_dependencies, np.uint32)),
            columns(np.frombuffer(self._edges, np.int32)) if self._edges else np.empty(0, np.int32),
        )

    def kept(self) -> NDArray[np.int32]:
        """Return the numbers of the keys whose result was asked for; only once `complete`."""
        if self._kept_numbers is None:
            self._kept_numbers = self.numbers([k for k in self._kept if k in self._index])
        return self._kept_numbers

    def held_data(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the numbers of the keys that were data, as far as they were met, and their bytes."""
        sizes = {self._index[k]: size for k, size in self._data.items() if k in self._index}
        return np.array(list(sizes), np.int32), np.array(list(sizes.values()), np.float64)

    def identify(self, tasks: NDArray[np.int32]) -> tuple[NDArray[np.uint32], KeyBlock]:
        """Return group ids and keys of these tasks, which may not have been processed yet."""
        keys = [self._keys[i] for i in tasks.tolist()]
        return self.groups(tasks, keys), key_block(keys)

    def groups(self, tasks: NDArray[np.int32], keys: Sequence[object] | None = None) -> NDArray[np.uint32]:
        """Return the group ids of these tasks; `keys` are their keys, if they are at hand."""
        if self.complete:
            return np.frombuffer(self._group, np.uint32)[tasks]
        keys = [self._keys[i] for i in tasks.tolist()] if keys is None else keys
        return np.array(self._groups_of(keys), np.uint32)

    def outline(self) -> Outline | None:
        """Return the shape of the graph; None before all of it was processed."""
        if not self.complete:
            return None
        return Outline(*self.links(), self.held_data()[0])

    def neighbours(self, task: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the numbers of a task's dependencies and of its dependents, ascending."""
        if self.complete:
            _, n_dependencies, edges = self.links()
            return neighbours(task, n_dependencies, edges)
        key = self._keys[task]
        dependents = [k for k, needed in self._dependencies.items() if key in needed]
        found = (np.sort(self.numbers(list(keys))) for keys in (self._dependencies[key], dependents))
        return next(found).astype(np.int64), next(found).astype(np.int64)

    def part(self, at: GraphPlace, limit: int) -> GraphPart:
        """Return the next piece of the graph for a reader, of up to `limit` keys."""
        keys = self._keys[at.keys : at.keys + limit]
        last = at.keys + len(keys)
        is_known = last <= len(self._group)
        group = self._group[at.keys : last] if is_known else self._groups_of(keys)
        data = (
            {at.keys + i: self._data[k] for i, k in enumerate(keys) if k in self._data} if self._data else {}
        )
        counts = np.array(self._n_dependencies[at.linked : at.linked + limit], np.uint32)
        edges = self._edges[at.edges : at.edges + int(counts.sum(dtype=np.int64))]
        return graph_part(
            at,
            n_keys=self.n_keys,
            start=self.start,
            keys=key_block(keys),
            group=np.array(group, np.uint32),
            data=data,
            links=Links(counts, np.array(edges, np.int32)),
            kept=self.kept() if self.complete and at.settled != self.n_keys else None,
        )

    @property
    def reached(self) -> tuple[int, int]:
        """How many keys were met, and of how many the dependencies are known."""
        return len(self._keys), len(self._group)

    def landed(self) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Return when each key landed, NaN where it has not, and what the user's cache metric gave for it."""
        return self._enter, self._values

    def finish(self) -> GraphColumns:
        """Process what is left and return the columns; what was gathered so far stays usable."""
        while not self.complete:
            self.advance(4096)
        counts = np.array(self._n_dependencies, np.uint32)
        small = counts.astype(np.uint8) if not len(counts) or counts.max() < 256 else counts
        data, data_sizes = self.held_data()
        self._enter[data] = self.start
        return GraphColumns(
            keys=self._builder.build(),
            group=np.array(self._group, np.uint32),
            n_dependencies=small,
            edges=np.array(self._edges, np.int32),
            enter=narrow_times(self._enter, self.start),
            enter_zero=self.start,
            kept=self.kept(),
            data=data,
            data_sizes=data_sizes,
            values=None if self._values is None else self._values.copy(),
            spared=self.spared(),
            errors=dict(self.errors),
        )
