"""A run's graph, turned into columns in slices while the compute goes on."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from taskscope.model.columns import GraphColumns, narrow_times
from taskscope.model.keys import KeyBlock, KeyBuilder, key_block
from taskscope.recorder.runlog import GraphSource

__all__ = ["GraphBuilder"]


class GraphBuilder:
    """Numbers the keys of a graph, and gathers groups and dependencies slice by slice.

    Parameters
    ----------
    source
        What the scheduler knew at the start; it is dropped by `finish`.
    start
        When the run started, on the recorder's axis; data is held from then on.
    groups_of
        Gives the group id of every key of a slice.
    """

    def __init__(
        self, source: GraphSource, start: float, groups_of: Callable[[Sequence[object]], list[int]]
    ) -> None:
        self._source = source
        self._groups_of = groups_of
        self._keys = list(source.dependencies)
        self._dependencies = list(source.dependencies.values())
        self.index: dict[object, int] = dict(zip(self._keys, range(len(self._keys)), strict=True))
        self._builder = KeyBuilder()
        self._group = array("I")
        self._n_dependencies = array("I")
        self._edges = array("i")
        self._start = start
        self._enter = np.full(len(self._keys), np.nan)
        self._data = np.array([self.index[k] for k in source.data if k in self.index], np.int32)
        self._enter[self._data] = start
        self._values: NDArray[np.float64] | None = None
        self.errors: dict[int, str] = {}
        self.group_counts: Counter[int] = Counter()
        """How many tasks (not data) of each group were seen so far."""

    @property
    def complete(self) -> bool:
        """Whether every key was processed."""
        return len(self._group) == len(self._keys)

    def advance(self, count: int) -> None:
        """Process the next `count` keys."""
        first = len(self._group)
        keys = self._keys[first : first + count]
        groups = self._groups_of(keys)
        self._builder.extend(keys)
        dependencies = self._dependencies[first : first + count]
        self._n_dependencies.fromlist(list(map(len, dependencies)))
        index = self.index
        self._edges.fromlist([index[d] for needed in dependencies for d in needed])
        self.group_counts.update(groups)
        if len(self._data):
            data = self._source.data
            self.group_counts.subtract(g for k, g in zip(keys, groups, strict=True) if k in data)
        # Last, because `complete` is read from its length.
        self._group.fromlist(groups)

    def land(self, keys: Sequence[object], times: NDArray[np.float64]) -> None:
        """Note when the results of these keys entered the scheduler's cache."""
        self._enter[self.numbers(keys)] = times

    def numbers(self, keys: Sequence[object]) -> NDArray[np.int32]:
        """Return the number of every key."""
        return np.array(list(map(self.index.__getitem__, keys)), np.int32)

    def measure(self, keys: Sequence[object], values: Sequence[float]) -> None:
        """Note what the user's cache metric gave for these keys."""
        if self._values is None:
            self._values = np.full(len(self._keys), np.nan)
        for key, value in zip(keys, values, strict=True):
            self._values[self.index[key]] = value

    def identify(self, tasks: NDArray[np.int32]) -> tuple[NDArray[np.uint32], KeyBlock]:
        """Return group ids and keys of these tasks, which may not have been processed yet."""
        keys = [self._keys[i] for i in tasks.tolist()]
        return self.groups(tasks, keys), key_block(keys)

    def groups(self, tasks: NDArray[np.int32], keys: Sequence[object]) -> NDArray[np.uint32]:
        """Return the group ids of these tasks, whose keys are `keys`."""
        if self.complete:
            return np.frombuffer(self._group, np.uint32)[tasks]
        return np.array(self._groups_of(keys), np.uint32)

    def finish(self) -> GraphColumns:
        """Process what is left and return the columns; what was gathered so far stays usable."""
        while not self.complete:
            self.advance(4096)
        counts = np.array(self._n_dependencies, np.uint32)
        small = counts.astype(np.uint8) if not len(counts) or counts.max() < 256 else counts
        kept = [self.index[k] for k in self._source.kept if k in self.index]
        sizes = [self._source.data[self._keys[i]] for i in self._data.tolist()]
        return GraphColumns(
            keys=self._builder.build(),
            group=np.array(self._group, np.uint32),
            n_dependencies=small,
            edges=np.array(self._edges, np.int32),
            enter=narrow_times(self._enter, self._start),
            enter_zero=self._start,
            kept=np.array(kept, np.int32),
            data=self._data,
            data_sizes=np.array(sizes, np.float64),
            values=None if self._values is None else self._values.copy(),
            errors=dict(self.errors),
        )
