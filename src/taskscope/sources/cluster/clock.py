"""From the clocks of a cluster to the recorder's axis.

A worker adds to its times what it takes for its clock's distance from the scheduler's: one unfiltered
measurement per heartbeat, which on a busy machine is off by tens of milliseconds. What was added can be seen
in its reports (`taskscope.sources.cluster.corrections`), and is taken out. What is put in its place was
measured by `ClockProbe`: nothing for workers on the scheduler's own host.
"""

from __future__ import annotations

from collections import deque
from ipaddress import ip_address
from math import isnan, nan
from statistics import median

from taskscope.model.activities import ACTIVITIES
from taskscope.sources.cluster.offsets import ClockFilter

__all__ = ["UNCORRECTED", "HostClocks", "WorkerClock", "host_of"]

_REMEMBERED = 63
_LATEST = 9
UNCORRECTED = (ACTIVITIES.index("disk-read"), ACTIVITIES.index("disk-write"))
"""The kinds of steps to which workers add nothing."""


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
        self._noted: deque[tuple[float, float]] = deque(maxlen=_REMEMBERED)
        self._latest: deque[float] = deque(maxlen=_LATEST)

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
        return median(self._latest) if self._latest else 0.0

    def note(self, stop: float, correction: float) -> None:
        """Learn when the worker took the distance for how much."""
        self._noted.append((stop, correction))
        self._latest.append(correction)

    def logged_shift_s(self, stop: float) -> float:
        """Return what to add to times that a worker logged at some moment, with a correction of that time."""
        near = min(self._noted, key=lambda known: abs(known[0] - stop), default=(stop, nan))
        return self.shift_s(near[1])

    def shift_s(self, correction: float) -> float:
        """Return what to add to times that the worker told with this correction; NaN where it is unknown."""
        return -self._hosts.scheduler_ahead_s if isnan(correction) else self.ahead_s - correction


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
