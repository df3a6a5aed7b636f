"""A run's graph: its scheduler's keys and dependencies, folded into columns while the compute goes on."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taskscope.model.keys import KeyBlock, KeyBuilder, key_block
from taskscope.model.tables.columns import (
    NOT_HELD,
    SKIPPED,
    GraphColumns,
    narrow_times,
    neighbours,
    possible_sizes,
)


@dataclass(frozen=True, slots=True)
class GraphSource:
    """A scheduler's graph at the start: keys and dependencies, no task and no value."""

    dependencies: Mapping[object, Collection[object]]
    kept: frozenset[object]
    data: dict[object, float]
    grows: bool = False
    spans: Mapping[str, str | None] = field(default_factory=dict)
    functions: Mapping[object, str | None] = field(default_factory=dict)
    """The user's functions that tasks call, by names of groups, and by keys of tasks that call others."""


def joined_sources(sources: Sequence[GraphSource]) -> GraphSource:
    """Return the pieces of a graph as one piece."""
    dependencies: dict[object, Collection[object]] = {}
    kept: set[object] = set()
    data: dict[object, float] = {}
    for source in sources:
        dependencies.update(source.dependencies)
        kept |= source.kept
        data.update(source.data)
    return GraphSource(dependencies, frozenset(kept), data, grows=True)


@dataclass(frozen=True, slots=True, eq=False)
class ResultEvent:
    """Tasks of one run: when their results entered the scheduler's cache, or what else is known of them."""

    run: int
    tasks: NDArray[np.int32]
    enter: NDArray[np.float64] | None = None
    values: NDArray[np.float64] | None = None
    needs: NDArray[np.uint8] | None = None
    """Whether tasks have to run, as places in `NEEDS`."""

    def columns(self) -> Iterator[tuple[str, str, NDArray[Any]]]:
        """Yield the table of each kind of event, its column, and the values."""
        found = (("landed", "time_s", self.enter), ("valued", "value", self.values))
        for table, column, values in (*found, ("skipped", "need", self.needs)):
            if values is not None:
                yield table, column, values


class LandingLog:
    """Keeps nothing itself: each reader's queue has its unread rows."""

    def __init__(self) -> None:
        self._readers: list[tuple[int, deque[ResultEvent]]] = []

    def append(self, landed: ResultEvent) -> None:
        """Move new rows to the readers' queues; called by the folding thread only."""
        for first_run, reader in self._readers:
            if landed.run >= first_run:
                reader.append(landed)

    def follow(self, first_run: int) -> deque[ResultEvent]:
        """Return a queue that gets landings of runs from `first_run` on, until `leave`."""
        queue: deque[ResultEvent] = deque()
        self._readers.append((first_run, queue))
        return queue

    def leave(self, queue: deque[ResultEvent]) -> None:
        self._readers = [(run, reader) for run, reader in self._readers if reader is not queue]
        queue.clear()


_MAX_EDGES = 1_000_000


@dataclass(frozen=True, slots=True)
class GraphPlace:
    """How many keys a reader has read, keys with dependencies, dependencies, and keys when it read `kept`."""

    keys: int = 0
    linked: int = 0
    edges: int = 0
    settled: int = -1


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """Dependencies of some keys: how many each has, and their numbers."""

    n_dependencies: NDArray[np.uint32]
    edges: NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class GraphPart:
    """The next piece of a graph, whose numbers are all of keys in it or in pieces before."""

    place: GraphPlace
    n_keys: int
    start: float
    keys: KeyBlock
    group: NDArray[np.uint32]
    data: NDArray[np.int32]
    data_sizes: NDArray[np.float64]
    links: Links
    kept: NDArray[np.int32] | None

    @property
    def is_empty(self) -> bool:
        return not len(self.keys) and not len(self.links.n_dependencies) and self.kept is None


def graph_part(
    at: GraphPlace,
    *,
    n_keys: int,
    start: float,
    keys: KeyBlock,
    group: NDArray[np.uint32],
    data: dict[int, float],
    links: Links,
    kept: NDArray[np.int32] | None,
) -> GraphPart:
    """Return a part of a graph, with the `links` whose keys are in it or in earlier parts."""
    n_read = at.keys + len(keys)
    links = _within(links, n_read)
    place = GraphPlace(n_read, at.linked + len(links.n_dependencies), at.edges + len(links.edges), at.settled)
    is_settled = kept is not None and place.linked == n_keys and at.settled != n_keys
    return GraphPart(
        place=replace(place, settled=n_keys) if is_settled else place,
        n_keys=n_keys,
        start=start,
        keys=keys,
        group=group,
        data=np.array(list(data), np.int32),
        data_sizes=possible_sizes(np.array(list(data.values()), np.float64)),
        links=links,
        kept=kept if is_settled else None,
    )


def _within(links: Links, n_read: int) -> Links:
    ends = np.cumsum(links.n_dependencies, dtype=np.int64)
    # A key with more dependencies than fit still goes, alone.
    count = max(int(np.searchsorted(ends, _MAX_EDGES, side="right")), min(len(ends), 1))
    edges = links.edges[: int(ends[count - 1])] if count else links.edges[:0]
    if len(edges) and int(edges.max()) >= n_read:
        count, edges = 0, edges[:0]
    return Links(links.n_dependencies[:count], edges)


def part_of_columns(graph: GraphColumns, at: GraphPlace, limit: int) -> GraphPart:
    """Return the next piece of a graph that is complete."""
    n = len(graph.group)
    last, linked = min(at.keys + limit, n), min(at.linked + limit, n)
    counts = graph.n_dependencies[at.linked : linked].astype(np.uint32)
    data = (graph.data >= at.keys) & (graph.data < last)
    return graph_part(
        at,
        n_keys=n,
        start=graph.enter_zero,
        keys=graph.keys.take(np.arange(at.keys, last)),
        group=graph.group[at.keys : last],
        data=dict(zip(graph.data[data].tolist(), graph.data_sizes[data].tolist(), strict=True)),
        links=Links(counts, graph.edges[at.edges : at.edges + int(counts.sum(dtype=np.int64))]),
        kept=graph.kept,
    )


@dataclass(frozen=True, slots=True, eq=False)
class GraphShape:
    """The shape of a graph: group ids, how many dependencies each key has, which, and which keys are data."""

    group: NDArray[np.uint32]
    n_dependencies: NDArray[np.uint32]
    edges: NDArray[np.int32]
    data: NDArray[np.int32]


class GraphBuilder:
    """Numbers the keys of a graph, and gathers groups and dependencies slice by slice.

    Keys are numbered when they are first met, in a row or in the graph, so that starting costs nothing
    however large the graph is.
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
        self._needs = np.zeros(0, np.uint8)
        self.errors: dict[int, str] = {}
        self.group_counts: Counter[int] = Counter()
        """How many tasks (not data) of each group were processed."""

    @property
    def complete(self) -> bool:
        return len(self._group) == self.n_keys

    def grow(self, source: GraphSource) -> None:
        """Add keys that are new to a graph that grows, before any row of them is numbered."""
        self._dependencies = {**self._dependencies, **source.dependencies}
        self._unmet = chain(self._unmet, list(source.dependencies))
        self._kept |= source.kept
        self._data.update(source.data)
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
        self._enter[tasks] = times

    def numbers(self, keys: Sequence[object]) -> NDArray[np.int32]:
        return np.array(self._numbers(keys), np.int32)

    def measure(self, tasks: NDArray[np.int32], values: NDArray[np.float64]) -> None:
        if self._values is None:
            self._values = np.full(self.n_keys, np.nan)
        self._values[tasks] = values

    def set_needs(
        self, tasks: NDArray[np.int32], needs: NDArray[np.uint8]
    ) -> tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.uint8]]:
        """Set whether these tasks have to run; return the tasks where that changes, and before and after.

        The last value of a task counts.
        """
        if self.n_keys > len(self._needs):
            self._needs = np.concatenate((self._needs, np.zeros(self.n_keys, np.uint8)))
        tasks, last = np.unique(tasks[::-1], return_index=True)
        before, needs = self._needs[tasks], needs[::-1][last]
        is_new = before != needs
        self._needs[tasks] = needs
        return tasks[is_new], before[is_new], needs[is_new]

    def needs(self) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """Return the tasks that do not have to run, and why, as places in `NEEDS`."""
        tasks = np.flatnonzero(self._needs).astype(np.int32)
        return tasks, self._needs[tasks]

    def values_of(self, tasks: NDArray[np.generic]) -> NDArray[np.float64]:
        """Return the values of the user's cache metric for these tasks, NaN where there is none."""
        return np.full(len(tasks), np.nan) if self._values is None else self._values[tasks]

    def links(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.int32]]:
        """Return the group of every key, how many dependencies it has, and which; only once `complete`."""
        # An array cannot grow while its memory is exported.
        columns = np.array if self._grows else np.asarray
        return (
            columns(np.frombuffer(self._group, np.uint32)),
            columns(np.frombuffer(self._n_dependencies, np.uint32)),
            columns(np.frombuffer(self._edges, np.int32)) if self._edges else np.empty(0, np.int32),
        )

    def kept(self) -> NDArray[np.int32]:
        """Return the numbers of the requested keys; only once `complete`."""
        if self._kept_numbers is None:
            self._kept_numbers = self.numbers([k for k in self._kept if k in self._index])
        return self._kept_numbers

    def held_data(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the numbers of the keys that were data, as far as they were met, and their bytes."""
        sizes = {self._index[k]: size for k, size in self._data.items() if k in self._index}
        return np.array(list(sizes), np.int32), possible_sizes(np.array(list(sizes.values()), np.float64))

    def identify(self, tasks: NDArray[np.int32]) -> tuple[NDArray[np.uint32], KeyBlock]:
        """Return group ids and keys of these tasks, also of unprocessed ones."""
        keys = [self._keys[i] for i in tasks.tolist()]
        return self.groups(tasks, keys), key_block(keys)

    def groups(self, tasks: NDArray[np.int32], keys: Sequence[object] | None = None) -> NDArray[np.uint32]:
        """Return the group ids of these tasks; `keys` are their keys, if the caller has them."""
        if self.complete:
            return np.frombuffer(self._group, np.uint32)[tasks]
        keys = [self._keys[i] for i in tasks.tolist()] if keys is None else keys
        return np.array(self._groups_of(keys), np.uint32)

    def graph_shape(self) -> GraphShape | None:
        """Return the shape of the graph; None before all of it was processed."""
        if not self.complete:
            return None
        return GraphShape(*self.links(), self.held_data()[0])

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
        """Return when each key landed, NaN where it has not, and its value of the user's cache metric."""
        return self._enter, self._values

    def finish(self) -> GraphColumns:
        """Process the rest and return the columns; later calls stay possible."""
        while not self.complete:
            self.advance(4096)
        counts = np.array(self._n_dependencies, np.uint32)
        small = counts.astype(np.uint8) if not len(counts) or counts.max() < 256 else counts
        data, data_sizes = self.held_data()
        unneeded, needs = self.needs()
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
            skipped=unneeded[needs == SKIPPED],
            released=unneeded[needs == NOT_HELD],
            errors=dict(self.errors),
        )


_KEYS_PER_SLICE = 2_000


class RunGraph:
    """The graph of one run, in any state."""

    def __init__(self, run: int) -> None:
        self._run = run
        self.builder: GraphBuilder | None = None
        """The builder that numbers its keys while the run goes on."""
        self._columns: GraphColumns | None = None
        self._totals: Counter[int] = Counter()
        self._let_go = False

    @classmethod
    def dropped(cls, run: int, totals: Counter[int]) -> RunGraph:
        """Return the graph of an ended compute of which only the counts are left."""
        graph = cls(run)
        graph._totals, graph._let_go = totals, True
        return graph

    def advance(self) -> bool:
        """Process a slice; True while there is more."""
        builder = self.builder
        if builder is None or builder.complete:
            return False
        builder.advance(_KEYS_PER_SLICE)
        return not builder.complete

    def seal(self) -> None:
        """Replace the key objects by columns."""
        if self.builder is not None:
            self._columns = self.builder.finish()
            self._totals = Counter(self.builder.group_counts)
            self.builder = None

    def let_go(self) -> None:
        """Drop the graph of an ended compute, but for its counts."""
        if self._columns is not None:
            self._columns, self._let_go = None, True

    @property
    def totals(self) -> Counter[int]:
        """How many tasks it has, as far as it was counted, by group id."""
        return self._totals if self.builder is None else self.builder.group_counts

    @property
    def is_being_counted(self) -> bool:
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
        """The errors of tasks, by their numbers."""
        graph = self._columns or self.builder
        return {} if graph is None else graph.errors

    def needs(self) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """Return the tasks that do not have to run, and why; none once the graph was dropped."""
        graph = self._columns or self.builder
        return (np.empty(0, np.int32), np.empty(0, np.uint8)) if graph is None else graph.needs()

    def landed(self) -> Iterator[ResultEvent]:
        """Yield landings, values of the user's metric, and the tasks that do not have to run."""
        if self.builder is not None:
            enter, values = self.builder.landed()
        elif self._columns is not None:
            enter, values = self._columns.enter_times(), self._columns.values
        else:
            return
        tasks = np.flatnonzero(~np.isnan(enter)).astype(np.int32)
        yield ResultEvent(self._run, tasks, enter=enter[tasks])
        if values is not None:
            tasks = np.flatnonzero(~np.isnan(values)).astype(np.int32)
            yield ResultEvent(self._run, tasks, values=values[tasks])
        tasks, needs = self.needs()
        if len(tasks):
            yield ResultEvent(self._run, tasks, needs=needs)

    def part(self, at: GraphPlace, limit: int) -> GraphPart | None:
        """Return the next piece, of about `limit` keys; None before it is known."""
        if self._columns is not None:
            return part_of_columns(self._columns, at, limit)
        return None if self.builder is None else self.builder.part(at, limit)

    def columns(self) -> GraphColumns | None:
        """Return its columns, finished if need be; None where it is unknown or was dropped."""
        return self._columns if self.builder is None else self.builder.finish()

    def identify(self, tasks: NDArray[np.int32]) -> tuple[NDArray[np.uint32], KeyBlock]:
        return self._known().identify(tasks)

    def neighbours(self, task: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the numbers of a task's dependencies and of its dependents, ascending."""
        return self._known().neighbours(task)

    def _known(self) -> GraphColumns | GraphBuilder:
        graph = self._columns or self.builder
        if graph is None:
            raise LookupError(f"run {self._run} has rows but no graph")
        return graph
