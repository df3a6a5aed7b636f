"""One scheduler that is watched: it is polled while there are runs."""

from __future__ import annotations

import asyncio
import math
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from taskscope.model.errortext import worded
from taskscope.model.guard import Guard
from taskscope.record import Recorder
from taskscope.sources.cluster.adapter import Submission
from taskscope.sources.cluster.connection import (
    READY_S,
    ClientRefs,
    LoopThread,
    Plugins,
    ThreadSafeEvent,
    Wanted,
)
from taskscope.sources.cluster.plugin import TO_RUN
from taskscope.sources.cluster.runs import Computes, TrackedRun, announce
from taskscope.sources.cluster.tasks import SchedulerTasks
from taskscope.sources.cluster.workers import Workers
from taskscope.sources.line_meter import HAS_LOCAL_EVENTS

_PAUSE_S = 0.15
"""Between an answer of the scheduler and the next request."""
_PACE_S = 0.05
"""The least time between two polls, where nobody waits for the second."""
_FLUSH_S = 0.5
"""How long the end of a compute waits for workers' last messages."""
_LONG_S = 0.1
"""Of a shorter compute there is nothing in them."""
_CYCLE_S = 1.0
_COMING_S = 0.5
"""For how long after the end of a compute its scheduler is polled for a graph that is missing."""
_ARRIVES_S = 5.0
"""How long the graph of released futures may be on its way, before they count as cancelled."""
_HELD_S = 0.5
"""How often events are read while nothing runs and results are in memory."""
_HEARD_S = 0.05
"""Longer than a client buffers messages before it sends them."""


class WatchedScheduler:
    """Polls a scheduler, and feeds the recorder.

    Everything but `client_refs`, `leave`, `add`, `wake` and `abandon` happens on the loop's thread.
    """

    def __init__(  # noqa: PLR0915 - an attribute a line
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
        """Whether it is polled no more: all clients have left, or it does not answer."""
        self.refuses = False
        """Whether it can be reached, and refuses to be observed: only its clients' futures are polled."""
        self._is_abandoned = False
        """Whether the recorder watches no more."""
        self._recorder = recorder
        self._computes = computes
        self._on_change = on_change
        self._left = left
        self._event = ThreadSafeEvent()
        self.workers = Workers(address, recorder)
        self._incoming: deque[tuple[TrackedRun, Submission]] = deque()
        self._runs: list[TrackedRun] = []
        self._opened = asyncio.Event()
        self._stepping = asyncio.Lock()
        self._or_lost = Guard(address, lambda _address, error: self._lose(error))
        """Ends the recording of a scheduler that is gone, or sends an odd answer."""
        self._ending = threading.RLock()
        self._end_as: tuple[str, str | None] = "interrupted", None
        """Status and error of runs that go on when it is polled no more."""
        self._tasks = SchedulerTasks(self.workers, client_refs.have)
        self._plugins = Plugins(address, arguments, recorder, self._event.set_here)
        self._wanted = wanted
        self.owes_news = False
        """Whether workers may have unsent records of runs that are over."""
        self._worked_at = -math.inf
        """When the last poll of its own began, which nobody waited for."""
        self._read_at = -math.inf
        """When events were last read."""

    @property
    def has_runs(self) -> bool:
        return bool(self._incoming or self._runs)

    def serves(self, client: object) -> bool:
        """Return whether this client joined its clients; called with the lock of `client_refs`."""
        is_new = not self.client_refs.have(str(getattr(client, "id", "")))
        serves = not self.broken and self.client_refs.join(client)
        if serves and is_new:
            # The scheduler's plugin wakes up those of workers with the first graph of a client that it knows.
            self.wake()
        return serves

    def retire(self) -> None:
        """Serve no further clients; what the present ones compute is recorded to its end."""
        self.client_refs.leave_all()
        self.wake()

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
        if self.broken:
            self._end_all()

    def wake(self) -> None:
        """Have it read soon; called on any thread."""
        self._event.set()

    def abandon(self) -> None:
        """End all runs as they are, as the recorder watches no more; called once the thread has ended."""
        self.broken = self._is_abandoned = True
        # Where the thread ended before it began to connect.
        self.ready.set()
        self._end_all()

    async def begin_wanted(self) -> None:
        """Have workers count lines, if that is wanted."""
        await self._opened.wait()
        if not self.broken:
            with self._or_lost:
                async with self._stepping:
                    await self._flush()
            self._event.set_here()

    async def step(self) -> None:
        """Read all that is new, and end runs that are over."""
        # What ends while it is connecting would be taken for work of a scheduler that is gone.
        await self._opened.wait()
        if not self.broken:
            with self._or_lost:
                await self._step(at_end=True)

    async def _serve(self) -> None:
        self._event.open()
        try:
            with self._or_lost:
                await self._open()
            self.ready.set()
            self._opened.set()
            while await self._is_needed():
                with self._or_lost:
                    await self._work_or_rest()
                    continue
                # An error that is raised each time must not take a whole core.
                await asyncio.sleep(_PAUSE_S)
        except asyncio.CancelledError:
            self._is_abandoned = True
            raise
        finally:
            self.broken, self.owes_news = True, False
            self._end_all()
            self.ready.set()
            self._opened.set()
            self._close()
            self._on_change()
            await self._plugins.end_requests()
            self._left(self)

    async def _work_or_rest(self) -> None:
        await self._keep_pace()
        self._worked_at = self._recorder.clock.perf_counter()
        if self._has_work():
            await self._step()
            self._event.clear()
            await self._event.wait(_PAUSE_S)
            return
        # Options that change while the present ones are sent are sent next, and arrive after these.
        self._event.clear()
        async with self._stepping:
            await self._let_rest()
        # A step of another coroutine may have admitted new runs.
        if not (self._has_work() or self.client_refs.are_leaving):
            await self._rest()

    async def _keep_pace(self) -> None:
        """Let short computes that follow one another share a poll; readers that wait poll themselves."""
        until, now = self._worked_at + _PACE_S, self._recorder.clock.perf_counter
        while (left_s := until - now()) > 0 and not self.client_refs.are_leaving:
            self._event.clear()
            await self._event.wait(left_s)

    async def _is_needed(self) -> bool:
        if self.broken or not self.client_refs.look() or self.has_runs:
            return not self.broken
        # A block that ends on another thread may be reading the last records.
        async with self._stepping:
            return self.has_runs

    async def _open(self) -> None:
        """Install the observer, and read which workers there are."""
        await self._plugins.open(self.client_refs.ids, self._options())
        await self._observe()
        self._admit()
        self._fold()
        if self._wanted.sought is not None:
            await self._flush()

    def _close(self) -> None:
        self._tasks.holdings.clear()
        self._plugins.close()

    def _has_work(self) -> bool:
        counts_lines = HAS_LOCAL_EVENTS and self._wanted.sought is not None and not self.refuses
        return self.has_runs or counts_lines

    async def _let_rest(self) -> None:
        """Have workers rest while there is no run."""
        if self.owes_news:
            await self._flush()
        await self._observe(may_rest=True)
        self._fold()
        self._tasks.drop_forgotten()
        self.owes_news = False

    async def _rest(self) -> None:
        """Wait for work, and now and then while results of earlier work are in memory."""
        are_left = self._tasks.holdings.are_left
        await self._event.wait(_HELD_S if are_left else None)
        if are_left:
            self._on_change()

    async def _step(self, *, at_end: bool = False) -> None:
        # First, so that submissions are recorded even if the poll before this one is never answered.
        self._admit()
        async with self._stepping:
            self._computes.look(self._runs)
            await self._end_released(at_end=at_end)
            over = [run for run in self._runs if run.over is not None]
            await self._poll_once(over, at_end=at_end)
            for run in over:
                if not self._is_coming(run):
                    self._end(run)
                    self.owes_news |= not self._is_long(run)
            self.owes_news &= not at_end

    async def _poll_once(self, over: Sequence[TrackedRun], *, at_end: bool) -> None:
        """Read events, and the last ones of workers where runs are over."""
        if at_end or any(self._is_long(run) for run in over):
            await self._flush()
        await self._read()
        while at_end and any(map(self._is_coming, over)):
            await asyncio.sleep(_HEARD_S)
            await self._read()

    def _is_long(self, run: TrackedRun) -> bool:
        return (
            self._recorder.clock.perf_counter() if run.over is None else run.over
        ) - run.log.start > _LONG_S

    async def _flush(self) -> None:
        """Have workers send what they have, and warn of workers that do not in time."""
        if self.refuses:
            return
        for address in await self._plugins.flush(self._options(), _FLUSH_S):
            self._recorder.warn(
                "%s did not answer in time: samples of its tasks and transfers may be missing",
                self.workers.get(address).label,
            )

    def _options(self) -> bytes:
        """Return what workers are to record, packed."""
        if self._wanted.interval_s is not None:
            self._recorder.stacks.note(self._wanted.interval_s, _CYCLE_S)
        return self._wanted.packed()

    async def _read(self) -> None:
        """Read events, and apply them."""
        self._read_at = self._recorder.clock.perf_counter()
        await self._observe()
        self._admit()
        self._fold()
        for run in () if self.refuses else self._runs:
            run.log.n_workers = max(run.log.n_workers or 0, self.workers.n_threads)

    async def _observe(self, *, may_rest: bool = False) -> None:
        """Read all events that there are."""
        if self.refuses:
            return
        wanted = self._options(), self.client_refs.ids
        news = await self._plugins.read(self._tasks.cursor, *wanted, may_rest=may_rest)
        n = news.n
        self._tasks.take(news)
        while self._tasks.cursor < n and news.events:
            news = await self._plugins.read(self._tasks.cursor, *wanted, may_rest=may_rest)
            self._tasks.take(news)

    def _fold(self) -> None:
        self._tasks.fold(knows_all=self._knows_all())

    def _knows_all(self) -> bool:
        """Return whether no submission is on its way."""
        return not (self._computes.is_submitting() or self._incoming)

    def _is_coming(self, run: TrackedRun) -> bool:
        """Return whether a graph of a run that is over is on its way: the client had all results before."""
        if run.over is None or not run.n_expected or self.refuses:
            return False
        # Time may have passed since the last read, as workers were waited for.
        return self._read_at - run.over < _COMING_S

    async def _end_released(self, *, at_end: bool) -> None:
        """End the runs whose futures were all released, and whose tasks are not needed any more.

        A client gets no messages of a task whose future was released or cancelled. It runs on where it is
        still needed: by ``fire_and_forget``, and by tasks that were submitted since.
        """
        runs = [run for run in self._runs if run.over is None and run.answered is not None]
        now = self._recorder.clock.perf_counter
        given_up = [run for run in runs if run.given_up]
        if at_end and given_up:
            since = max(run.answered or 0.0 for run in given_up)
            await asyncio.sleep(max(since + _HEARD_S - now(), 0.0))
            await self._read()
        for run in runs:
            is_arriving = run.n_expected and not self.refuses
            if is_arriving and now() - (run.answered or 0.0) < _ARRIVES_S:
                continue
            self._drop_released(run)
            if not run.given_up:
                run.over = now()

    def _drop_released(self, run: TrackedRun) -> None:
        """Drop released tasks as far as the first that is needed."""
        while run.given_up:
            key = next(iter(run.given_up))
            state = self._tasks.state(key)
            if state in TO_RUN:
                return
            # A task in memory has finished, for other runs if not for this one.
            if not run.given_up.pop(key) and state != "memory":
                run.unfinished.add(key)

    def _admit(self) -> None:
        is_early = bool(self._incoming) and self.has_early_work and not self.refuses
        if is_early:
            self.has_early_work = False
            self._recorder.warn(
                "taskscope connected after work was submitted: the first tasks may be missing"
            )
        arrived: list[tuple[TrackedRun, Submission]] = []
        while self._incoming:
            arrived.append(self._incoming[0])
            if arrived[-1][0] not in self._runs:
                self._runs.append(arrived[-1][0])
                arrived[-1][0].log.workers = None if self.refuses else self.workers.counts
            # Only now, so that it is seen on every thread that there is a run.
            self._incoming.popleft()
        for run, submission in arrived:
            self._tasks.expect(run, submission, is_early=is_early)
            run.lacks_records |= self.refuses

    def _end(self, run: TrackedRun, *, is_gone: bool = False) -> None:
        # Of a graph that never arrived only the requested keys are known.
        announce(run, dict.fromkeys(run.coming, ()), set(run.coming))
        self._tasks.end(run)
        # A later block would take it for a warning of its own computes.
        if not (self._is_abandoned or self.refuses):
            self._tasks.warn_of(run)
        run.end(self._recorder.clock.perf_counter(), is_gone=is_gone)
        self._computes.ended(run)
        # Last: threads that wait for the end check `has_runs`.
        self._runs.remove(run)

    def _end_all(self) -> None:
        """End all runs, also one that a client's thread has just added to a scheduler that is gone."""
        with self._ending:
            while self._incoming:
                if self._incoming[0][0] not in self._runs:
                    self._runs.append(self._incoming[0][0])
                self._incoming.popleft()
            now = self._recorder.clock.perf_counter()
            for run in list(self._runs):
                # A client whose scheduler is gone gives its futures up.
                if run.over is None or run.unfinished:
                    run.over, (run.status, run.error) = now, self._end_as
                self._end(run, is_gone=True)

    def _lose(self, error: BaseException) -> None:
        """Stop observing: the scheduler is gone, or refuses. The client may go on."""
        if self.broken:
            return
        if not isinstance(error, OSError):
            self._refuse(error)
            return
        self.broken = True
        self._computes.look(self._runs)
        words = "the scheduler %s could not be asked any more: %s"
        if self.has_runs:
            self._recorder.warn(f"{words}: what runs there is recorded no further", self.address, error)
        self._end_as = "erred", worded(words, self.address, error)[0]
        self._end_all()
        # It may be lost by a read of another coroutine than `_serve`.
        self._event.set_here()

    def _refuse(self, error: BaseException) -> None:
        """Observe nothing more; the futures of clients show when computes end, and how."""
        if not self.refuses:
            self._recorder.warn(
                "the scheduler %s does not let itself be observed (%s): "
                "of what runs there only the beginning and the end of each compute are recorded",
                self.address,
                error,
            )
        self.refuses = True
        self._tasks.lack()
        for run in self._runs:
            run.log.workers = None
        self._close()
        self._event.set_here()
