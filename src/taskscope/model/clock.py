"""The clocks that every measurement is taken with, behind one injectable object."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["SYSTEM_CLOCK", "Clock"]


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


SYSTEM_CLOCK = Clock()
