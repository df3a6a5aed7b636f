"""How far one clock of a cluster is ahead of another, from messages that went there and back.

The answer was stamped between sending and receiving, so each exchange bounds the distance of the clocks,
however unequal its two ways (Cristian, "Probabilistic clock synchronization", 1989). The one with the
shortest round trip bounds it best, and every bound loosens with age, for clocks drift apart: the clock filter
of NTP (RFC 5905, section 10).
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from math import isnan
from statistics import median
from typing import Any

from taskscope.model.errortext import describe
from taskscope.model.guard import Guard
from taskscope.record import Recorder
from taskscope.sources.cluster.link import Link, RateLimiter

_LATEST = 9


class HostClocks:
    """The clocks of the machines of one cluster, and of this one."""

    def __init__(self, scheduler: str) -> None:
        self._scheduler = host_of(scheduler)
        self.may_differ = not _is_loopback(self._scheduler)
        """Whether the scheduler's address is one of another machine."""
        self._hosts: dict[str, ClockFilter] = {}
        self.was_just_set = False
        """Whether the scheduler's clock was found to be set at its last comparison."""
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

    def note(self, corrections: Iterable[float]) -> None:
        """Register corrections that the worker added to its times."""
        self._latest.extend(corrections)

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


_N_EXCHANGES = 8
_SOON_S = 1.0
_EVERY_S = 30.0
_FIRST_S = 1.0
_STEP_S = 0.1


class SchedulerClock:
    """Compares the scheduler's clock with this machine's now and then; `op` is answered with its time."""

    def __init__(self, link: Link, clocks: HostClocks, recorder: Recorder, op: str) -> None:
        self._link = link
        self._op = op
        self._clocks = clocks
        self._recorder = recorder
        self._pause_s = _SOON_S
        self._comparing: asyncio.Task[None] | None = None
        self._shift_s = recorder.clock.shift_s()
        self._is_refused = False

    async def look(self, limiter: RateLimiter) -> None:
        """Compare if that is due; wait for the first time, a second at most."""
        if self._is_refused or (self._comparing is not None and not self._comparing.done()):
            return
        before, self._shift_s = self._shift_s, self._recorder.clock.shift_s()
        was_set = abs(self._shift_s - before) > _STEP_S
        if was_set:
            self._clocks.scheduler.forget()
        if not (limiter.is_due("clocks", self._pause_s) or was_set):
            return
        # Often at first, for more exchanges have shorter ones among them.
        self._pause_s = min(2 * self._pause_s, _EVERY_S)
        self._comparing = asyncio.get_running_loop().create_task(self._compare())
        if self._clocks.scheduler.best is None:
            await asyncio.wait({self._comparing}, timeout=_FIRST_S)

    def close(self) -> None:
        if self._comparing is not None:
            self._comparing.cancel()

    async def _compare(self) -> None:
        # Where the scheduler is gone, the next request for events fails, too.
        with Guard("clocks", lambda _where, error: self._refuse(describe(error))), suppress(OSError):
            clock, found = self._recorder.clock, list[Exchange]()
            for _ in range(_N_EXCHANGES):
                # In this order, so that a lost time slice in between makes it longer, never earlier.
                began, at = clock.perf_counter(), clock.time()
                there: Any = await self._link.ask(self._op)
                exchange = Exchange(at, float(there), at + clock.perf_counter() - began)
                if not math.isfinite(exchange.ahead_s):
                    raise ValueError(f"a moment must be finite, got {there}")
                found.append(exchange)
            set_s = self._clocks.scheduler.note(found, clock.perf_counter())
            self._clocks.was_just_set = set_s is not None
            if set_s is not None:
                self._recorder.warn(
                    f"the clock of the scheduler's machine was set by {set_s:+.3f} s: "
                    "times around that are uncertain"
                )

    def _refuse(self, why: str) -> None:
        self._is_refused = True
        if self._clocks.may_differ:
            self._recorder.warn(
                f"clocks cannot be compared ({why}): times are as the workers' own correction has them"
            )
