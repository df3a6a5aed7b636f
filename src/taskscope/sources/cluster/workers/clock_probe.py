"""Measure now and then how far the clocks of a cluster are apart.

The message is ``log_event``, which every scheduler understands and stamps: it keeps the last thousand of
them. A worker notes when each went and when its answer came; so do we.
"""

from __future__ import annotations

import asyncio
import math
import uuid
from collections.abc import Mapping
from typing import Any, TypeAlias

from taskscope.model.errortext import describe
from taskscope.record import Recorder
from taskscope.sources.cluster.adapter.remote import exchanged_messages
from taskscope.sources.cluster.link import Link, RateLimiter, read_each
from taskscope.sources.cluster.workers.clocks import ClockFilter, Exchange, host_of
from taskscope.sources.cluster.workers.poll import WorkerPoll

__all__ = ["ClockProbe"]

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


def _read_sent(answer: Any) -> _Sent:
    text, at, until = answer
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

    async def look(self, limiter: RateLimiter) -> None:
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
            self._warn_of(_SCHEDULER, jump_s)
        return jump_s

    async def _measure_hosts(self, addresses: list[str], jump_s: float | None) -> None:
        answers = await self._poll.call(
            exchanged_messages, TOPIC, self._next_name(), _N_EXCHANGES, workers=addresses
        )
        stamps = await self._stamps()
        for address, answer in answers.given.items():
            sent, wrong = read_each(answer, _read_sent)
            if wrong is not None:
                label = self._workers.get(address).label
                self._recorder.warn(f"{label} reported times that cannot be read: {describe(wrong)}")
            clock = self._workers.clocks.host(address)
            set_s = None if clock is None else self._note(clock, sent, stamps)
            if set_s is not None and jump_s is None:
                self._warn_of(host_of(address), -set_s)
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
