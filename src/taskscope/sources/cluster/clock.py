"""From the clocks of a cluster to the recorder's axis.

A worker adds to its times what it takes for its clock's distance from the scheduler's: one unfiltered
measurement per heartbeat, which on a busy machine is off by tens of milliseconds. Its report of a task also
holds the moment of the report by its own clock, uncorrected, and that is right after the task's stop. So
what was added can be seen, and taken out. What is put in its place was measured by `ClockProbe`: nothing for
workers on the scheduler's own host.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from ipaddress import ip_address
from statistics import median

from taskscope.sources.cluster.offsets import ClockFilter
from taskscope.sources.cluster.records import Activity, Execution

__all__ = ["HostClocks", "WorkerClock", "applied_corrections", "host_of"]

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


class HostClocks:
    """The clocks of the machines of one cluster, and of this one.

    Parameters
    ----------
    scheduler
        The scheduler's address.
    """

    def __init__(self, scheduler: str) -> None:
        self._scheduler = host_of(scheduler)
        self.may_differ = not _is_loopback(self._scheduler)
        """Whether the scheduler's address is one of another machine."""
        self._hosts: dict[str, ClockFilter] = {}
        self.scheduler = ClockFilter()
        """The scheduler's clock as seen from this machine."""

    @property
    def scheduler_ahead_s(self) -> float:
        """How far the scheduler's clock is ahead of this machine's; 0 on one machine, and while unknown."""
        best = self.scheduler.best
        # A loopback address may lead through a tunnel to another machine, whose clock then shows it.
        if best is None or (not self.may_differ and abs(best.ahead_s) <= best.bound_s):
            return 0.0
        return best.ahead_s

    def host(self, address: str) -> ClockFilter | None:
        """Return the clock of a worker's machine, of which the scheduler's is ahead; None for that itself."""
        host = host_of(address)
        return None if host == self._scheduler else self._hosts.setdefault(host, ClockFilter())


class WorkerClock:
    """The clock of one worker.

    Parameters
    ----------
    hosts
        The clocks of all machines.
    address
        The worker's address.
    """

    def __init__(self, hosts: HostClocks, address: str) -> None:
        self._hosts = hosts
        self._host = hosts.host(address)
        self._seen: deque[float] = deque(maxlen=_REMEMBERED)
        self._corrections: deque[tuple[float, float]] = deque(maxlen=_REMEMBERED * 8)

    @property
    def ahead_s(self) -> float:
        """How far this machine's clock is ahead of the worker's.

        Before the distance from the scheduler was measured it is what the worker itself took it for, and
        where that is not known either, 0.
        """
        return self._scheduler_ahead_s() - self._hosts.scheduler_ahead_s

    def _scheduler_ahead_s(self) -> float:
        if self._host is None:
            return 0.0
        if self._host.best is not None:
            return self._host.best.ahead_s
        return median(self._seen) if self._seen else 0.0

    def note(self, executions: Sequence[Execution], corrections: Sequence[float | None]) -> None:
        """Learn from what the worker itself took for the distance."""
        for execution, correction in zip(executions, corrections, strict=True):
            if correction is not None:
                self._seen.append(correction)
                self._corrections.append((execution.activities[-1].stop, correction))

    def logged_times(self, start: float, stop: float) -> tuple[float, float]:
        """Return start and stop of what a worker logged at some time, with a correction of that time."""
        near = min(self._corrections, key=lambda known: abs(known[0] - stop), default=(stop, None))
        shift = self._shift_s(near[1])
        return start + shift, stop + shift

    def local_times(self, activity: Activity, correction: float | None) -> tuple[float, float]:
        """Return start and stop of an activity by this machine's clock.

        Parameters
        ----------
        activity
            With the times that the worker told.
        correction
            What it had added to them; None where that is not known, so that they are left as they are.
        """
        shift = self.ahead_s if activity.action in _UNCORRECTED else self._shift_s(correction)
        return activity.start + shift, activity.stop + shift

    def _shift_s(self, correction: float | None) -> float:
        return -self._hosts.scheduler_ahead_s if correction is None else self.ahead_s - correction


def host_of(address: str) -> str:
    """Return the machine that an address of a cluster is on.

    Examples
    --------
    >>> host_of("tls://10.0.0.1:40001"), host_of("inproc://10.0.0.1/7/1")
    ('10.0.0.1', '10.0.0.1')
    """
    scheme, _, rest = address.rpartition("://")
    if scheme == "inproc":
        return rest.split("/", maxsplit=1)[0]
    return rest.rpartition(":")[0] or rest


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
