"""Cache usage during a run: the scheduler's, from landings and graph, and the memory of workers, by poll."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from taskscope.model.tables.cache_usage import CacheEvents, CacheRows, CacheSeries
from taskscope.record.tables.groups import GroupTable
from taskscope.record.writers.graph import GraphBuilder

_MAX_LANDINGS = 5_000
_PAUSE_S = 0.09


def metric_name(metric: Callable[[object], object]) -> str:
    """Return the name of a user's cache metric."""
    return str(getattr(metric, "__name__", type(metric).__name__))


class Occupancy:
    """The cache of one run."""

    def __init__(self, run: int, builder: GraphBuilder, *, has_metric: bool) -> None:
        self._builder = builder
        self._has_metric = has_metric
        self._series = CacheSeries(run, builder.start, has_value=has_metric)
        self._size = np.full(builder.n_keys, np.nan)
        self._folded = np.zeros(builder.n_keys, np.bool_)
        self._tasks: list[NDArray[np.int32]] = []
        self._times: list[NDArray[np.float64]] = []
        self._n_waiting = 0
        self._n_unvalued = 0
        self._next_step = 0
        self._looked_s = float("-inf")
        self._needed: NDArray[np.int64] | None = None

    @property
    def behind(self) -> bool:
        return self._n_waiting > 0

    def note_sizes(self, tasks: NDArray[np.int32], sizes: NDArray[np.float64]) -> None:
        self._size[tasks] = sizes
        self._folded[tasks] = True

    def note_landings(self, tasks: NDArray[np.int32], times: NDArray[np.float64]) -> None:
        self._tasks.append(tasks)
        self._times.append(times)
        self._n_waiting += len(tasks)
        self._n_unvalued += len(tasks) * self._has_metric

    def note_values(self, count: int) -> None:
        """Mark the metric's values of `count` more landings as known."""
        self._n_unvalued -= count

    def advance(self, now_s: float, *, over: bool) -> CacheRows:
        """Process some landings and return the settled rows; once `over`, unknown values stay unknown."""
        early = now_s - self._looked_s < _PAUSE_S and self._n_waiting < _MAX_LANDINGS
        if not self._builder.complete or (early and not over):
            return CacheRows.empty()
        self._looked_s = now_s
        begun = [self._begin()] if self._needed is None else []
        landed = self._events(*self._take(over=over))
        return self._series.add(CacheEvents.concat([*begun, landed]), now_s)

    def close(self, stop: float) -> CacheRows:
        """Return the last rows: the cache is empty from `stop` on."""
        return self._series.close(stop)

    def _begin(self) -> CacheEvents:
        """Count how many dependents each key waits for, and let the data enter."""
        builder = self._builder
        self._group, n_dependencies, self._edges = builder.links()
        self._offset = np.concatenate(([0], np.cumsum(n_dependencies, dtype=np.int64)))
        needed = np.bincount(self._edges, minlength=len(self._group))
        needed[builder.kept()] += 1  # never leaves
        self._needed = needed
        data, sizes = builder.held_data()
        self._size[data] = sizes
        entered = self._moves(data, np.zeros(len(data), np.int64), 1, np.full(1, builder.start))
        self._next_step = 1
        return entered

    def _take(self, *, over: bool) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Remove landings from the front, as far as sizes and values are known."""
        tasks = np.concatenate([np.empty(0, np.int32), *self._tasks])
        times = np.concatenate([np.empty(0), *self._times])
        count = min(len(tasks), _MAX_LANDINGS)
        if not over:
            unknown = np.flatnonzero(~self._folded[tasks[:count]])
            count = min(count, int(unknown[0]) if len(unknown) else count, len(tasks) - self._n_unvalued)
        self._tasks, self._times = [tasks[count:]], [times[count:]]
        self._n_waiting -= count
        return tasks[:count], times[:count]

    def _events(self, tasks: NDArray[np.int32], times: NDArray[np.float64]) -> CacheEvents:
        steps = np.arange(len(tasks))
        freed, freed_by = self._free(tasks, steps)
        events = CacheEvents.concat(
            [self._moves(tasks, steps, 1, times), self._moves(freed, freed_by, -1, times)]
        )
        self._next_step += len(tasks)
        return events.part(np.argsort(events.step, kind="stable"))

    def _free(
        self, tasks: NDArray[np.int32], steps: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the keys that these landings free, and for each the landing that freed it."""
        assert self._needed is not None, "advance begins first"
        first, last = self._offset[tasks], self._offset[tasks + 1]
        counts = last - first
        ends = np.cumsum(counts)
        edges = np.repeat(first - ends + counts, counts) + np.arange(ends[-1] if len(ends) else 0)
        order = np.argsort(self._edges[edges], kind="stable")
        keys, places, uses = np.unique(self._edges[edges][order], return_index=True, return_counts=True)
        by = np.repeat(steps, counts)[order][places + uses - 1]
        self._needed[keys] -= uses
        free = self._needed[keys] == 0
        return keys[free].astype(np.int64), by[free]

    def _moves(
        self, keys: NDArray[np.generic], steps: NDArray[np.int64], sign: int, times: NDArray[np.float64]
    ) -> CacheEvents:
        return CacheEvents(
            step=self._next_step + steps,
            time=times[steps],
            group=self._group[keys].astype(np.int64),
            sign=np.full(len(keys), sign),
            size=self._size[keys],
            value=self._builder.values_of(keys),
        )


class Holding(NamedTuple):
    """How much of a group workers hold."""

    key: object
    n_keys: int
    nbytes: float
    n_unsized: int


class HoldingLog:
    """Polls of results in workers' memory, in order."""

    def __init__(self) -> None:
        self._looks: deque[tuple[int, float, Sequence[Holding]]] = deque()

    def note(self, run: int, time_s: float, holdings: Sequence[Holding]) -> None:
        """Append the changed groups of a run, in seconds after the recorder's zero; from any thread."""
        self._looks.append((run, time_s, holdings))

    def is_empty(self) -> bool:
        """Whether all was folded; safe from any thread."""
        return not self._looks

    def fold(self, groups: GroupTable) -> Iterator[tuple[int, CacheRows]]:
        """Yield the rows that are new since, each with its run; for the one reader that folds."""
        while self._looks:
            run, time_s, holdings = self._looks.popleft()
            n = len(holdings)
            n_keys = np.array([h.n_keys for h in holdings], np.uint32)
            yield (
                run,
                CacheRows(
                    run=np.full(n, run, np.int32),
                    group=np.array(groups.ids([h.key for h in holdings]), np.uint32),
                    time=np.full(n, time_s),
                    n_keys=n_keys,
                    nbytes=np.array([h.nbytes for h in holdings], np.float64),
                    n_unsized=np.array([h.n_unsized for h in holdings], np.uint32),
                    value=np.zeros(n),
                    n_unvalued=n_keys,
                ),
            )
