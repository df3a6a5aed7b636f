"""The clocks that every measurement is taken with, behind one injectable object."""

from __future__ import annotations

import math
import time
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

TICK_S = 2.0**-30
"""The unit in which times are recorded (0.93 ns): whole multiples are the same numbers in files."""

_Seconds = TypeVar("_Seconds", float, NDArray[np.float64])
_COARSE = 1.5 * 2**52 * TICK_S
"""Numbers about as large as this are a tick apart."""

_CLOSE_S = 10e-6
_MAX_COMPARISONS = 10


@dataclass(frozen=True, slots=True)
class Clock:
    """Three clocks, as plain callables so that the hot path pays one call each."""

    perf_counter: Callable[[], float] = time.perf_counter
    thread_time: Callable[[], float] = time.thread_time
    time: Callable[[], float] = time.time

    def shift_s(self) -> float:
        """Return the seconds that lie between the wall clock and `perf_counter`, to be added to the former.

        Notes
        -----
        A thread may lose its turn between two readings, for a tenth of a second where much runs; so the wall
        clock is read between two others until those are close, and the closest are taken.
        """
        readings = (self._compare() for _ in range(_MAX_COMPARISONS))
        best = next(readings)
        while best[0] > _CLOSE_S and (other := next(readings, None)) is not None:
            best = min(best, other)
        return best[1]

    def _compare(self) -> tuple[float, float]:
        """Return the uncertainty of a comparison of the two clocks, and its result."""
        before = self.perf_counter()
        now = self.time()
        after = self.perf_counter()
        return after - before, (before + after) / 2 - now


SYSTEM_CLOCK = Clock()

_CHANGED_S = 0.1
_MAX_CHANGES = 1_000


class Dates:
    """The wall-clock time of moments of `Clock.perf_counter`, which stands still while a computer sleeps."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._compared = -math.inf
        self._shifts: list[tuple[float, float]] = []
        """From which moment on the wall clock was so much behind; replaced as a whole."""
        self.compare()

    def compare(self) -> None:
        """Compare the two clocks; a difference that is new holds since they were compared last."""
        shift_s, now = self._clock.shift_s(), self._clock.perf_counter()
        if not self._shifts or abs(shift_s - self._shifts[-1][1]) > _CHANGED_S:
            self._shifts = [*self._shifts[-_MAX_CHANGES:], (self._compared, shift_s)]
        self._compared = now

    def at(self, moment: float) -> datetime:
        """Return the date of a moment."""
        shifts = self._shifts
        place = max(bisect_left(shifts, (moment, -math.inf)) - 1, 0)
        return datetime.fromtimestamp(moment - shifts[place][1], UTC)


def whole_ticks(seconds: _Seconds) -> _Seconds:
    """Return times as the nearest whole multiples of `TICK_S`.

    Examples
    --------
    >>> whole_ticks(0.25), whole_ticks(0.1) / TICK_S
    (0.25, 107374182.0)
    """
    # Beyond 24 days the multiples are those of two or more.
    return (seconds + _COARSE) - _COARSE
