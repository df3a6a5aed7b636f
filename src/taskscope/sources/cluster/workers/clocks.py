"""From the clocks of a cluster to the recorder's axis.

A worker adds to its times what it takes for its clock's distance from the scheduler's: one unfiltered
measurement per heartbeat, which on a busy machine is off by tens of milliseconds. What was added can be seen
in its reports (`Corrections`), and is taken out. What is put in its place was measured by `ClockProbe`:
nothing for workers on the scheduler's own host.

**What was added.** A worker's report of a task holds the moment of the report by its own clock, uncorrected,
and that is right after the task's stop. A report may be late, and is never early: so what was added is what
it seems to be, or more. It is the same for all tasks between two heartbeats, so reports that were in time
show which were late. Nor is it so much more that a task would have begun before the one before it on its
thread was over.

**How far one clock is ahead of another**, from messages that went there and back. The answer was stamped
between sending and receiving, so each exchange bounds the distance of the clocks, however unequal its two
ways (Cristian, "Probabilistic clock synchronization", 1989). The one with the shortest round trip bounds it
best, and every bound loosens with age, for clocks drift apart: the clock filter of NTP (RFC 5905, section
10). The message is ``log_event``, which every scheduler understands and stamps: it keeps the last thousand of
them. A worker notes when each went and when its answer came; so do we. The function that is sent to a worker
needs nothing of taskscope there.
"""

from __future__ import annotations

import asyncio
import math
import uuid
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from math import isnan, nan
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from taskscope.model.errortext import describe
from taskscope.model.tables.activities import ACTIVITIES
from taskscope.record import Recorder
from taskscope.sources.cluster.link import Link, Pace, read_each

if TYPE_CHECKING:
    from taskscope.sources.cluster.rows import Executions
    from taskscope.sources.cluster.worker_poll import WorkerPoll

__all__ = [
    "MAX_DRIFT",
    "UNCORRECTED",
    "ClockFilter",
    "ClockProbe",
    "Corrections",
    "Exchange",
    "HostClocks",
    "WorkerClock",
    "host_of",
]

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

    def applied(self, told: Executions) -> _Floats:
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
            np.array([numbers.setdefault(address, len(numbers)) for address in told.workers], np.int64),
            np.array(told.threads, np.int64),
            told.steps.start[told.computed],
            told.computed_stop,
            told.reported,
            np.full(len(told), np.nan),
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


MAX_DRIFT = 1e-4
"""By how much two clocks drift apart, in seconds a second; what is faster was set."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A message there and back, all in wall-clock seconds.

    Parameters
    ----------
    sent
        By the clock of who asked.
    stamped
        By the clock of who answered.
    received
        `sent` and how long it took, by a clock that is never set.
    """

    sent: float
    stamped: float
    received: float

    @property
    def ahead_s(self) -> float:
        """How far the clock of who answered is ahead, if both ways took equally long."""
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
        """Learn from exchanges that were made together.

        Parameters
        ----------
        exchanges
            At least one.
        at
            When, by a clock that is never set.

        Returns
        -------
        float or None
            By how many seconds the distance has jumped, None if it has not: no drift explains both the best
            exchange so far and the best of these.
        """
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
        """Start over, because the clock of who asks was set."""
        self.best = None


TOPIC = "taskscope-clock"
_N_EXCHANGES = 8
_SOON_S = 1.0
_EVERY_S = 30.0
_S_PER_HOST = 0.6
_MOST_AT_ONCE = 32
_FIRST_S = 1.0
_STEP_S = 0.1
_SCHEDULER = "the scheduler's machine"
_Sent: TypeAlias = tuple[str, float, float]


async def _exchange(topic: str, name: str, n: int, dask_worker: Any = None) -> list[_Sent]:
    """Run on a worker: return what each message was called, when it went, and when its answer came."""
    from time import perf_counter

    from distributed.metrics import time

    sent = []
    for number in range(n):
        text = f"{name}-{dask_worker.address}-{number}"
        began, at = perf_counter(), time()
        await dask_worker.scheduler.log_event(topic=topic, msg=text)
        sent.append((text, at, at + perf_counter() - began))
    return sent


# So that it travels as code, not as the name of a module that workers may not have.
_exchange.__module__ = "__main__"


def _read_sent(told: Any) -> _Sent:
    text, at, until = told
    if not math.isfinite(at) or not math.isfinite(until):
        raise ValueError(f"moments must be finite, got {at}, {until}")
    return str(text), float(at), float(until)


class ClockProbe:
    """Measures now and then, next to everything else, with one worker of each machine.

    Parameters
    ----------
    link
        Where to ask.
    poll
        Who asks the workers.
    recorder
        Where it is told that a clock was set.
    """

    def __init__(self, link: Link, poll: WorkerPoll, recorder: Recorder) -> None:
        self._link = link
        self._poll = poll
        self._workers = poll.workers
        self._recorder = recorder
        self._name = uuid.uuid4().hex
        self._n_sent = 0
        self._next_s = _SOON_S
        self._round: asyncio.Task[None] | None = None
        self._asked: set[str] = set()
        self._wall_s = self._wall_clock()
        self._refused = False

    async def look(self, pace: Pace) -> None:
        """Have clocks measured if it is time; wait for those that are new, a second at most."""
        if self._refused or (self._round is not None and not self._round.done()):
            return
        clocks = self._workers.clocks
        before, self._wall_s = self._wall_s, self._wall_clock()
        if abs(self._wall_s - before) > _STEP_S:
            clocks.scheduler.forget()
            self._asked.discard(_SCHEDULER)
        hosts = {host_of(a): a for a in sorted(self._workers.present) if clocks.host(a) is not None}
        new = {_SCHEDULER, *hosts} - self._asked
        if pace.is_due("clocks", max(self._next_s, len(hosts) * _S_PER_HOST)):
            # Often at first, for more exchanges have shorter ones among them.
            self._next_s = min(2 * self._next_s, _EVERY_S)
            chosen = list(hosts.values())
        elif new:
            chosen = [hosts[host] for host in new if host in hosts]
        else:
            return
        self._asked |= new
        self._round = asyncio.get_running_loop().create_task(self._measure(chosen))
        if new:
            await asyncio.wait({self._round}, timeout=_FIRST_S)

    async def finished(self) -> None:
        """Wait for what is being measured."""
        if self._round is not None:
            await asyncio.wait({self._round})

    def close(self) -> None:
        """Give up what is being measured."""
        if self._round is not None:
            self._round.cancel()

    async def _measure(self, addresses: list[str]) -> None:
        try:
            jump_s = await self._measure_scheduler()
            for first in range(0, len(addresses), _MOST_AT_ONCE):
                await self._measure_hosts(addresses[first : first + _MOST_AT_ONCE], jump_s)
        except OSError:
            # The scheduler is gone, as who asks for tasks will notice.
            pass
        except Exception as error:  # noqa: BLE001 - what we ask may be blocked there
            self._refuse(describe(error))

    async def _measure_scheduler(self) -> float | None:
        name, clock, sent = self._next_name(), self._recorder.clock, list[_Sent]()
        for number in range(_N_EXCHANGES):
            # In this order, so that losing the turn in between makes it look longer, never earlier.
            began, at = clock.perf_counter(), clock.time()
            await self._link.ask("log_event", topic=TOPIC, msg=f"{name}-{number}")
            sent.append((f"{name}-{number}", at, at + clock.perf_counter() - began))
        jump_s = self._note(self._workers.clocks.scheduler, sent, await self._stamps())
        if jump_s is not None:
            self._tell(_SCHEDULER, jump_s)
        return jump_s

    async def _measure_hosts(self, addresses: list[str], jump_s: float | None) -> None:
        answers = await self._poll.call(_exchange, TOPIC, self._next_name(), _N_EXCHANGES, workers=addresses)
        stamps = await self._stamps()
        for address, told in answers.given.items():
            sent, wrong = read_each(told, _read_sent)
            if wrong is not None:
                label = self._workers.get(address).label
                self._recorder.warn(f"{label} told times that cannot be read: {describe(wrong)}")
            clock = self._workers.clocks.host(address)
            set_s = None if clock is None else self._note(clock, sent, stamps)
            if set_s is not None and jump_s is None:
                self._tell(host_of(address), -set_s)
        if answers.refusal is not None:
            self._refuse(answers.refusal)

    def _note(self, clock: ClockFilter, sent: list[_Sent], stamps: Mapping[str, float]) -> float | None:
        exchanges = [Exchange(at, stamps[name], until) for name, at, until in sent if name in stamps]
        return clock.note(exchanges, self._recorder.clock.perf_counter()) if exchanges else None

    async def _stamps(self) -> dict[str, float]:
        return {str(text): float(at) for at, text in await self._link.ask("events", topic=TOPIC)}

    def _next_name(self) -> str:
        self._n_sent += 1
        return f"{self._name}-{self._n_sent}"

    def _wall_clock(self) -> float:
        return -self._recorder.clock.shift_s()

    def _tell(self, whose: str, set_s: float) -> None:
        self._recorder.warn(
            f"the clock of {whose} was set by {set_s:+.3f} s: times around that are uncertain"
        )

    def _refuse(self, why: str) -> None:
        self._refused = True
        if self._workers.clocks.may_differ or len(self._asked) > 1:
            self._recorder.warn(
                f"clocks cannot be compared ({why}): times are as the workers' own correction has them"
            )
