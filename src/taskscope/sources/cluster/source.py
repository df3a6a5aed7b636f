"""Record what clients compute on clusters: the face of this package."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Callable, Coroutine, Hashable, Iterable
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from typing import TYPE_CHECKING, Any, Protocol

from taskscope.model.guard import Guard
from taskscope.model.import_notice import ImportNotice
from taskscope.record import Recorder
from taskscope.sources.cluster import adapter
from taskscope.sources.cluster.adapter import Call, Submission
from taskscope.sources.cluster.connection import READY_S, ClientRefs, LoopThread, Wanted
from taskscope.sources.cluster.runs import Computes, Origin

if TYPE_CHECKING:
    from taskscope.sources.cluster.scheduler import WatchedScheduler

CLIENTS = "distributed.client"
"""The module that is there where there may be clients."""
SETTLE_S = 2.0
"""How long the end of a block waits for the last records."""
SETTLE_IN_LOOP_S = 0.5
"""How long where an event loop is blocked until then."""
_TASKS_MISSING = ", so its last tasks may be missing here"
_LINES_MISSING = ": lines of the first tasks may be missing"
_LOOK_S = 0.2
"""How often a blocked event loop is checked for whether it will ever go on."""


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


class Follower(Protocol):
    """Receives the computes of clients, on the threads that begin them and wait for them."""

    def submitted(self, run: int, call: Call | None) -> None:
        """Register that work of a run was submitted, for which a call waits."""

    def returned(self, call: Call, error: BaseException | None) -> None:
        """Register that a call returned its result, or raised."""


class ClusterSource:
    """Feeds a recorder from the schedulers of the clients in this process.

    The user's threads wait for a scheduler in two moments only, two seconds at most: the first time that it
    is met, until it keeps records, and when a profiled block ends or a client is closed, until the last of
    them have been read (`settle`).
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
        self._on_start = on_start
        self.computes = Computes(recorder, on_stop)
        self._on_news = on_news
        self._thread = LoopThread()
        """Polls the schedulers; it ends with the last."""
        self._lock = threading.Lock()
        self._watched: list[WatchedScheduler] = []
        """Two of an address where the last client of one has left while its tasks go on."""
        self._notice = ImportNotice(CLIENTS, self._imported)
        self._attached = False
        self._caught_up: tuple[int, set[int]] = 0, set()
        """How many calls had returned, and which runs were over, when it was settled last."""
        self.followers: dict[Follower, None] = {}
        self.awaited: set[threading.Event] = set()
        """Set once the answers that another thread waits for were read; no client closes before."""

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
        self.computes.clear()
        with self._lock:
            schedulers, self._watched = self._watched, []
        self._thread.stop()
        for scheduler in schedulers:
            scheduler.abandon()

    @property
    def schedulers(self) -> list[WatchedScheduler]:
        """The schedulers that are read: one that is gone may still be closing its connection."""
        with self._lock:
            return [known for known in self._watched if not known.broken]

    def forget_refused(self) -> None:
        """Forget schedulers that refused, so that they are tried again: one answer may have been odd."""
        for known in self.schedulers:
            if known.refuses:
                known.retire()

    def watch(self, client: Any) -> None:
        """Connect to a client's scheduler, and record the work that the client waits for."""
        with self.guard():
            scheduler = self._scheduler_of(client)
            keys = adapter.unfinished_keys(client)
            if scheduler is not None and keys:
                self._add(scheduler, Submission(client, frozenset(keys), None, single=True, is_known=True))
            if scheduler is not None:
                self.begin_counting()

    def options_changed(self) -> None:
        """Have workers record by the session's options from the next task on."""
        for scheduler in self.schedulers:
            scheduler.wake()

    def begin_counting(self) -> None:
        """Have workers count the lines that are wanted; waits for them, two seconds at most."""
        if self.wanted.sought is not None and self._live_here:
            self.options_changed()
        elif self.wanted.sought is not None:
            self._wait(self.begin_wanted(), READY_S, _LINES_MISSING)

    async def ready(self) -> None:
        """Wait until all known schedulers, and that of the default client, keep records."""
        with self.guard():
            client = adapter.default_client()
            if client is not None:
                self._scheduler_of(client)
        await asyncio.gather(*(scheduler.ready_in_loop() for scheduler in self.schedulers))
        if self.wanted.sought is not None:
            await self._wait_in_loop(self.begin_wanted(), READY_S, _LINES_MISSING)

    def begin_wanted(self) -> Future[list[None]] | None:
        """Have workers of all schedulers count lines; None if there are none."""
        with self._lock:
            there = [known for known in self._watched if not known.broken]
            return self._thread.submit(lambda: _all(s.begin_wanted() for s in there)) if there else None

    def settle(self) -> None:
        """Wait until the records of ended tasks were read, two seconds at most."""
        if not self._thread.is_current:
            patience_s = self.patience_s
            self._wait(self._step(), SETTLE_S if patience_s is None else patience_s)

    async def settled(self) -> None:
        await self._wait_in_loop(self._step(), SETTLE_S)

    def settle_in_background(self) -> None:
        """Settle on a thread that blocks no event loop, once the loops of schedulers here go on.

        A notebook's next cells block its event loop for as long as they run, and with it each scheduler that
        lives there.
        """
        while True:
            for loop in self._loops():
                _turns(loop, math.inf)
            stepping = self._step()
            if stepping is None:
                return
            wait_for({stepping}, SETTLE_S)
            if stepping.done() or all(_turns(loop, 0.0) for loop in self._loops()):
                self._check(stepping, SETTLE_S)
                return
            stepping.cancel()

    def _step(self) -> Future[list[None]] | None:
        """Poll all that have runs, or had until just now; None if there are none."""
        # With the lock taken, the thread cannot end before this is on it.
        with self._lock:
            busy = [known for known in self._watched if known.has_runs or known.owes_news]
            return self._thread.submit(lambda: _all(s.step() for s in busy)) if busy else None

    def _wait(self, waiting: Future[Any] | None, timeout_s: float, missing: str = _TASKS_MISSING) -> None:
        if waiting is not None:
            wait_for({waiting}, timeout_s)
            self._check(waiting, timeout_s, missing)

    async def _wait_in_loop(
        self, waiting: Future[Any] | None, timeout_s: float, missing: str = _TASKS_MISSING
    ) -> None:
        if waiting is not None:
            in_loop = asyncio.wrap_future(waiting)
            await asyncio.wait({in_loop}, timeout=timeout_s)
            self._check(in_loop, timeout_s, missing)

    def _check(
        self,
        waiting: Future[Any] | asyncio.Future[Any],
        timeout_s: float,
        missing: str = _TASKS_MISSING,
    ) -> None:
        """Warn of a scheduler that did not answer in time, and record the fault of reading it."""
        if not waiting.done():
            waiting.cancel()
            self.recorder.warn(f"the scheduler did not answer within {timeout_s:g} s{missing}")
        # With the last run the last scheduler may be left, and its thread cancels this.
        elif not waiting.cancelled() and (error := waiting.exception()) is not None:
            self.recorder.fault("reading a scheduler", error)

    def catch_up(self) -> None:
        """Settle if a call has returned, or a run is over, since it was settled last."""
        if self.patience_s is not None:
            return
        known = self.computes.n_returned, self.computes.going() - self.computes.not_over()
        if known[0] != self._caught_up[0] or not known[1] <= self._caught_up[1]:
            self._caught_up = known
            self.settle()

    @property
    def owes_answers(self) -> bool:
        """Whether `settle` would have to wait."""
        return any(scheduler.has_runs or scheduler.owes_news for scheduler in self.schedulers)

    @property
    def patience_s(self) -> float | None:
        """How long a thread may wait that blocks an event loop of a scheduler; None where it blocks none."""
        if not self._live_here:
            return None
        return 0.0 if self.run_here else min(SETTLE_S, SETTLE_IN_LOOP_S)

    @property
    def _live_here(self) -> bool:
        """Whether one may live in the caller's event loop, and could not answer while that is blocked."""
        return any(scheduler.client_refs.live_here for scheduler in self.schedulers)

    @property
    def run_here(self) -> bool:
        """Whether one runs in the caller's event loop, and cannot answer while that is blocked."""
        return any(adapter.runs_in_this_loop(scheduler.address) for scheduler in self.schedulers)

    def _loops(self) -> list[asyncio.AbstractEventLoop]:
        found = (adapter.loop_of_scheduler(scheduler.address) for scheduler in self.schedulers)
        return [loop for loop in found if loop is not None]

    # Called by the adapter, on the threads of users ---------------------------------------------------------

    def guard(self) -> Guard:
        return self.recorder.guard("watching a client")

    async def opened(self, client: Any) -> None:
        """Connect early: one that submits in an event loop, as joblib does, cannot wait then."""
        scheduler = self._scheduler_of(client)
        # The thread that makes a client that blocks waits for this.
        if scheduler is not None and client._asynchronous:
            await scheduler.ready_in_loop()

    def submitting(self, client: Any) -> None:
        self.computes.handing_over()
        scheduler = self._scheduler_of(client)
        if scheduler is not None:
            scheduler.wait_ready(client)

    def submitted(self, submission: Submission) -> None:
        scheduler = self._scheduler_of(submission.client)
        if scheduler is None:
            return
        run = self._add(scheduler, submission)
        for follower in [*self.followers]:
            with self.guard():
                follower.submitted(run, submission.call)

    def handed_over(self) -> None:
        self.computes.handed_over()

    def returned(self, call: Call, error: BaseException | None) -> None:
        self.computes.returned(call, error)
        for follower in [*self.followers]:
            with self.guard():
                follower.returned(call, error)

    def released(self, key: Hashable, state: Any) -> None:
        self.computes.released(key, state)

    def closing(self, client: Any) -> None:
        if not client.asynchronous:
            self._wait_for_answers()
            self.settle()

    async def closing_in_loop(self, client: object) -> None:
        if self.awaited:
            await asyncio.to_thread(self._wait_for_answers)
        await self.settled()

    def _wait_for_answers(self) -> None:
        for answered in list(self.awaited):
            answered.wait(SETTLE_S)

    def closed(self, client: object) -> None:
        # Without the lock: the garbage collector may close a client while its thread has it.
        for scheduler in tuple(self._watched):
            scheduler.leave(client)

    def _imported(self) -> None:
        if self._attached:
            adapter.watch(self)

    def _scheduler_of(self, client: object) -> WatchedScheduler | None:
        """Return a client's scheduler, watched from this call on; None if it has none."""
        found = adapter.connection_of(client) if self._attached else None
        if found is None:
            return None
        address, arguments = found
        with self._lock:
            here = (known for known in self._watched if known.address == address)
            known = next((known for known in here if known.serves(client)), None)
            if known is None:
                from taskscope.sources.cluster.scheduler import WatchedScheduler

                clients = ClientRefs(self._lock)
                clients.join(client)
                watching = self.recorder, self.computes, self.wanted, self._on_news, self._left
                known = WatchedScheduler(address, arguments, clients, *watching)
                self._watched.append(known)
                known.start(self._thread)
            return known

    def _left(self, scheduler: WatchedScheduler) -> None:
        """Forget a scheduler that is polled no more; the thread ends with the last."""
        with self._lock:
            if scheduler in self._watched:
                self._watched.remove(scheduler)
            if not self._watched:
                self._thread.stop()

    def _add(self, scheduler: WatchedScheduler, submission: Submission) -> int:
        """Add work to a run, a new one or one that goes on; return the run's number."""
        n_threads = scheduler.workers.n_threads or None
        run, is_new = self.computes.take(submission, Origin.here(self.guard()), n_threads, scheduler.wake)
        if is_new:
            # Before it is added: a scheduler that is gone ends it at once.
            with self.guard():
                self._on_start(run.log)
        scheduler.add(run, submission)
        if is_new:
            # What adds to one waits for the next poll: a loop that submits would wake the scheduler always.
            scheduler.wake()
        return run.log.run


async def _all(coroutines: Iterable[Coroutine[Any, Any, None]]) -> list[None]:
    return await asyncio.gather(*coroutines)
