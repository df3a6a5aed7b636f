"""Record what clients compute on clusters: the face of this package.

Here is also all that threads of users ever wait for, and how long at most (`Waiting`).
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from typing import Any

from taskscope.model.guard import Guard
from taskscope.model.import_notice import ImportNotice
from taskscope.record import Recorder
from taskscope.sources.cluster import adapter
from taskscope.sources.cluster.adapter import Call, Submission
from taskscope.sources.cluster.runs import Computes, Origin
from taskscope.sources.cluster.scheduler import Schedulers, WatchedScheduler
from taskscope.sources.cluster.workers.poll import Wanted

CLIENTS = "distributed.client"
"""The module that is there where there may be clients."""
READY_S = 2.0
_WATCHING = "watching a client"
"""How long the first submission to a scheduler waits until that keeps records."""
SETTLE_S = 2.0
"""How long the end of a block waits for the last records."""
SETTLE_IN_LOOP_S = 0.5
"""How long where an event loop stands still meanwhile."""
_LOOK_S = 0.2
"""How often is looked whether an event loop that is held up will ever go on."""


class Waiting:
    """Waits for schedulers, and warns of what may be missing where one did not answer in time."""

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
        if self._wanted.sought is not None and schedulers:
            beginning = asyncio.wrap_future(self._schedulers.begin_wanted(schedulers))
            await asyncio.wait({beginning}, timeout=READY_S)
            self._have_begun(beginning)

    def begin_wanted(self, schedulers: Sequence[WatchedScheduler]) -> None:
        """Wait until schedulers do what is wanted of more than the computes that are handed over."""
        if self._wanted.sought is None or not schedulers:
            return
        if self._schedulers.live_here:
            for scheduler in schedulers:
                scheduler.wake()
            return
        for scheduler in schedulers:
            scheduler.ready.wait(READY_S)
        beginning = self._schedulers.begin_wanted(schedulers)
        wait_for({beginning}, READY_S)
        self._have_begun(beginning)

    def _have_begun(self, beginning: Future[list[None]] | asyncio.Future[list[None]]) -> None:
        if not beginning.done():
            beginning.cancel()
            self._recorder.warn(
                f"the scheduler did not answer within {READY_S:g} s: lines of the first tasks may be missing"
            )

    @property
    def patience_s(self) -> float | None:
        """How long a thread may wait that holds up an event loop in which a scheduler may live; else None."""
        if not self._schedulers.live_here:
            return None
        return 0.0 if self._schedulers.run_here else min(SETTLE_S, SETTLE_IN_LOOP_S)

    def settle(self) -> float:
        """Wait until the records of ended tasks were read; return the seconds left to wait."""
        if self._schedulers.are_asked_here:
            return SETTLE_S
        began = self._now()
        patience_s = self.patience_s
        # Workers may live in this very event loop, too: their last samples are not waited for.
        stepping = self._schedulers.step(briefly=patience_s is not None)
        if stepping is None:
            return SETTLE_S
        timeout_s = SETTLE_S if patience_s is None else patience_s
        wait_for({stepping}, timeout_s)
        return self._left_s(stepping, timeout_s, began)

    def settle_in_background(self) -> float:
        """Do what `settle` does, on a thread that holds nothing up: also after what holds schedulers up.

        A notebook's next cells hold its event loop up for as long as they run, and with that each scheduler
        that lives there. It has nothing to tell meanwhile, and tells all of it afterwards.
        """
        while True:
            for loop in self._schedulers.loops():
                _turns(loop, math.inf)
            began = self._now()
            stepping = self._schedulers.step(briefly=False)
            if stepping is None:
                return SETTLE_S
            wait_for({stepping}, SETTLE_S)
            if stepping.done() or all(_turns(loop, 0.0) for loop in self._schedulers.loops()):
                return self._left_s(stepping, SETTLE_S, began)
            stepping.cancel()

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


def _turns(loop: asyncio.AbstractEventLoop, timeout_s: float) -> bool:
    """Return whether an event loop goes on within that time, or never: it was stopped, or Python ends."""
    turned = threading.Event()
    try:
        loop.call_soon_threadsafe(turned.set)
    except RuntimeError:
        return True
    ends = time.monotonic() + timeout_s
    while not turned.wait(_LOOK_S) and loop.is_running() and threading.main_thread().is_alive():
        if time.monotonic() > ends:
            return False
    return True


class ClusterSource:
    """Feeds a recorder from the schedulers of the clients in this process.

    Notes
    -----
    The user's threads wait for a scheduler in two moments only, and not for long: the first time that it is
    met, two seconds at most, until it keeps records; and when a profiled block ends or a client is closed,
    two seconds at most, until the last of them have been read (`settle`).
    """

    def __init__(
        self,
        recorder: Recorder,
        on_start: Callable[[object], None] = lambda _run: None,
        on_stop: Callable[[object], None] = lambda _run: None,
        on_news: Callable[[], None] = lambda: None,
    ) -> None:
        self.recorder = recorder
        self.wanted = Wanted()
        """What is wanted of schedulers."""
        self._on_start = on_start
        self._computes = Computes(recorder, on_stop)
        self.schedulers = Schedulers(recorder, self._computes, self.wanted, on_news)
        """Those that are asked."""
        self._waiting = Waiting(self.schedulers, self.wanted, recorder)
        self._notice = ImportNotice(CLIENTS, self._imported)
        self._attached = False
        self._caught_up: tuple[int, set[int]] = 0, set()
        """How many calls had come back, and which runs were over, when it was last settled."""
        self.awaited: set[threading.Event] = set()
        """Set once what somebody is waiting for on another thread was read; no client closes before."""

    def attach(self) -> None:
        """Record the work of clients, also of clients that are made later."""
        self._attached = True
        if adapter.watch(self):
            client = adapter.default_client()
            if client is not None:
                self.watch(client)
        else:
            self._notice.wait()

    def detach(self) -> None:
        """Record nothing more; connections are closed and the thread ends."""
        self._attached = False
        self._notice.cancel()
        adapter.release(self)
        self._computes.clear()
        self.schedulers.close()

    async def ready(self) -> None:
        """Wait until all schedulers keep records that were met, or are the default's, in an event loop."""
        with self.recorder.guard(_WATCHING):
            client = adapter.default_client()
            if client is not None:
                self._scheduler_of(client)
        await self._waiting.ready()

    def watch(self, client: Any) -> None:
        """Connect to a client's scheduler, and record the work that the client waits for."""
        with self.recorder.guard(_WATCHING):
            scheduler = self._scheduler_of(client)
            keys = adapter.unfinished_keys(client)
            if scheduler is not None and keys:
                self._add(scheduler, Submission(client, frozenset(keys), None, single=True, is_known=True))
            if scheduler is not None:
                self._waiting.begin_wanted([scheduler])

    def begin_counting(self) -> None:
        """Have workers count the lines that are wanted; waits for them, two seconds at most, as above."""
        self._waiting.begin_wanted(self.schedulers.all())

    def begin_block(self) -> None:
        """Have tasks of `submit` and `map` from now on join no compute that has begun before."""
        self._computes.part()

    def going(self) -> set[int]:
        """Return the numbers of the runs of this process's clients that have not ended."""
        return self._computes.going()

    def is_waited_for(self, run: int) -> bool:
        """Return whether a run goes on that a call of ``Client.get`` waits for."""
        return self._computes.is_waited_for(run)

    def cancel(self, run: int) -> None:
        """Cancel the futures of a run that have not finished; nothing where it has ended."""
        self._computes.cancel(run)

    def not_over(self) -> set[int]:
        """Return the numbers of the runs that are not over for their users."""
        return self._computes.not_over()

    def run_of(self, submission: Call | Submission) -> int | None:
        """Return the run that a call of ``Client.get`` waits for, or that a submission is part of."""
        return self._computes.run_of(submission)

    def settle(self) -> float:
        """Wait until the records of ended tasks were read, two seconds at most; return what is left."""
        return self._waiting.settle()

    def settle_in_background(self) -> float:
        """Do what `settle` does, on a thread that holds nothing up: also after what holds schedulers up."""
        return self._waiting.settle_in_background()

    def catch_up(self) -> None:
        """Do what `settle` does, once for each call that has come back and each run that is over."""
        if self.patience_s is not None:
            return
        known = self._computes.n_returned, self._computes.going() - self._computes.not_over()
        if known[0] != self._caught_up[0] or not known[1] <= self._caught_up[1]:
            self._caught_up = known
            self.settle()

    @property
    def owes_answers(self) -> bool:
        """Whether `settle` would have to ask."""
        return any(scheduler.has_runs or scheduler.owes_samples for scheduler in self.schedulers.all())

    @property
    def runs_here(self) -> bool:
        """Whether a scheduler runs in the caller's event loop, and cannot answer who holds that up."""
        return self.schedulers.run_here

    @property
    def patience_s(self) -> float | None:
        """How long a thread may wait, None where it holds up no event loop that may have to answer."""
        return self._waiting.patience_s

    async def settled(self) -> float:
        """Do what `settle` does, while the caller's event loop goes on."""
        return await self._waiting.settled()

    def forget_thread(self) -> None:
        """Start over in a child process, where neither the thread nor its connections exist."""
        self._computes.renew_lock()
        self.schedulers.forget()

    # Called on the threads of users ----------------------------------------------------------------------

    def opened(self, client: object) -> None:
        """Begin to be there: who submits in its event loop later, as joblib does, cannot wait for that."""
        self._scheduler_of(client)

    async def opened_in_loop(self, client: object) -> None:
        """Be there before its first task: an event loop cannot wait when that is handed over."""
        scheduler = self._scheduler_of(client)
        if scheduler is not None and not scheduler.ready.is_set():
            await asyncio.to_thread(scheduler.ready.wait, READY_S)

    def submitting(self, client: Any, failed: frozenset[Hashable] = frozenset()) -> None:
        """Be ready: a scheduler keeps records only once it was asked for some."""
        self._computes.handing_over(failed)
        scheduler = self._scheduler_of(client)
        if scheduler is not None:
            self._waiting.for_records(scheduler, client)

    def submitted(self, submission: Submission) -> None:
        """Begin a run, or add to one."""
        scheduler = self._scheduler_of(submission.client)
        if scheduler is not None:
            self._add(scheduler, submission)

    def handed_over(self) -> None:
        """Register the end of the call that was `submitting`."""
        self._computes.handed_over()

    def returned(self, call: Call, error: BaseException | None) -> None:
        """End the runs of a call that waited."""
        self._computes.returned(call, error)

    def released(self, key: Hashable, state: Any) -> None:
        """Register that a future was released, with the last state of its task."""
        self._computes.released(key, state)

    def closing(self, client: Any) -> None:
        """Read what there is while it can be read."""
        if not client.asynchronous:
            self._wait_for_answers()
            self.settle()

    async def closing_in_loop(self, client: object) -> None:
        """Do so while the event loop goes on, in which the scheduler may live."""
        if self.awaited:
            await asyncio.to_thread(self._wait_for_answers)
        await self.settled()

    def _wait_for_answers(self) -> None:
        for answered in list(self.awaited):
            answered.wait(SETTLE_S)

    def closed(self, client: object) -> None:
        """Give the connection up that was there for this client alone; takes no lock."""
        self.schedulers.leave(client)

    def guard(self) -> Guard:
        """Return the guard that the methods above are called in."""
        return self.recorder.guard(_WATCHING)

    def _imported(self) -> None:
        if self._attached:
            adapter.watch(self)

    def _scheduler_of(self, client: object) -> WatchedScheduler | None:
        return self.schedulers.of(client) if self._attached else None

    def _add(self, scheduler: WatchedScheduler, submission: Submission) -> None:
        origin = Origin.here()
        if self._computes.may_join(submission, origin):
            self._take(scheduler, submission, origin)
        else:
            # Half of a run would go on for ever; what joins one ends with it.
            self._take(scheduler, submission, origin)

    def _take(self, scheduler: WatchedScheduler, submission: Submission, origin: Origin) -> None:
        n_threads = scheduler.workers.n_threads or None
        run, is_new = self._computes.take(submission, origin, n_threads, scheduler.wake)
        scheduler.add(run, submission)
        if is_new:
            # What adds to one waits for the next look, or a loop that submits has the scheduler asked always.
            scheduler.wake()
            self._on_start(run.log)
