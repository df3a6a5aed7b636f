"""From the clocks of a cluster to the recorder's axis.

A worker adds to its times what it takes for its clock's distance from the scheduler's: one unfiltered
measurement per heartbeat, which on a busy machine is off by tens of milliseconds. Its report of a task also
holds the moment of the report by its own clock, uncorrected, and that is right after the task's stop. So
what was added can be seen, and taken out: for workers on the scheduler's own host that is all there is to do.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from statistics import median

from taskscope.sources.cluster.records import Activity, Execution

__all__ = ["WorkerClock", "applied_corrections", "is_same_host"]

_NEIGHBOURS = 3
_REMEMBERED = 31
_UNCORRECTED = ("disk-read", "disk-write")


def applied_corrections(executions: Sequence[Execution]) -> list[float | None]:
    """Return what the worker had added to the times of each of its tasks, which are in its order.

    A report comes after the stop, mostly at once, at times late, never before. So what it seems to be is too
    little at times, for single tasks; and it changes for good with a heartbeat.
    """
    seen = [_difference(e) for e in executions]
    return [_steady(seen, place) for place in range(len(seen))]


def _steady(seen: Sequence[float | None], place: int) -> float | None:
    """Return the value at a place, or what it is before and after if it is less than both."""
    sides = (seen[max(place - _NEIGHBOURS, 0) : place + 1], seen[place : place + _NEIGHBOURS + 1])
    best = [max((d for d in side if d is not None), default=None) for side in sides]
    known = [d for d in best if d is not None]
    return min(known) if known else None


def _difference(execution: Execution) -> float | None:
    stops = [a.stop for a in execution.activities if a.action == "compute"]
    if execution.reported is None or not stops:
        return None
    return max(stops) - execution.reported


class WorkerClock:
    """The clock of one worker.

    Parameters
    ----------
    same_host
        Whether it is the scheduler's own clock.
    """

    def __init__(self, *, same_host: bool) -> None:
        self._same_host = same_host
        self._seen: deque[float] = deque(maxlen=_REMEMBERED)
        self._corrections: deque[tuple[float, float]] = deque(maxlen=_REMEMBERED * 8)

    @property
    def ahead_s(self) -> float:
        """How far the scheduler's clock is ahead of the worker's: 0 on one host, else an estimate."""
        return 0.0 if self._same_host or not self._seen else median(self._seen)

    def note(self, executions: Sequence[Execution], corrections: Sequence[float | None]) -> None:
        """Learn from what the worker itself took for the distance."""
        for execution, correction in zip(executions, corrections, strict=True):
            if correction is not None:
                self._seen.append(correction)
                self._corrections.append((execution.activities[-1].stop, correction))

    def logged_times(self, start: float, stop: float) -> tuple[float, float]:
        """Return start and stop of what a worker logged at some time, with a correction of that time."""
        near = min(self._corrections, key=lambda known: abs(known[0] - stop), default=(0.0, 0.0))
        shift = self.ahead_s - near[1] if self._corrections else 0.0
        return start + shift, stop + shift

    def scheduler_times(self, activity: Activity, correction: float | None) -> tuple[float, float]:
        """Return start and stop of an activity by the scheduler's clock."""
        if activity.action in _UNCORRECTED:
            shift = self.ahead_s
        else:
            shift = 0.0 if correction is None else self.ahead_s - correction
        return activity.start + shift, activity.stop + shift


def is_same_host(address: str, other: str) -> bool:
    """Return whether two addresses of a cluster are on one machine.

    Examples
    --------
    >>> is_same_host("tcp://10.0.0.1:8786", "tls://10.0.0.1:40001")
    True
    """
    return _host(address) == _host(other)


def _host(address: str) -> str:
    scheme, _, rest = address.rpartition("://")
    if scheme == "inproc":
        return rest.split("/", maxsplit=1)[0]
    return rest.rpartition(":")[0] or rest
