"""The clocks that every measurement is taken with, behind one injectable object."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["SYSTEM_CLOCK", "Clock"]

_CLOSE_S = 10e-6
_MAX_COMPARISONS = 10


@dataclass(frozen=True, slots=True)
class Clock:
    """Three clocks, as plain callables so that the hot path pays one call each.

    Parameters
    ----------
    perf_counter
        Seconds on a monotonic axis that all processes of this machine share.
    thread_time
        CPU seconds of the calling thread.
    time
        Wall-clock seconds since the epoch (UTC).
    """

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
        """Return how uncertain a comparison of the two clocks is, and what it says."""
        before = self.perf_counter()
        now = self.time()
        after = self.perf_counter()
        return after - before, (before + after) / 2 - now


SYSTEM_CLOCK = Clock()
