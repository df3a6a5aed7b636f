"""How far one clock of a cluster is ahead of another, from messages that went there and back.

The answer was stamped between sending and receiving, so each exchange bounds the distance of the clocks,
however unequal its two ways (Cristian, "Probabilistic clock synchronization", 1989). The one with the
shortest round trip bounds it best, and every bound loosens with age, for clocks drift apart: the clock filter
of NTP (RFC 5905, section 10).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from math import isnan, nan
from statistics import median

_REMEMBERED = 63
_LATEST = 9


class HostClocks:
    """The clocks of the machines of one cluster, and of this one."""

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
        """Return a worker's machine's clock against the scheduler's; None on the scheduler's own machine."""
        host = host_of(address)
        return None if host == self._scheduler else self._hosts.setdefault(host, ClockFilter())


class WorkerClock:
    """The clock of one worker."""

    def __init__(self, hosts: HostClocks, address: str) -> None:
        self._hosts = hosts
        self._host = hosts.host(address)
        self._noted: deque[tuple[float, float]] = deque(maxlen=_REMEMBERED)
        self._latest: deque[float] = deque(maxlen=_LATEST)

    @property
    def ahead_s(self) -> float:
        """How far this machine's clock is ahead of the worker's.

        Before the difference to the scheduler was measured it is the worker's own correction, or 0.
        """
        return self._scheduler_ahead_s() - self._hosts.scheduler_ahead_s

    def _scheduler_ahead_s(self) -> float:
        if self._host is None:
            return 0.0
        if self._host.best is not None:
            return self._host.best.ahead_s
        return median(self._latest) if self._latest else 0.0

    def note(self, stop: float, correction: float) -> None:
        self._noted.append((stop, correction))
        self._latest.append(correction)

    def logged_shift_s(self, stop: float) -> float:
        """Return what to add to times that a worker logged at some moment, with a correction of that time."""
        near = min(self._noted, key=lambda known: abs(known[0] - stop), default=(stop, nan))
        return self.shift_s(near[1])

    def shift_s(self, correction: float) -> float:
        """Return the seconds to add to times that the worker reported with this correction, or NaN."""
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


MAX_DRIFT = 1e-4
"""By how much two clocks drift apart, in seconds a second; a faster change means that one was set."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A message there and back, all in wall-clock seconds."""

    sent: float
    stamped: float
    received: float

    @property
    def ahead_s(self) -> float:
        """How far the answering clock is ahead, if both ways took equally long."""
        return self.stamped - (self.sent + self.received) / 2

    @property
    def bound_s(self) -> float:
        """How much that can be off: half of the round trip."""
        return (self.received - self.sent) / 2


class ClockFilter:
    """Keeps the best of the exchanges with one clock, and notices when either clock is set."""

    def __init__(self) -> None:
        self.best: Exchange | None = None
        """The one to rely on; None before the first."""
        self._at = 0.0

    def note(self, exchanges: Iterable[Exchange], at: float) -> float | None:
        """Take in exchanges that were made together; return by how much the clock was set, if it was."""
        before, best = self.best, min(exchanges, key=lambda e: e.bound_s)
        if before is None:
            self.best, self._at = best, at
            return None
        loosened_s = before.bound_s + MAX_DRIFT * (at - self._at)
        jump_s = best.ahead_s - before.ahead_s
        has_jumped = abs(jump_s) > best.bound_s + loosened_s
        if has_jumped or best.bound_s <= loosened_s:
            self.best, self._at = best, at
        return jump_s if has_jumped else None

    def forget(self) -> None:
        """Start over, because the requesting clock was set."""
        self.best = None
