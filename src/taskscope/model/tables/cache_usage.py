"""A scheduler's cache over time: many keys that enter and leave, few exact rows.

In a compute of a million tasks two million keys enter or leave, and a screen has some thousand pixel columns.
So time is cut into short bins, and each has rows for the moments of its largest, its smallest and its last
state. These are exact; whatever lies between them is within them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, TypeAlias

import numpy as np
from numpy.typing import NDArray

from taskscope.model.tables.columns import distinct
from taskscope.schema import About, Rows

_Floats: TypeAlias = NDArray[np.float64]
_Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class CacheRows(Rows):
    """A run's keys of a group in the cache, from a moment on: each run's rows in order of time.

    Rows of a run with equal time are one moment.
    """

    run: Annotated[NDArray[np.int32], About("The compute whose results they are.", refers="runs.run")]
    group: Annotated[NDArray[np.uint32], About("The task group of the results.", refers="groups.id")]
    time: Annotated[NDArray[np.float64], About("From when on this is so.", unit="s", is_time=True)]
    n_keys: Annotated[NDArray[np.uint32], About("How many results are in memory.")]
    nbytes: Annotated[NDArray[np.float64], About("How large those of known size are together.", unit="bytes")]
    n_unsized: Annotated[NDArray[np.uint32], About("How many of them have no known size.")]
    value: Annotated[
        NDArray[np.float64],
        About("Those of known value together, in the user's cache metric; 0 without one.", internal=True),
    ]
    n_unvalued: Annotated[
        NDArray[np.uint32], About("How many have no known value; `n_keys` without a metric.", internal=True)
    ]

    def until(self, end: float) -> _Floats:
        """Return when each row is replaced by the next row of its run and group; `end` for the last ones."""
        order = np.lexsort((self.time, self.group, self.run))
        run, group, time = self.run[order], self.group[order], self.time[order]
        is_last = np.ones(len(self), np.bool_)
        is_last[:-1] = (run[1:] != run[:-1]) | (group[1:] != group[:-1])
        until = np.empty(len(self))
        until[order] = np.where(is_last, np.maximum(time, end), np.roll(time, -1))
        return until


NO_CACHE_ROWS = CacheRows.empty()


@dataclass(frozen=True, slots=True, eq=False)
class CacheEvents(Rows):
    """Keys that enter or leave, by time."""

    step: Annotated[_Ints, About("Events of one step happened at once.")]
    time: Annotated[_Floats, About("When it was.", unit="s", is_time=True)]
    group: Annotated[_Ints, About("The task group of the key.", refers="groups.id")]
    sign: Annotated[_Ints, About("1: the key came; -1: it went.")]
    size: Annotated[_Floats, About("How large its result is; NaN: unknown.", unit="bytes")]
    value: Annotated[_Floats, About("What the user's cache metric says of it; NaN: nothing.")]


@dataclass(frozen=True, slots=True)
class TimeBins:
    """How time after a run's start is cut: at first evenly, then ever longer, up to a second."""

    shortest_s: float = 0.005
    per_run: int = 500

    def numbers(self, elapsed: _Floats) -> _Floats:
        even_s = self.shortest_s * self.per_run
        slow_s = max(float(self.per_run), even_s)
        numbers: _Floats = np.clip(elapsed, 0.0, even_s) / self.shortest_s
        if np.fmax.reduce(elapsed, initial=0.0) > even_s:
            numbers += np.log(np.clip(elapsed, even_s, slow_s) / even_s) * self.per_run
            numbers += np.maximum(elapsed - slow_s, 0.0)
        return np.floor(numbers)


_N_SUMS = 5


class CacheSeries:
    """Turns the events of one run into rows."""

    def __init__(self, run: int, start: float, *, has_value: bool, bins: TimeBins | None = None) -> None:
        self._run = run
        self._start = start
        self._n_measures = 3 if has_value else 2
        self._bins = bins or TimeBins()
        self._waiting: list[CacheEvents] = []
        self._totals = np.zeros(3)
        self._held: dict[int, NDArray[np.float64]] = {}

    def add(self, events: CacheEvents, now: float) -> CacheRows:
        """Take events not earlier than those before; return the rows of bins that are over at `now`."""
        pending = CacheEvents.concat([*self._waiting, events]) if self._waiting else events
        number = self._numbers(pending)
        n_over = int(np.searchsorted(number, self._bins.numbers(np.array([now - self._start]))[0]))
        self._waiting = [pending.part(slice(n_over, None))]
        return self._rows(pending.part(slice(n_over)), number[:n_over])

    def flush(self) -> CacheRows:
        if not self._waiting:
            return CacheRows.empty()
        pending = CacheEvents.concat(self._waiting)
        self._waiting = []
        return self._rows(pending, self._numbers(pending))

    def close(self, stop: float) -> CacheRows:
        """Return the rows that are left, the last of which have an empty cache from `stop` on."""
        rows = self.flush()
        groups = sorted(g for g, sums in self._held.items() if sums[0])
        zero = np.zeros((len(groups), _N_SUMS))
        return CacheRows.concat(
            [rows, self._block(np.array(groups, np.int64), np.full(len(groups), float(stop)), zero)]
        )

    def _numbers(self, events: CacheEvents) -> _Floats:
        return self._bins.numbers(events.time - self._start)

    def _rows(self, events: CacheEvents, number: _Floats) -> CacheRows:
        if not len(events):
            return CacheRows.empty()
        deltas = _deltas(events)
        ends = np.flatnonzero(np.diff(events.step, append=-1))
        totals = self._totals + np.column_stack([np.cumsum(deltas[i])[ends] for i in (0, 1, 3)])
        self._totals = totals[-1]
        moments = ends[_extremes(totals[:, : self._n_measures], number[ends])]
        return self._states(events, deltas, moments)

    def _states(self, events: CacheEvents, deltas: Sequence[_Floats], moments: _Ints) -> CacheRows:
        """Return the state of every group that changed, at each moment (given by its last event's place)."""
        moment = np.repeat(np.arange(len(moments)), np.diff(moments, prepend=-1))
        pairs, place = _distinct(events.group * len(moments) + moment)
        group, at = pairs // len(moments), pairs % len(moments)
        sums = np.column_stack([np.bincount(place, delta, len(pairs)) for delta in deltas])
        firsts = np.flatnonzero(np.diff(group, prepend=-1))
        before = np.array([self._held.get(g, np.zeros(_N_SUMS)) for g in group[firsts].tolist()])
        sums[firsts] += before
        states: _Floats = np.cumsum(sums, axis=0)
        states -= np.repeat(states[firsts] - sums[firsts], np.diff(firsts, append=len(group)), axis=0)
        # Sums of floats do not return to 0 exactly.
        states[states[:, 0] == 0] = 0.0
        lasts = np.append(firsts[1:], len(group)) - 1
        self._held.update(zip(group[lasts].tolist(), states[lasts], strict=True))
        order = np.argsort(at, kind="stable")
        return self._block(group[order], events.time[moments[at[order]]], states[order])

    def _block(self, group: _Ints, time: _Floats, states: _Floats) -> CacheRows:
        count = partial(np.asarray, dtype=np.uint32)
        return CacheRows(
            run=np.full(len(group), self._run, np.int32),
            group=group.astype(np.uint32),
            time=time,
            n_keys=count(states[:, 0]),
            # Sums of floats can end a little below 0.
            nbytes=np.maximum(states[:, 1], 0.0),
            n_unsized=count(states[:, 2]),
            value=states[:, 3],
            n_unvalued=count(states[:, 4]),
        )


def _deltas(events: CacheEvents) -> list[_Floats]:
    sign = events.sign.astype(np.float64)
    unsized, unvalued = ~np.isfinite(events.size), ~np.isfinite(events.value)
    return [
        sign,
        np.where(unsized, 0.0, events.size) * sign,
        unsized * sign,
        np.where(unvalued, 0.0, events.value) * sign,
        unvalued * sign,
    ]


def _distinct(values: _Ints) -> tuple[_Ints, _Ints]:
    """Return the distinct values in order, and the place of each; many of few without sorting them."""
    if values.max() > 2 * len(values):
        return np.unique(values, return_inverse=True)
    is_there = np.bincount(values) > 0
    return np.flatnonzero(is_there), (np.cumsum(is_there) - 1)[values]


def _extremes(totals: NDArray[np.float64], number: _Floats) -> _Ints:
    """Return the places of the most, the least and the last of every stretch, in order, each once."""
    starts = np.flatnonzero(np.diff(number, prepend=-1.0))
    sizes = np.diff(starts, append=len(number))
    found = [starts + sizes - 1]
    stretch = np.repeat(np.arange(len(starts)), sizes)
    for measure in totals.T:
        for ufunc in (np.maximum, np.minimum):
            best = np.repeat(ufunc.reduceat(measure, starts), sizes)
            places = np.flatnonzero(measure == best)
            _, first = np.unique(stretch[places], return_index=True)
            found.append(places[first])
    return distinct(np.concatenate(found))
