"""What workers have added to their times for the distance of clocks, as their reports show it.

A worker's report of a task holds the moment of the report by its own clock, uncorrected, and that is right
after the task's stop. A report may be late, and is never early: so what was added is what it seems to be, or
more. It is the same for all tasks between two heartbeats, so reports that were in time show which were late.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from statistics import median
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from taskscope.sources.cluster.records import Executions

__all__ = ["Reports", "applied_corrections"]

_NEIGHBOURS = 8
_NEAR_S = 0.2
_NEXT = 3
_NEXT_S = 0.05
"""Within it a heartbeat, of which there is one in half a second at most, hardly ever changes it."""
_STRETCH_S = 0.25
"""Shorter than the time between two heartbeats, so that none of them is missed."""
_STRETCHES = 32
_FEWEST = 8
_SPREAD = 8.0
"""Were delays exponential, one in 500 measurements would be lower than so many median deviations."""
_UNSPREAD_S = 5e-4
_LATEST_S = 1.0
"""A report is hardly ever later; more is a clock that was set."""
_Floats: TypeAlias = NDArray[np.float64]


class Reports:
    """The last reports of one worker, and how much it added at other times."""

    def __init__(self) -> None:
        self._last: deque[tuple[float, float]] = deque(maxlen=_NEIGHBOURS)
        self._stretches: deque[tuple[float, float]] = deque(maxlen=_STRETCHES)
        """The beginnings of stretches of time, and the most that was seen to be added in each."""
        self._usual: tuple[float, float] | None = None

    def note(self, stop: float, reported: float) -> None:
        """Remember when a task stopped, as the worker told it, and when that was reported, by its clock."""
        if not self._last or reported > self._last[-1][1]:
            self._last.append((stop, reported))
        start, seen = stop // _STRETCH_S, stop - reported
        if not self._stretches or start > self._stretches[-1][0]:
            self._stretches.append((start, seen))
            self._usual = None
        elif start == self._stretches[-1][0] and seen > self._stretches[-1][1]:
            self._stretches[-1] = (start, seen)
            self._usual = None

    def before(self, moment: float) -> list[tuple[float, float]]:
        """Return the last ones that were made before a moment of the worker's clock."""
        return [(stop, reported) for stop, reported in self._last if reported < moment]

    def usual(self) -> tuple[float, float]:
        """Return the least that the worker can be believed to have added, and what it adds mostly.

        Both are of what its heartbeats have measured lately; while these are few, anything is believed.
        """
        if len(self._stretches) < _FEWEST:
            return -math.inf, 0.0
        if self._usual is None:
            added = [most for _, most in self._stretches]
            middle = median(added)
            spread = median(abs(most - middle) for most in added)
            self._usual = (middle - _SPREAD * spread - _UNSPREAD_S, middle)
        return self._usual


def applied_corrections(worker: NDArray[np.int64], told: Executions, reports: Sequence[Reports]) -> _Floats:
    """Return what workers had added to the times of each of their tasks, NaN where that is not known.

    What was added seems too little at times, for some tasks; and it changes for good with a heartbeat. So it
    is what it seems to be, or, if that is more, the less of the most right before and the most right after;
    where nothing is told of one side, what those next to it on the other say: a change between them is rarer
    than a late report. Where those do not say either, it may be less than the worker was ever seen to add:
    then it is what those farther off say, or what it adds mostly.

    Parameters
    ----------
    worker
        A number for the worker of each.
    told
        The tasks, those of each worker in its order.
    reports
        The earlier ones of the worker of each number; these are noted, too.
    """
    earlier = _earlier(worker, told.reported, reports)
    workers = np.concatenate((earlier[0], worker))
    stop = np.concatenate((earlier[1], told.computed_stop))
    seen = stop - np.concatenate((earlier[2], told.reported))
    order = np.argsort(workers, kind="stable")
    found = np.empty_like(seen)
    found[order] = _corrected(workers[order], stop[order], seen[order], reports)
    new = (worker, told.computed_stop, told.reported)
    known = ~np.isnan(told.computed_stop - told.reported)
    for number, *times in zip(*(column[known].tolist() for column in new), strict=True):
        reports[number].note(*times)
    return found[len(earlier[0]) :]


def _earlier(
    worker: NDArray[np.int64], reported: _Floats, reports: Sequence[Reports]
) -> tuple[NDArray[np.int64], _Floats, _Floats]:
    """Return the last reports before these: their workers, when tasks stopped, and when they were made."""
    first = np.full(len(reports), np.inf)
    np.fmin.at(first, worker, reported)
    rows = [
        (number, *report)
        for number, moment in enumerate(first.tolist())
        for report in reports[number].before(moment)
    ]
    numbers, stops, moments = zip(*rows, strict=True) if rows else ((), (), ())
    return np.array(numbers, np.int64), np.array(stops, np.float64), np.array(moments, np.float64)


def _corrected(
    worker: NDArray[np.int64], stop: _Floats, seen: _Floats, reports: Sequence[Reports]
) -> _Floats:
    """Return what was added to tasks that are told worker by worker."""
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
    alone = np.isnan(both) & np.isnan(np.fmax(*next_to)) & ~np.isnan(seen)
    farther = np.fmax(*sides)
    for place in np.flatnonzero(alone).tolist():
        least, mostly = reports[worker[place]].usual()
        before = place - 1
        is_second = place > 0 and alone[before] and worker[before] == worker[place] and seen[before] < least
        # One alone may be late, and hardly two in a row: what is added has changed for good, then.
        if least - _LATEST_S < seen[place] < least and not is_second:
            said = farther[place]
            found[place] = max(seen[place], mostly if np.isnan(said) else said)
    return found


def _most(sides: _Floats, near: _Floats, distance: int) -> None:
    """Take what tasks so many places before and after each say, if it is more."""
    sides[0, distance:] = np.fmax(sides[0, distance:], near[0])
    sides[1, :-distance] = np.fmax(sides[1, :-distance], near[1])
