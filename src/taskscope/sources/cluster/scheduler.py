"""The schedulers that are watched: each is polled while there are runs."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Mapping
from concurrent.futures import Future
from typing import Any, TypeVar

from taskscope.model.errortext import describe
from taskscope.model.guard import Guard
from taskscope.record import Recorder
from taskscope.sources.cluster import adapter
from taskscope.sources.cluster.adapter import Submission
from taskscope.sources.cluster.link import ClientRefs, Link, LoopThread, RateLimiter, ThreadSafeEvent
from taskscope.sources.cluster.questions import Questions, patience_ends
from taskscope.sources.cluster.runs import Computes, TrackedRun, announce
from taskscope.sources.cluster.workers.known import Watched, Workers, WorkerSampler
from taskscope.sources.cluster.workers.poll import Wanted

READY_S = 2.0
"""How long the first submission to a scheduler waits until that keeps records."""
_SAMPLES_S = 1.0
"""How long after the last run its last samples are read, if no block's end reads them before."""


class WatchedScheduler:
    """Polls a scheduler, and feeds the recorder.

    Everything but `client_refs`, `leave`, `add`, `wake` and `abandon` happens on the loop's thread.
    """

    def __init__(
        self,
        address: str,
        arguments: Mapping[str, Any],
        client_refs: ClientRefs,
        recorder: Recorder,
        computes: Computes,
        wanted: Wanted,
        on_change: Callable[[], None],
        left: Callable[[WatchedScheduler], None],
    ) -> None:
        self.address = address
        self.client_refs = client_refs
        self.ready = threading.Event()
        self.waited_until: float | None = None
        """Until when threads of the user's wait that it is ready, None before one has to."""
        self.has_early_work = False
        """Whether it was handed work, or had some, before it was ready."""
        self.broken = False
        """Whether it does not answer any more."""
        self.refuses = False
        """Whether it can be reached, and refuses to be observed."""
        self._is_abandoned = False
        """Whether the recorder watches no more."""
        self._recorder = recorder
        self._computes = computes
        self._wanted = wanted
        self._on_change = on_change
        self._left = left
        self._link = Link(address, arguments)
        self._event = ThreadSafeEvent()
        self._limiter = RateLimiter(recorder.clock.perf_counter)
        samples = WorkerSampler(recorder)
        self.workers = Workers(address, samples.take)
        self._incoming: deque[tuple[TrackedRun, Submission]] = deque()
        self._questions = Questions(
            Watched(self._link, self.workers, recorder),
            samples,
            on_change,
            self._admit,
            lambda: computes.is_submitting() or bool(self._incoming),
            lambda: computes.retried.union(
                *(submission.keys for _, submission in self._incoming if submission.is_retry)
            ),
            client_refs,
            wanted,
            self._limiter,
        )
        self._runs: list[TrackedRun] = []
        self._stepping = asyncio.Lock()
        self._or_lost = Guard(address, lambda _address, error: self._lose(error))
        """Ends the recording of a scheduler that is gone, or sends an odd answer."""

    @property
    def has_runs(self) -> bool:
        return bool(self._incoming or self._runs)

    @property
    def owes_samples(self) -> bool:
        return self._questions.owe_samples and not self.broken

    def serves(self, client: object) -> bool:
        """Return whether this client joined its clients; called with the lock of `client_refs`."""
        return not self.broken and self.client_refs.join(client)

    def leave(self, client: object) -> None:
        """Stay no longer for this client: with the last one's runs the connection ends, too."""
        self.client_refs.leave(client)
        self.wake()

    def wait_ready(self, client: Any) -> None:
        """Wait until it keeps records, two seconds in all; the client is about to submit work."""
        if not client.asynchronous:
            now = self._recorder.clock.perf_counter()
            if self.waited_until is None:
                self.waited_until = now + READY_S
            self.ready.wait(max(self.waited_until - now, 0.0))
        self.has_early_work |= not self.ready.is_set()

    async def ready_in_loop(self) -> None:
        """Wait until it keeps records, two seconds at most, while the event loop goes on."""
        if not self.ready.is_set():
            await asyncio.to_thread(self.ready.wait, READY_S)

    def start(self, thread: LoopThread) -> None:
        """Connect, on that thread."""
        thread.submit(self._serve)

    def add(self, run: TrackedRun, submission: Submission) -> None:
        """Add a run, or tasks of it, from the next poll on; called on users' threads."""
        self._incoming.append((run, submission))

    def wake(self) -> None:
        """Have it read soon; called on any thread."""
        self._event.set()

    def abandon(self) -> None:
        """End all runs as they are, as the recorder watches no more; called once the thread has ended."""
        self.broken = self._is_abandoned = True
        self._end_all("interrupted", None)

    async def begin_wanted(self) -> None:
        """Have workers count lines, if that is wanted."""
        if self.ready.is_set() and not self.broken:
            with self._or_lost:
                async with self._stepping:
                    await self._questions.begin_counting()
            self._event.set_here()

    async def step(self) -> bool:
        """Read all that is new, end runs that are over; return whether workers answered in time."""
        if not self.broken:
            with self._or_lost:
                await self._step(at_end=True)
        return self._questions.were_answered

    async def _serve(self) -> None:
        self._event.open()
        try:
            with self._or_lost:
                await self._questions.open()
                self.ready.set()
                while not self.client_refs.look() or self.has_runs:
                    if not self._has_work():
                        await self._questions.rest()
                        self._event.clear()
                        # A step of another coroutine may have admitted new runs.
                        if not (self._has_work() or self.client_refs.are_leaving):
                            await self._rest()
                        continue
                    await self._step()
                    self._event.clear()
                    await self._event.wait(self._limiter.pause_s())
        finally:
            self.ready.set()
            self._questions.close()
            self._on_change()
            await self._link.close()
            self._left(self)

    def _has_work(self) -> bool:
        return self.has_runs or self._questions.are_counting

    async def _rest(self) -> None:
        """Wait for work, and poll results of earlier work that are still in memory."""
        if self._questions.owe_samples and not await self._event.wait(_SAMPLES_S):
            async with self._stepping:
                await self._questions.finish_samples(self._runs, until=patience_ends())
            self._on_change()
        elif not self._questions.has_held:
            await self._event.wait(None)
        elif not await self._event.wait(self._questions.held_pause_s):
            async with self._stepping:
                await self._questions.ask_held()
            self._on_change()

    async def _step(self, *, at_end: bool = False) -> None:
        # First, so that submissions are recorded even if the poll before this one is never answered.
        self._admit()
        async with self._stepping:
            self._computes.look(self._runs)
            await self._questions.end_released(self._runs, at_end=at_end)
            over = [run for run in self._runs if run.over is not None]
            until = patience_ends()
            await self._questions.look(self._runs, over, at_end=at_end, until=until)
            for run in over:
                if not self._questions.is_coming(run):
                    self._end(run)
            if at_end:
                await self._questions.finish_samples(self._runs, until=until)

    def _admit(self) -> None:
        if self._incoming and self._questions.is_fresh and self.has_early_work:
            self.has_early_work = False
            self._recorder.warn(
                "taskscope connected after work was submitted: the first tasks may be missing"
            )
        arrived: list[tuple[TrackedRun, Submission]] = []
        while self._incoming:
            arrived.append(self._incoming[0])
            if arrived[-1][0] not in self._runs:
                self._runs.append(arrived[-1][0])
            # Only now, so that it is seen on every thread that there is a run.
            self._incoming.popleft()
        if arrived:
            self._questions.add(arrived)

    def _end(self, run: TrackedRun, *, is_gone: bool = False) -> None:
        # Of a graph that never arrived only the requested keys are known.
        announce(run, dict.fromkeys(run.coming, ()), set(run.coming))
        self._questions.end(run)
        if not self._is_abandoned:
            # A later block would take it for a warning of its own computes.
            self._questions.tasks.warn_of(run)
        run.end(self._recorder.clock.perf_counter(), is_gone=is_gone)
        self._computes.ended(run)
        # Last: threads that wait for the end check `has_runs`.
        self._runs.remove(run)

    def _end_all(self, status: str, error: str | None) -> None:
        runs = [*self._runs, *(run for run, _ in self._incoming)]
        self._incoming.clear()
        now = self._recorder.clock.perf_counter()
        for run in dict.fromkeys(runs):
            if run not in self._runs:
                self._runs.append(run)
            # A client whose scheduler is gone gives its futures up.
            if run.over is None or run.unfinished:
                run.over, run.status, run.error = now, status, error
            self._end(run, is_gone=True)

    def _lose(self, error: BaseException) -> None:
        """Give up: the scheduler is gone, or refuses to be observed. The client may go on."""
        if self.broken:
            return
        self.broken = True
        self.refuses = not isinstance(error, OSError)
        self._computes.look(self._runs)
        text = f"the scheduler {self.address} could not be asked any more: {describe(error)}"
        if self.refuses:
            text = f"the scheduler {self.address} does not let itself be observed ({describe(error)})"
        if self.has_runs or self.refuses:
            self._recorder.warn(f"{text}: what runs there is recorded no further")
        self._end_all("erred", text)


_T = TypeVar("_T")


class Schedulers:
    """One for each address that a client is connected to; the thread ends with the last."""

    def __init__(
        self, recorder: Recorder, computes: Computes, wanted: Wanted, on_change: Callable[[], None]
    ) -> None:
        self._recorder = recorder
        self._computes = computes
        self._wanted = wanted
        self._on_change = on_change
        self._thread = LoopThread()
        self._lock = threading.Lock()
        self._known: dict[str, WatchedScheduler] = {}

    def of(self, client: object) -> WatchedScheduler | None:
        """Return a client's scheduler, watched from this call on; None if it has none, or that refuses."""
        found = adapter.connection_of(client)
        if found is None:
            return None
        address, arguments = found
        with self._lock:
            known = self._known.get(address)
            if known is None or not (known.refuses or known.serves(client)):
                known = self._watch(client, address, arguments)
            return None if known.refuses else known

    def _watch(self, client: object, address: str, arguments: Mapping[str, Any]) -> WatchedScheduler:
        client_refs = ClientRefs(self._lock)
        client_refs.join(client)
        known = self._known[address] = WatchedScheduler(
            address,
            arguments,
            client_refs,
            self._recorder,
            self._computes,
            self._wanted,
            self._on_change,
            self._left,
        )
        known.start(self._thread)
        return known

    def forget_refused(self) -> None:
        """Forget schedulers that refused, so that they are tried again: one answer may have been odd."""
        with self._lock:
            for address in self._refusing():
                del self._known[address]

    def _refusing(self) -> list[str]:
        return [address for address, known in self._known.items() if known.refuses]

    def all(self) -> list[WatchedScheduler]:
        with self._lock:
            return list(self._known.values())

    def leave(self, client: object) -> None:
        """Leave the connections of this client.

        Takes no lock: the garbage collector may close a client while its thread has the lock.
        """
        for scheduler in list(self._known.values()):
            scheduler.leave(client)

    @property
    def live_here(self) -> bool:
        """Whether one may live in the caller's event loop, and could not answer while that is blocked."""
        return any(scheduler.client_refs.live_here for scheduler in self.all())

    def loops(self) -> list[asyncio.AbstractEventLoop]:
        found = (adapter.loop_of_scheduler(scheduler.address) for scheduler in self.all())
        return [loop for loop in found if loop is not None]

    @property
    def run_here(self) -> bool:
        """Whether one runs in the caller's event loop, and cannot answer while that is blocked."""
        return any(adapter.runs_in_this_loop(scheduler.address) for scheduler in self.all())

    @property
    def are_asked_here(self) -> bool:
        """Whether the caller runs on the thread that polls them."""
        return self._thread.is_current

    def step(self, *, briefly: bool) -> Future[list[bool]] | None:
        """Poll all that may have news; None if there are none; with `briefly`, only schedulers with runs.

        The results are whether all workers answered.
        """
        # With the lock taken, the thread cannot end before this is on it.
        with self._lock:
            busy = self._with_news(briefly=briefly)
            return self._thread.submit(lambda: _all(s.step() for s in busy)) if busy else None

    def _with_news(self, *, briefly: bool) -> list[WatchedScheduler]:
        return [s for s in self._known.values() if s.has_runs or (not briefly and s.owes_samples)]

    def begin_wanted(self, schedulers: Iterable[WatchedScheduler]) -> Future[list[None]]:
        """Have workers of these count lines: see `WatchedScheduler.begin_wanted`."""
        return self._thread.submit(lambda: _all(s.begin_wanted() for s in schedulers))

    def close(self) -> None:
        """End the thread and all runs as they are."""
        if self._known or self._thread.is_there:
            self._close()

    def _close(self) -> None:
        with self._lock:
            schedulers = list(self._known.values())
            self._known.clear()
        self._thread.stop()
        for scheduler in schedulers:
            scheduler.abandon()

    def _left(self, scheduler: WatchedScheduler) -> None:
        """Forget one that is polled no more; the thread ends with the last."""
        with self._lock:
            if self._known.get(scheduler.address) is scheduler and not scheduler.refuses:
                del self._known[scheduler.address]
            if all(other.refuses for other in self._known.values()):
                self._thread.stop()


async def _all(coroutines: Iterable[Coroutine[Any, Any, _T]]) -> list[_T]:
    return await asyncio.gather(*coroutines)
