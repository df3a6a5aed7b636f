"""Record what clients compute on clusters: the face of this package."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Hashable, Iterable, Sequence
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from typing import Any

from taskscope.model.records import CLUSTER
from taskscope.recorder import Recorder
from taskscope.sources.cell import current_cell
from taskscope.sources.cluster import adapter
from taskscope.sources.cluster.adapter import Call, Submission
from taskscope.sources.cluster.importing import ImportNotice
from taskscope.sources.cluster.link import LoopThread
from taskscope.sources.cluster.runs import TrackedRun
from taskscope.sources.cluster.scheduler import WatchedScheduler
from taskscope.sources.cluster.wanted import Wanted
from taskscope.sources.local import run_label

__all__ = ["ClusterSource"]

READY_S = 2.0
"""How long the first submission to a scheduler waits until that keeps records."""
SETTLE_S = 2.0
"""How long the end of a block waits for the last records."""
SETTLE_IN_LOOP_S = 0.5
"""How long where an event loop stands still meanwhile."""


class ClusterSource:
    """Feeds a recorder from the schedulers of the clients in this process.

    Parameters
    ----------
    recorder
        Where to.
    on_start, on_stop
        Called when a run starts, on the user's thread, and when it has ended.
    on_news
        Called when the recorder was told something between runs.

    Notes
    -----
    The user's threads wait for a scheduler in two moments only, and not for long: the first time that it is
    met, two seconds at most, until it keeps records; and when a profiled block ends or a client is closed,
    two seconds at most, until the last of them have been read (`settle`).
    """

    def __init__(
        self,
        recorder: Recorder,
        on_start: Callable[[], None] = lambda: None,
        on_stop: Callable[[], None] = lambda: None,
        on_news: Callable[[], None] = lambda: None,
    ) -> None:
        self.recorder = recorder
        self._on_start = on_start
        self._on_stop = on_stop
        self.wanted = Wanted()
        """What is wanted of schedulers."""
        self._on_news = on_news
        self._thread = LoopThread()
        self._lock = threading.Lock()
        self._notice = ImportNotice(self._imported)
        self._schedulers: dict[str, WatchedScheduler] = {}
        self._joinable: dict[tuple[Hashable, ...], TrackedRun] = {}
        self._calls: dict[int, list[TrackedRun]] = {}
        self._n_handed_over = 0
        """How many calls are handing work to a scheduler."""
        self._attached = False

    def attach(self) -> None:
        """See what clients hand to their schedulers from now on, also those that are made later."""
        self._attached = True
        if adapter.watch(self):
            client = adapter.default_client()
            if client is not None:
                self.watch(client)
        else:
            self._notice.wait()

    def detach(self) -> None:
        """See nothing that comes from now on; connections are closed and the thread ends."""
        self._attached = False
        self.wanted.others_since = None
        self._notice.cancel()
        adapter.release(self)
        with self._lock:
            schedulers = list(self._schedulers.values())
            self._schedulers.clear()
            self._joinable.clear()
            self._calls.clear()
            self._n_handed_over = 0
        self._thread.stop()
        for scheduler in schedulers:
            scheduler.abandon()

    @property
    def is_ready(self) -> bool:
        """Whether all schedulers that were met keep records by now."""
        with self._lock:
            return all(s.ready.is_set() for s in self._schedulers.values())

    async def ready(self) -> None:
        """Wait until all schedulers that were met keep records, while the caller's event loop goes on."""
        with self._lock:
            schedulers = list(self._schedulers.values())
        opening = [s.ready for s in schedulers if not s.ready.is_set()]
        await asyncio.gather(*(asyncio.to_thread(ready.wait, READY_S) for ready in opening))
        if self.wanted.others_since is not None and schedulers:
            beginning = asyncio.wrap_future(self._thread.submit(_begin_all(schedulers)))
            await asyncio.wait({beginning}, timeout=READY_S)
            self._have_begun(beginning)

    def watch(self, client: Any) -> None:
        """Connect to a client's scheduler, and record what the client waits for already."""
        try:
            scheduler = self._scheduler_of(client)
            keys = adapter.unfinished_keys(client)
            if scheduler is not None and keys:
                scheduler.has_early_work = True
                self._add(scheduler, Submission(client, None, frozenset(keys), None, single=True))
            if scheduler is not None:
                self._begin_others([scheduler])
        except Exception as error:  # noqa: BLE001 - a fault of ours must not reach the user's code
            self.fault("watching a client", error)

    def watch_others(self) -> None:
        """Record from now on what other clients have schedulers do, until `leave_others`.

        Waits for schedulers, two seconds at most, so that nothing that ends from now on is missing; not in
        an event loop.
        """
        self.wanted.others_since = self.recorder.clock.perf_counter()
        with self._lock:
            schedulers = list(self._schedulers.values())
        self._begin_others(schedulers)
        client = adapter.default_client()
        if client is not None:
            self.watch(client)

    def leave_others(self) -> None:
        """Record no more of that."""
        if self.wanted.others_since is not None:
            self.wanted.others_since = None
            with self._lock:
                schedulers = list(self._schedulers.values())
            for scheduler in schedulers:
                scheduler.wake()

    def _begin_others(self, schedulers: Sequence[WatchedScheduler]) -> None:
        if self.wanted.others_since is None or not schedulers:
            return
        if self._lives_here():
            for scheduler in schedulers:
                scheduler.wake()
            return
        for scheduler in schedulers:
            scheduler.ready.wait(READY_S)
        beginning = self._thread.submit(_begin_all(schedulers))
        wait_for({beginning}, READY_S)
        self._have_begun(beginning)

    def _have_begun(self, beginning: Future[None] | asyncio.Future[None]) -> None:
        if not beginning.done():
            beginning.cancel()
            self.recorder.warn(
                f"the scheduler did not answer within {READY_S:g} s: the first tasks of other clients may be "
                "missing"
            )

    def run_of(self, call: Call) -> int | None:
        """Return the number of the run that a call of ``Client.get`` waits for, None before it began."""
        with self._lock:
            runs = self._calls.get(id(call))
            return runs[0].log.run if runs else None

    def settle(self) -> bool:
        """Wait until what has ended on clusters was read; False if a scheduler did not answer in time."""
        lives_here = self._lives_here()
        # Workers may live in this very event loop, too: their last samples are not waited for.
        waiting = None if self._thread.is_current else self._step(briefly=lives_here)
        if waiting is None:
            return True
        timeout_s = min(SETTLE_S, SETTLE_IN_LOOP_S) if lives_here else SETTLE_S
        wait_for({waiting}, timeout_s)
        return self._is_settled(waiting, timeout_s)

    async def settled(self) -> None:
        """Do what `settle` does, while the caller's event loop goes on."""
        stepping = self._step(briefly=False)
        if stepping is not None:
            waiting = asyncio.wrap_future(stepping)
            await asyncio.wait({waiting}, timeout=SETTLE_S)
            self._is_settled(waiting, SETTLE_S)

    def _step(self, *, briefly: bool) -> Future[None] | None:
        """Have schedulers asked once more that may have something new; None if there are none.

        Where this has to be brief, only those with runs of ours.
        """
        # Where there are some, the thread goes on; with the lock held, it cannot end before this is on it.
        with self._lock:
            busy = [
                s
                for s in self._schedulers.values()
                if s.has_runs or (not briefly and (s.watches_others or s.owes_samples))
            ]
            return self._thread.submit(_step_all(busy)) if busy else None

    def _lives_here(self) -> bool:
        """Return whether a scheduler may live in this very event loop, and could not answer meanwhile."""
        with self._lock:
            schedulers = list(self._schedulers.values())
        return any(scheduler.guests.live_here for scheduler in schedulers)

    def _is_settled(self, waiting: Future[None] | asyncio.Future[None], timeout_s: float) -> bool:
        if not waiting.done():
            waiting.cancel()
            self.recorder.warn(
                f"the scheduler did not answer within {timeout_s:g} s, so its last tasks may be missing here"
            )
            return False
        # With the last run the last scheduler may be left meanwhile, and the thread ends what is on it.
        error = None if waiting.cancelled() else waiting.exception()
        if error is not None:
            self.fault("reading a scheduler", error)
        return True

    def forget_thread(self) -> None:
        """Start over in a child process, where neither the thread nor its connections exist."""
        self._lock = threading.Lock()
        self._thread.forget()
        self._schedulers.clear()

    # Called on the threads of users ----------------------------------------------------------------------

    def submitting(self, client: Any) -> None:
        """Be ready: a scheduler keeps records only once it was asked for some."""
        with self._lock:
            self._n_handed_over += 1
        scheduler = self._scheduler_of(client)
        if scheduler is None:
            return
        if not (scheduler.waited_for or client.asynchronous):
            scheduler.waited_for = True
            scheduler.ready.wait(READY_S)
        scheduler.has_early_work |= not scheduler.ready.is_set()

    def submitted(self, submission: Submission) -> None:
        """Begin a run, or add to one."""
        scheduler = self._scheduler_of(submission.client)
        if scheduler is not None:
            self._add(scheduler, submission)

    def handed_over(self) -> None:
        """Know that by the call that was `submitting` nothing is on its way any more."""
        with self._lock:
            # Whoever began to watch in between did not hear that it was.
            self._n_handed_over = max(self._n_handed_over - 1, 0)

    def returned(self, call: Call, error: BaseException | None) -> None:
        """End the runs of a call that waited."""
        now = self.recorder.clock.perf_counter()
        with self._lock:
            runs = self._calls.pop(id(call), [])
            for run in runs:
                run.returned(now, error)
        for run in runs:
            run.wake()

    def closing(self, client: Any) -> None:
        """Read what there is while it can be read."""
        if not client.asynchronous:
            self.settle()

    def closed(self, client: object) -> None:
        """Give the connection up that was there for this client alone.

        Notes
        -----
        Takes no lock: the garbage collector may close a client while its thread holds ours, and waits then.
        """
        for scheduler in list(self._schedulers.values()):
            scheduler.leave(client)

    def fault(self, where: str, error: BaseException) -> None:
        """Count a fault of ours."""
        self.recorder.fault(where, error)

    def _imported(self) -> None:
        if self._attached:
            adapter.watch(self)

    def _scheduler_of(self, client: Any) -> WatchedScheduler | None:
        found = adapter.connection_of(client)
        if found is None or not self._attached:
            return None
        address, arguments = found
        with self._lock:
            known = self._schedulers.get(address)
            if known is not None and known.refuses:
                return None
            if known is None or known.broken or not known.guests.join(client):
                known = WatchedScheduler(
                    address,
                    arguments,
                    self.recorder,
                    self._lock,
                    self._ended,
                    self._left,
                    self._on_news,
                    self.wanted,
                    lambda: self._n_handed_over > 0,
                )
                self._schedulers[address] = known
                known.guests.join(client)
                known.start(self._thread)
            return known

    def _add(self, scheduler: WatchedScheduler, submission: Submission) -> None:
        recorder = self.recorder
        label, cell = run_label.get(), current_cell()
        place = (id(submission.client), label, cell)
        states = adapter.future_states(submission.client, submission.keys)
        with self._lock:
            run = self._joinable.get(place) if submission.single and submission.call is None else None
            if run is not None:
                run.look(recorder.clock.perf_counter())
            if run is None or run.over is not None:
                log = recorder.begin()
                log.label, log.scheduler, log.is_held_elsewhere = label, CLUSTER, True
                log.cell, log.execution_count, log.source_crc = cell
                log.n_workers = scheduler.n_threads
                run = TrackedRun(log, submission.client, submission.call, submission.single, scheduler.wake)
                run.handed_over = submission.began
                if submission.single:
                    self._joinable[place] = run
                if submission.call is not None:
                    self._calls.setdefault(id(submission.call), []).append(run)
                started = True
            else:
                started = False
            run.ask(states)
        scheduler.add(run, submission)
        if started:
            self._on_start()

    def _left(self, scheduler: WatchedScheduler) -> None:
        """Forget a scheduler that is not asked any more; the thread ends with the last."""
        with self._lock:
            if self._schedulers.get(scheduler.address) is scheduler and not scheduler.refuses:
                del self._schedulers[scheduler.address]
            if all(other.refuses for other in self._schedulers.values()):
                self._thread.stop()

    def _ended(self, run: TrackedRun) -> None:
        with self._lock:
            self._joinable = {place: r for place, r in self._joinable.items() if r is not run}
        self._on_stop()


async def _begin_all(schedulers: Iterable[WatchedScheduler]) -> None:
    await asyncio.gather(*(s.begin_others() for s in schedulers))


async def _step_all(schedulers: Iterable[WatchedScheduler]) -> None:
    await asyncio.gather(*(s.step() for s in schedulers))
