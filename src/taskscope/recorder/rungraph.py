"""The graph of one run: read slice by slice while the run goes on, columns afterwards, at last let go of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from taskscope.model.columns import GraphColumns
from taskscope.model.keys import KeyBlock
from taskscope.recorder.graph import GraphBuilder, Outline
from taskscope.recorder.graphpart import GraphPart, GraphPlace, part_of_columns
from taskscope.recorder.graphsource import GraphSource
from taskscope.recorder.landings import Landed

__all__ = ["RunGraph"]

_KEYS_PER_SLICE = 2_000


class RunGraph:
    """What is known of the graph of one run, whichever state it is in.

    Parameters
    ----------
    run
        The run's number.
    """

    def __init__(self, run: int) -> None:
        self._run = run
        self.builder: GraphBuilder | None = None
        """What numbers its keys while the run goes on."""
        self._columns: GraphColumns | None = None
        self._totals: Counter[int] = Counter()
        self._let_go = False

    def begin(
        self, source: GraphSource, start: float, groups_of: Callable[[Sequence[object]], list[int]]
    ) -> GraphBuilder:
        """Start to read it; the parameters are those of `GraphBuilder`."""
        self.builder = GraphBuilder(source, start, groups_of)
        return self.builder

    def advance(self) -> bool:
        """Process a slice; True while there is more."""
        builder = self.builder
        if builder is None or builder.complete:
            return False
        builder.advance(_KEYS_PER_SLICE)
        return not builder.complete

    def seal(self) -> None:
        """Let go of the key objects; columns take their place."""
        if self.builder is not None:
            self._columns = self.builder.finish()
            self._totals = Counter(self.builder.group_counts)
            self.builder = None

    def let_go(self) -> None:
        """Forget all but the counts, once it is sealed."""
        if self._columns is not None:
            self._columns, self._let_go = None, True

    @property
    def totals(self) -> Counter[int]:
        """How many tasks it has, as far as it was counted, by group id."""
        return self._totals if self.builder is None else self.builder.group_counts

    @property
    def is_being_counted(self) -> bool:
        """Whether it is known and not all of it was processed."""
        return self.builder is not None and not self.builder.complete

    @property
    def is_counted(self) -> bool:
        """Whether `totals` has all of its tasks."""
        return (
            self._let_go or self._columns is not None or (self.builder is not None and self.builder.complete)
        )

    @property
    def reached(self) -> tuple[int, int]:
        """How many keys were met, and of how many the dependencies are known."""
        if self._columns is not None:
            return len(self._columns.group), len(self._columns.group)
        return (0, 0) if self.builder is None else self.builder.reached

    @property
    def errors(self) -> Mapping[int, str]:
        """What tasks raised, by their numbers."""
        graph = self._columns or self.builder
        return {} if graph is None else graph.errors

    def spared(self) -> NDArray[np.int32]:
        """Return the numbers of the tasks that do not have to run, as far as it is held."""
        if self.builder is not None:
            return self.builder.spared()
        return np.empty(0, np.int32) if self._columns is None else self._columns.spared

    def landed(self) -> Iterator[Landed]:
        """Yield what has landed so far, what the user's metric gave, and what does not have to run."""
        if self.builder is not None:
            (enter, values), spared = self.builder.landed(), self.builder.spared()
        elif self._columns is not None:
            enter, values, spared = self._columns.enter_times(), self._columns.values, self._columns.spared
        else:
            return
        tasks = np.flatnonzero(~np.isnan(enter)).astype(np.int32)
        yield Landed(self._run, tasks, enter=enter[tasks])
        if values is not None:
            tasks = np.flatnonzero(~np.isnan(values)).astype(np.int32)
            yield Landed(self._run, tasks, values=values[tasks])
        if len(spared):
            yield Landed(self._run, spared, spared=np.ones(len(spared), bool))

    def part(self, at: GraphPlace, limit: int) -> GraphPart | None:
        """Return the next piece, of about `limit` keys; None before it is known."""
        if self._columns is not None:
            return part_of_columns(self._columns, at, limit)
        return None if self.builder is None else self.builder.part(at, limit)

    def outline(self) -> Outline | None:
        """Return its shape while the run goes on; None before all of it was seen."""
        return None if self.builder is None else self.builder.outline()

    def columns(self) -> GraphColumns | None:
        """Return its columns, finished if need be; None where it is not known or not held any more."""
        return self._columns if self.builder is None else self.builder.finish()

    def identify(self, tasks: NDArray[np.int32]) -> tuple[NDArray[np.uint32], KeyBlock]:
        """Return group ids and keys of these tasks."""
        if self._columns is not None:
            return self._columns.group[tasks], self._columns.keys.take(tasks)
        if self.builder is None:
            raise LookupError(f"run {self._run} has rows but no graph")
        return self.builder.identify(tasks)

    def neighbours(self, task: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the numbers of a task's dependencies and of its dependents, ascending."""
        graph = self._columns or self.builder
        if graph is None:
            raise LookupError(f"run {self._run} has rows but no graph")
        return graph.neighbours(task)
