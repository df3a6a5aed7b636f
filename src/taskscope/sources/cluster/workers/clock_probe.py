"""Measure now and then how far the clocks of a cluster are apart.

The observer on the scheduler answers with the scheduler's time; a worker, or this process, notes when each
request was sent and when its answer arrived (`taskscope.sources.cluster.workers.clocks`).
"""

from __future__ import annotations

import asyncio
import math
from contextlib import suppress
from typing import Any

from taskscope.model.errortext import describe
from taskscope.model.guard import Guard
from taskscope.record import Recorder
from taskscope.sources.cluster.adapter.remote import scheduler_times
from taskscope.sources.cluster.link import Link, RateLimiter, read_each
from taskscope.sources.cluster.workers.clocks import Exchange, host_of
from taskscope.sources.cluster.workers.poll import WorkerPoll

_N_EXCHANGES = 8
_SOON_S = 1.0
_EVERY_S = 30.0
_S_PER_HOST = 0.6
_MOST_AT_ONCE = 32
_FIRST_S = 1.0
_STEP_S = 0.1
_SCHEDULER = "the scheduler's machine"


def _read_exchange(answer: Any) -> Exchange:
    if not all(map(math.isfinite, answer)):
        raise ValueError(f"moments must be finite, got {answer}")
    return Exchange(*map(float, answer))


class ClockProbe:
    """Measures now and then, next to everything else, with one worker of each machine.

    `op` is the message that the scheduler answers with its time.
    """

    def __init__(self, link: Link, poll: WorkerPoll, recorder: Recorder, op: str) -> None:
        self._link = link
        self._op = op
        self._poll = poll
        self._workers = poll.workers
        self._recorder = recorder
        self._next_s = _SOON_S
        self._round: asyncio.Task[None] | None = None
        self._asked: set[str] = set()
        self._wall_s = self._wall_clock()
        self._refused = False

    async def look(self, limiter: RateLimiter) -> None:
        """Measure clocks if that is due; wait for new ones, a second at most."""
        if self._refused or (self._round is not None and not self._round.done()):
            return
        clocks = self._workers.clocks
        before, self._wall_s = self._wall_s, self._wall_clock()
        if abs(self._wall_s - before) > _STEP_S:
            clocks.scheduler.forget()
            self._asked.discard(_SCHEDULER)
        hosts = {host_of(a): a for a in sorted(self._workers.present) if clocks.host(a) is not None}
        new = {_SCHEDULER, *hosts} - self._asked
        if limiter.is_due("clocks", max(self._next_s, len(hosts) * _S_PER_HOST)):
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
        if self._round is not None:
            await asyncio.wait({self._round})

    def close(self) -> None:
        if self._round is not None:
            self._round.cancel()

    async def _measure(self, addresses: list[str]) -> None:
        # Where the scheduler is gone, the next request for tasks fails, too.
        with Guard("clocks", lambda _where, error: self._refuse(describe(error))), suppress(OSError):
            jump_s = await self._measure_scheduler()
            for first in range(0, len(addresses), _MOST_AT_ONCE):
                await self._measure_hosts(addresses[first : first + _MOST_AT_ONCE], jump_s)

    async def _measure_scheduler(self) -> float | None:
        clock, found = self._recorder.clock, list[Exchange]()
        for _ in range(_N_EXCHANGES):
            # In this order, so that a lost time slice in between makes it longer, never earlier.
            began, at = clock.perf_counter(), clock.time()
            there = await self._link.ask(self._op)
            found.append(_read_exchange((at, there, at + clock.perf_counter() - began)))
        jump_s = self._workers.clocks.scheduler.note(found, clock.perf_counter())
        if jump_s is not None:
            self._warn_of(_SCHEDULER, jump_s)
        return jump_s

    async def _measure_hosts(self, addresses: list[str], jump_s: float | None) -> None:
        answers = await self._poll.call(scheduler_times, self._op, _N_EXCHANGES, workers=addresses)
        for address, answer in answers.given.items():
            found, wrong = read_each(answer, _read_exchange)
            if wrong is not None:
                label = self._workers.get(address).label
                self._recorder.warn(f"{label} reported times that cannot be read: {describe(wrong)}")
            clock, now = self._workers.clocks.host(address), self._recorder.clock.perf_counter()
            set_s = None if clock is None or not found else clock.note(found, now)
            if set_s is not None and jump_s is None:
                self._warn_of(host_of(address), -set_s)
        if answers.refusal is not None:
            self._refuse(answers.refusal)

    def _wall_clock(self) -> float:
        return -self._recorder.clock.shift_s()

    def _warn_of(self, whose: str, set_s: float) -> None:
        self._recorder.warn(
            f"the clock of {whose} was set by {set_s:+.3f} s: times around that are uncertain"
        )

    def _refuse(self, why: str) -> None:
        self._refused = True
        if self._workers.clocks.may_differ or len(self._asked) > 1:
            self._recorder.warn(
                f"clocks cannot be compared ({why}): times are as the workers' own correction has them"
            )
