"""One scheduler that is being watched: asked for what is new, as long as there is anything to hear."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from taskscope.model.errortext import describe
from taskscope.recorder import Recorder
from taskscope.sources.cluster import adapter
from taskscope.sources.cluster.adapter import Submission
from taskscope.sources.cluster.attempts import Attempts
from taskscope.sources.cluster.guests import Guests
from taskscope.sources.cluster.holdings import Holdings
from taskscope.sources.cluster.inflight import InFlight
from taskscope.sources.cluster.link import Link, LoopThread
from taskscope.sources.cluster.others import Others
from taskscope.sources.cluster.ownership import Ownership
from taskscope.sources.cluster.pace import Pace
from taskscope.sources.cluster.probing import ClockProbe
from taskscope.sources.cluster.push import Push
from taskscope.sources.cluster.runs import TrackedRun, announce
from taskscope.sources.cluster.samples import WorkerSampler
from taskscope.sources.cluster.states import States
from taskscope.sources.cluster.stream import TaskStream
from taskscope.sources.cluster.transfers import TransferLogs
from taskscope.sources.cluster.wanted import Wanted
from taskscope.sources.cluster.worker_profiles import WorkerProfiles
from taskscope.sources.cluster.workers import Workers

__all__ = ["WatchedScheduler"]

_SAMPLES_S = 1.0
"""How long after the last run its last samples are asked for, if no block's end asks for them before."""


class WatchedScheduler:
    """Asks a scheduler, and tells the recorder.

    Everything but `guests`, `leave`, `add`, `wake` and `abandon` happens on the loop's thread.

    Parameters
    ----------
    address, arguments
        How to reach it.
    recorder
        Where runs are recorded.
    lock
        Held while it is decided whether a run is over.
    ended
        Told of each run that was.
    left
        Told that it is asked no more: its last client was closed, or it is gone.
    told
        Told that the recorder was told something while nothing runs.
    wanted
        What is wanted of it.
    is_handed_work
        Asked whether a client may be about to hand work to it.
    """

    def __init__(  # noqa: PLR0915 - an attribute a line
        self,
        address: str,
        arguments: Mapping[str, Any],
        recorder: Recorder,
        lock: threading.Lock,
        ended: Callable[[TrackedRun], None],
        left: Callable[[WatchedScheduler], None],
        told: Callable[[], None],
        wanted: Wanted,
        is_handed_work: Callable[[], bool],
    ) -> None:
        self.address = address
        self.ready = threading.Event()
        self.waited_for = False
        """Whether a thread of the user's has waited until it was ready; the others need not do so."""
        self.has_early_work = False
        """Whether it was handed work, or had some, before it was ready."""
        self.broken = False
        """Whether it cannot be asked any more."""
        self.refuses = False
        """Whether it can be reached, and does not answer what we have to ask."""
        self._recorder = recorder
        self._lock = lock
        self._ended = ended
        self._left = left
        self._told = told
        self.guests = Guests(lock)
        """The clients for which it is asked."""
        self._link = Link(address, arguments)
        self._woken = asyncio.Event()
        self._wanted = wanted
        self._is_handed_work = is_handed_work
        self._samples = WorkerSampler(recorder)
        self._workers = Workers(address, self._samples.take)
        self._ownership = Ownership()
        self._transfers = TransferLogs(self._link, self._workers, recorder)
        self._others = Others(recorder, self._workers, self._ownership.past, told)
        self._stream = TaskStream(
            self._link, self._workers, self._ownership, self._others, self._transfers, recorder
        )
        self._attempts = Attempts(
            self._link, self._workers, self._ownership, self._stream, self._transfers, recorder
        )
        self._in_flight = InFlight(
            self._link, self._workers, self._ownership, self._others, recorder, self._knows_all
        )
        self._pace = Pace(recorder.clock.perf_counter)
        self._states = States(self._link, recorder, self._pace)
        self._push = Push(self._link, recorder, self._woken.set)
        self._probe = ClockProbe(self._link, self._workers, recorder)
        self._holdings = Holdings(self._link, self._workers, self._ownership, recorder)
        self._profiles = WorkerProfiles(self._link, self._workers, recorder, lambda: wanted.samples)
        self._incoming: deque[tuple[TrackedRun, Submission]] = deque()
        self._runs: list[TrackedRun] = []
        self._graphs: set[asyncio.Task[None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stepping = asyncio.Lock()

    @property
    def has_runs(self) -> bool:
        """Whether there are runs that have not ended."""
        return bool(self._incoming or self._runs)

    @property
    def watches_others(self) -> bool:
        """Whether tasks of other clients are, or are to be, recorded."""
        return self._others.since is not None or self._wanted.others_since is not None

    @property
    def owes_samples(self) -> bool:
        """Whether workers have samples of runs that are over, of which `step` would tell."""
        return self._profiles.owes and not self.broken

    @property
    def n_threads(self) -> int | None:
        """How many tasks its workers run at a time, None while that is not known."""
        return self._workers.n_threads or None

    def leave(self, client: object) -> None:
        """Stay no longer for this client: with the last one's runs the connection ends, too."""
        self.guests.leave(client)
        self.wake()

    def start(self, thread: LoopThread) -> None:
        """Connect, on that thread."""
        thread.submit(self._serve())

    def add(self, run: TrackedRun, submission: Submission) -> None:
        """Watch a run; called on users' threads."""
        self._incoming.append((run, submission))
        self.wake()

    def wake(self) -> None:
        """Have it look soon; called on any thread."""
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._woken.set)

    def abandon(self) -> None:
        """End all runs as they stand, because nobody watches any more; called once the thread has ended."""
        self.broken = True
        self._others.follow(None)
        self._end_all("interrupted", None)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        try:
            await self._stream.open()
            await self._ask_identity()
            await self._holdings.open()
            self.ready.set()
            while not self.guests.look() or self.has_runs:
                if not (self.has_runs or self.watches_others):
                    self._push.close()
                    self._woken.clear()
                    if not self._incoming and not self.guests.are_leaving:
                        await self._rest()
                    continue
                await self._step()
                await self._pause()
        except Exception as error:  # noqa: BLE001 - a scheduler may answer anything, or nothing more
            self._lose(error)
        finally:
            self.ready.set()
            self._holdings.close()
            self._others.follow(None)
            self._told()
            for task in self._graphs:
                task.cancel()
            for asking in (self._probe, self._profiles, self._transfers, self._attempts):
                asking.close()
            self._push.close()
            await self._link.close()
            self._left(self)

    async def _pause(self) -> None:
        self._woken.clear()
        await self._wait(self._pace.pause_s())

    async def _rest(self) -> None:
        """Wait for work, and see meanwhile what becomes of what is held of earlier work."""
        if self._profiles.owes and not await self._wait(_SAMPLES_S):
            await self._finish_samples()
            self._told()
        elif not self._holdings.has_left:
            await self._wait(None)
        elif not await self._wait(self._holdings.pause_s()):
            async with self._stepping:
                await self._holdings.ask(at_end=False)
            self._told()

    async def _finish_samples(self) -> None:
        if not self.guests.have_left:
            await self._profiles.finish(self._pace, [run.log for run in self._runs])

    async def _wait(self, longest_s: float | None) -> bool:
        """Return whether somebody wanted it to look, within this time."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(longest_s):
                await self._woken.wait()
        return self._woken.is_set()

    async def begin_others(self) -> None:
        """Record from now on what other clients have it do, if that is wanted."""
        if self.ready.is_set() and not self.broken:
            try:
                async with self._stepping:
                    await self._follow_others()
            except Exception as error:  # noqa: BLE001 - see _serve
                self._lose(error)
            self._woken.set()

    async def step(self) -> None:
        """Ask once for everything that is new, and end the runs that are over by now."""
        if not self.broken:
            try:
                await self._step(at_end=self.watches_others)
                await self._finish_samples()
            except Exception as error:  # noqa: BLE001 - see _serve
                self._lose(error)

    async def _step(self, *, at_end: bool = False) -> None:
        # First, so that what was handed over is known even where a look before this one is never answered.
        self._admit()
        async with self._stepping:
            now = self._recorder.clock.perf_counter()
            with self._lock:
                for run in self._runs:
                    run.look(now)
            over = [run for run in self._runs if run.over is not None]
            if self._graphs and over:
                await asyncio.wait(self._graphs)
            if not self.guests.have_left:
                await self._probe.look(self._pace)
            with self._pace:
                await self._follow_others()
                await self._ask(over, at_once=at_end or bool(over))
            for run in over:
                self._end(run)

    async def _follow_others(self) -> None:
        since = self._wanted.others_since
        if since == self._others.since:
            return
        if since is not None:
            # What of theirs is over by now is not of the time for which they are wanted.
            await self._ask_identity()
            await self._stream.ask()
            self._stream.fold(knows_all=self._knows_all())
            if self._others.since is None:
                self._stream.set_apart()
        self._others.follow(since)

    async def _ask(self, over: Sequence[TrackedRun], *, at_once: bool) -> None:
        # A worker may have died and others done its tasks in less time than lies between two looks.
        if self._pace.is_identity_due() or at_once:
            await self._ask_identity()
        if await self._in_flight.ask(self._pace):
            await self._ask_identity()
        self._push.follow(self._wanted.transport, self._stream.cursor)
        for first, records in self._push.take():
            self._stream.take(first, records)
        # At the end of a run there may be some that are still to be sent.
        if at_once or not self._push.is_live:
            await self._stream.ask()
        if self._stream.has_strangers:
            await self._ask_identity()
        self._stream.fold(knows_all=self._knows_all())
        await self._states.ask([run for run in self._runs if run.over is None], self._in_flight.sent)
        # Workers go with the last client, and a scheduler logs each that does not answer any more.
        if not self.guests.have_left:
            await self._attempts.ask(self._runs, over, self._pace, knows_all=self._knows_all())
            await self._transfers.ask(self._pace, at_once=at_once)
            await self._holdings.ask(at_end=at_once)
            self._profiles.look(self._pace, [run.log for run in self._runs])

    def _knows_all(self) -> bool:
        """Return whether all keys are known that clients of this process may have handed over by now."""
        # In this order: what was handed over is among what comes in before it is no longer on its way.
        return not self._is_handed_work() and not (self._incoming or self._graphs)

    async def _ask_identity(self) -> None:
        with self._pace.sparing("identity"):
            identity = await self._link.ask("identity", n_workers=-1)
        gone = self._workers.update(identity)
        for run in self._runs:
            run.log.n_workers = max(run.log.n_workers or 0, self._workers.n_threads)
        for address in gone:
            self._samples.leave(self._workers.get(address))
        self._attempts.lose(gone, self._runs)
        await self._in_flight.ask_losses(gone)

    def _admit(self) -> None:
        if self._incoming and self._stream.is_fresh and self.has_early_work:
            self.has_early_work = False
            self._recorder.warn(
                "the scheduler kept no records yet when it was handed work: the first tasks may be missing"
            )
        while self._incoming:
            run, submission = self._incoming.popleft()
            if run not in self._runs:
                self._runs.append(run)
            run.may_retry |= submission.may_retry
            if submission.expr is None:
                self._know(run, dict.fromkeys(submission.keys, ()), submission)
            else:
                task = asyncio.get_running_loop().create_task(self._learn(run, submission))
                self._graphs.add(task)
                task.add_done_callback(self._graphs.discard)

    async def _learn(self, run: TrackedRun, submission: Submission) -> None:
        """Find out which keys a graph has, next to the loop: it may take seconds."""
        graph: dict[Hashable, tuple[Hashable, ...]] | None = None
        try:
            graph = await asyncio.to_thread(adapter.materialize, submission.expr, submission.keys)
            if graph is not None:
                run.may_retry |= await asyncio.to_thread(adapter.may_retry, submission.expr)
        except Exception as error:  # noqa: BLE001 - a user's collection may raise anything
            self._recorder.fault("reading a graph", error)
        if graph is None:
            run.assumed = True
            self._recorder.warn(
                f"a graph of more than {adapter.MAX_GRAPH_TASKS:,} tasks was not looked at: it has no "
                "dependencies here, and tasks of other clients may be taken for its own"
            )
        self._know(run, graph or dict.fromkeys(submission.keys, ()), submission)

    def _know(
        self, run: TrackedRun, graph: Mapping[Hashable, tuple[Hashable, ...]], submission: Submission
    ) -> None:
        announce(run, graph, submission.keys)
        self._ownership.take(run, graph)
        self._others.give_up(graph)

    def _end(self, run: TrackedRun) -> None:
        self._runs.remove(run)
        self._attempts.end(run, self._runs)
        self._holdings.end(run)
        self._ownership.forget(run)
        if not run.is_known:
            announce(run, {}, ())
        run.end(self._recorder.clock.perf_counter())
        self._ended(run)

    def _end_all(self, status: str, error: str | None) -> None:
        runs = [*self._runs, *(run for run, _ in self._incoming if run not in self._runs)]
        self._incoming.clear()
        now = self._recorder.clock.perf_counter()
        for run in dict.fromkeys(runs):
            if run not in self._runs:
                self._runs.append(run)
            # A client whose scheduler is gone gives its futures up.
            if run.over is None or run.unfinished:
                run.over, run.status, run.error = now, status, error
            self._end(run)

    def _lose(self, error: Exception) -> None:
        """Give up: the scheduler is gone, or does not let itself be asked. The client may go on."""
        if self.broken:
            return
        self.broken = True
        self.refuses = not isinstance(error, OSError)
        text = f"{self.address} could not be asked any more: {describe(error)}"
        if self.has_runs or self.refuses:
            self._recorder.warn(f"the scheduler {text}; what was running there is recorded no further")
        self._end_all("erred", f"the scheduler {text}")
