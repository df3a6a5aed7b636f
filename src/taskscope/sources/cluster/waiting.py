"""The few moments in which threads of users wait for a scheduler, and not for long."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from typing import Any

from taskscope.record import Recorder
from taskscope.sources.cluster.scheduler import WatchedScheduler
from taskscope.sources.cluster.schedulers import Schedulers
from taskscope.sources.cluster.wanted import Wanted

__all__ = ["READY_S", "SETTLE_IN_LOOP_S", "SETTLE_S", "Waiting"]

READY_S = 2.0
"""How long the first submission to a scheduler waits until that keeps records."""
SETTLE_S = 2.0
"""How long the end of a block waits for the last records."""
SETTLE_IN_LOOP_S = 0.5
"""How long where an event loop stands still meanwhile."""


class Waiting:
    """Waits for schedulers, and tells what may be missing where one did not answer in time.

    Parameters
    ----------
    schedulers
        Which.
    wanted
        What is wanted of them.
    recorder
        Where to tell.
    """

    def __init__(self, schedulers: Schedulers, wanted: Wanted, recorder: Recorder) -> None:
        self._schedulers = schedulers
        self._wanted = wanted
        self._recorder = recorder

    def for_records(self, scheduler: WatchedScheduler, client: Any) -> None:
        """Wait until a scheduler that is about to be handed work keeps records, two seconds in all."""
        if not client.asynchronous:
            if scheduler.waited_until is None:
                scheduler.waited_until = self._now() + READY_S
            scheduler.ready.wait(max(scheduler.waited_until - self._now(), 0.0))
        scheduler.has_early_work |= not scheduler.ready.is_set()

    async def ready(self) -> None:
        """Wait until all that were met keep records, while the caller's event loop goes on."""
        schedulers = self._schedulers.all()
        opening = [s.ready for s in schedulers if not s.ready.is_set()]
        await asyncio.gather(*(asyncio.to_thread(ready.wait, READY_S) for ready in opening))
        if self._wanted.others_since is not None and schedulers:
            beginning = asyncio.wrap_future(self._schedulers.begin_others(schedulers))
            await asyncio.wait({beginning}, timeout=READY_S)
            self._have_begun(beginning)

    def begin_others(self, schedulers: Sequence[WatchedScheduler]) -> None:
        """Wait until schedulers record what other clients have them do, if that is wanted."""
        if self._wanted.others_since is None or not schedulers:
            return
        if self._schedulers.live_here:
            for scheduler in schedulers:
                scheduler.wake()
            return
        for scheduler in schedulers:
            scheduler.ready.wait(READY_S)
        beginning = self._schedulers.begin_others(schedulers)
        wait_for({beginning}, READY_S)
        self._have_begun(beginning)

    def _have_begun(self, beginning: Future[list[None]] | asyncio.Future[list[None]]) -> None:
        if not beginning.done():
            beginning.cancel()
            self._recorder.warn(
                f"the scheduler did not answer within {READY_S:g} s: the first tasks of other clients may be "
                "missing"
            )

    def settle(self) -> float:
        """Wait until what has ended on clusters was read.

        Returns
        -------
        float
            For how many more seconds schedulers may be waited for, 0 if who was asked did not answer in time.
        """
        if self._schedulers.are_asked_here:
            return SETTLE_S
        began = self._now()
        lives_here = self._schedulers.live_here
        # Workers may live in this very event loop, too: their last samples are not waited for.
        stepping = self._schedulers.step(briefly=lives_here)
        if stepping is None:
            return SETTLE_S
        timeout_s = min(SETTLE_S, SETTLE_IN_LOOP_S) if lives_here else SETTLE_S
        if lives_here and self._schedulers.run_here:
            timeout_s = 0.0
        wait_for({stepping}, timeout_s)
        return self._left_s(stepping, timeout_s, began)

    async def settled(self) -> float:
        """Do what `settle` does, while the caller's event loop goes on."""
        began = self._now()
        stepping = self._schedulers.step(briefly=False)
        if stepping is None:
            return SETTLE_S
        waiting = asyncio.wrap_future(stepping)
        await asyncio.wait({waiting}, timeout=SETTLE_S)
        return self._left_s(waiting, SETTLE_S, began)

    def _left_s(
        self, waiting: Future[list[bool]] | asyncio.Future[list[bool]], timeout_s: float, began: float
    ) -> float:
        if not waiting.done():
            waiting.cancel()
            self._recorder.warn(
                f"the scheduler did not answer within {timeout_s:g} s, so its last tasks may be missing here"
            )
            return 0.0
        # With the last run the last scheduler may be left meanwhile, and the thread ends what is on it.
        if not waiting.cancelled():
            error = waiting.exception()
            if error is not None:
                self._recorder.fault("reading a scheduler", error)
            elif not all(waiting.result()):
                return 0.0
        return max(began + SETTLE_S - self._now(), 0.0)

    def _now(self) -> float:
        return self._recorder.clock.perf_counter()
