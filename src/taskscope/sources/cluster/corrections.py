"""What workers have added to the times that they tell, to be taken out.

A worker adds what it takes for its clock's distance from the scheduler's: one unfiltered measurement per
heartbeat, which on a busy machine is off by tens of milliseconds. What is put in its place is measured
(`ClockProbe`): nothing for workers on the scheduler's own host.

A worker's report of a task holds the moment of the report by its own clock, uncorrected, and that is right
after the task's stop. A report may be late, and is never early: so what was added is what it seems to be, or
more. It is the same for all tasks between two heartbeats, so reports that were in time show which were late.
Nor is it so much more that a task would have begun before the one before it on its thread was over.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from taskscope.model.tables.activities import ACTIVITIES
from taskscope.sources.cluster.executions import Executions

__all__ = ["UNCORRECTED", "Corrections"]

UNCORRECTED = (ACTIVITIES.index("disk-read"), ACTIVITIES.index("disk-write"))
"""The kinds of steps to which workers add nothing."""
_NEIGHBOURS = 8
_NEAR_S = 0.2
_NEXT = 3
_NEXT_S = 0.05
"""Within it a heartbeat, of which there is one in half a second at most, hardly ever changes it."""
_Floats: TypeAlias = NDArray[np.float64]
_Numbers: TypeAlias = NDArray[np.int64]


class _Reports(NamedTuple):
    """Reports of tasks, a column each; `added` is what was found that was added to their times."""

    worker: _Numbers
    thread: _Numbers
    start: _Floats
    stop: _Floats
    reported: _Floats
    added: _Floats

    def part(self, rows: NDArray[np.bool_] | _Numbers) -> _Reports:
        return _Reports._make(column[rows] for column in self)

    def and_then(self, later: _Reports) -> _Reports:
        return _Reports._make(np.concatenate(both) for both in zip(self, later, strict=True))


class Corrections:
    """What the workers of one cluster have added; the last reports of each are held against the next ones."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        nothing = np.empty(0)
        self._last = _Reports(nothing.astype(np.int64), nothing.astype(np.int64), *(nothing,) * 4)

    def applied(self, batch: Executions) -> _Floats:
        """Return what workers had added to the times of each of their tasks, NaN where that is not known.

        What was added seems too little at times, for some tasks; and it changes for good with a heartbeat. So
        it is what it seems to be, or, if that is more, the less of the most right before and the most right
        after; where nothing is told of one side, what those next to it on the other say, but for what a
        thread cannot have done: it begins a task after the last one.

        Parameters
        ----------
        told
            The tasks, those of each worker in its order.
        """
        numbers = self._numbers
        new = _Reports(
            np.array([numbers.setdefault(address, len(numbers)) for address in batch.workers], np.int64),
            np.array(batch.threads, np.int64),
            batch.steps.start[batch.computed],
            batch.computed_stop,
            batch.reported,
            np.full(len(batch), np.nan),
        )
        before = self._last.part(self._last.reported < self._of_each(np.fmin, np.inf, new)[self._last.worker])
        reports = before.and_then(new)
        order = np.argsort(reports.worker, kind="stable")
        seen = reports.stop - reports.reported
        found = np.empty_like(seen)
        found[order] = _by_neighbours(reports.worker[order], reports.stop[order], seen[order])
        found[: len(before.added)] = before.added
        found = _by_threads(reports, seen, found)[len(before.added) :]
        self._remember(new._replace(added=found))
        return found

    def _of_each(self, least: np.ufunc, nothing: float, reports: _Reports) -> _Floats:
        """Return when each worker's first (`np.fmin`) or last (`np.fmax`) of some reports was made."""
        moments = np.full(len(self._numbers), nothing)
        least.at(moments, reports.worker, reports.reported)
        return moments

    def _remember(self, new: _Reports) -> None:
        """Keep the last ones; what is read again is known."""
        known = self._of_each(np.fmax, -np.inf, self._last)[new.worker]
        reports = self._last.and_then(new.part((new.reported > known) & ~np.isnan(new.added)))
        order = np.argsort(reports.worker, kind="stable")
        worker = reports.worker[order]
        n_later = np.searchsorted(worker, worker, side="right") - 1 - np.arange(len(worker))
        self._last = reports.part(order[n_later < _NEIGHBOURS])


def _by_neighbours(worker: _Numbers, stop: _Floats, seen: _Floats) -> _Floats:
    """Return what was added to tasks that are told worker by worker, as those around them say."""
    sides = np.full((2, len(seen)), np.nan)
    next_to = sides.copy()
    for distance in range(1, min(_NEIGHBOURS, len(seen) - 1) + 1):
        apart_s = np.abs(stop[distance:] - stop[:-distance])
        is_near = (worker[distance:] == worker[:-distance]) & (apart_s <= _NEAR_S)
        near = np.where(is_near, (seen[:-distance], seen[distance:]), np.nan)
        _most(sides, near, distance)
        if distance <= _NEXT:
            _most(next_to, np.where(apart_s <= _NEXT_S, near, np.nan), distance)
    both = np.minimum(*sides)
    found: _Floats = np.fmax(seen, np.where(np.isnan(both), np.fmax(*next_to), both))
    return found


def _most(sides: _Floats, near: _Floats, distance: int) -> None:
    """Take what tasks so many places before and after each say, if it is more."""
    sides[0, distance:] = np.fmax(sides[0, distance:], near[0])
    sides[1, :-distance] = np.fmax(sides[1, :-distance], near[1])


def _by_threads(reports: _Reports, seen: _Floats, found: _Floats) -> _Floats:
    """Return what was found, or less where a task would have begun before its thread was free."""
    order = np.lexsort((reports.thread, reports.worker))
    before, after = order[:-1], order[1:]
    is_next = (reports.worker[before] == reports.worker[after]) & (
        reports.thread[before] == reports.thread[after]
    )
    free = reports.stop[before] - found[before]
    most = np.full_like(found, np.nan)
    most[after[is_next]] = (reports.start[after] - free)[is_next]
    return np.where(np.isnan(found), found, np.fmax(seen, np.fmin(found, most)))
