"""All that a scheduler and its workers are asked, and in which order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from taskscope.sources.cluster import adapter
from taskscope.sources.cluster.arrivals import Arrivals
from taskscope.sources.cluster.attempts import Attempts
from taskscope.sources.cluster.executing import Executing
from taskscope.sources.cluster.given_up import GivenUp
from taskscope.sources.cluster.guests import Guests
from taskscope.sources.cluster.holdings import Holdings
from taskscope.sources.cluster.inflight import InFlight
from taskscope.sources.cluster.observer import Observer
from taskscope.sources.cluster.others import Others
from taskscope.sources.cluster.pace import Pace
from taskscope.sources.cluster.probing import ClockProbe
from taskscope.sources.cluster.runs import TrackedRun
from taskscope.sources.cluster.samples import WorkerSampler
from taskscope.sources.cluster.states import States
from taskscope.sources.cluster.stream import TaskStream
from taskscope.sources.cluster.transfers import TransferLogs
from taskscope.sources.cluster.wanted import Wanted
from taskscope.sources.cluster.watched import Watched
from taskscope.sources.cluster.worker_poll import WorkerPoll
from taskscope.sources.cluster.worker_profiles import WorkerProfiles

__all__ = ["Questions", "patience_ends"]

_WORKERS_S = 1.7
"""How long workers are waited for at an end: less than a block's end waits for everything."""


def patience_ends() -> float:
    """Return until when workers are waited for that are asked from now on, by the event loop's clock."""
    return asyncio.get_running_loop().time() + _WORKERS_S


class Questions:
    """Asked of one scheduler, by coroutines of one event loop, one at a time.

    What is not answered is raised as it comes: the scheduler is gone, or does not let itself be asked.

    Parameters
    ----------
    watched
        The cluster.
    samples
        Told when a worker is gone.
    others
        Told of tasks of other clients.
    arrivals
        Asked whether all keys of this process are known.
    guests
        Asked whether clients are there still: workers go with the last.
    wanted
        What is wanted.
    pace
        Tells when it is time.
    """

    def __init__(
        self,
        watched: Watched,
        samples: WorkerSampler,
        others: Others,
        arrivals: Arrivals,
        guests: Guests,
        wanted: Wanted,
        pace: Pace,
    ) -> None:
        link, workers, recorder = watched.link, watched.workers, watched.recorder
        self._link = link
        self._recorder = recorder
        self._workers = workers
        self._ownership = watched.ownership
        self._samples = samples
        self._others = others
        self._arrivals = arrivals
        self._guests = guests
        self._wanted = wanted
        self._pace = pace
        self._was_too_long = False
        self._poll = poll = WorkerPoll(link, workers, recorder, wanted.avoided)
        self._transfers = TransferLogs(poll, recorder)
        self._observer = Observer(link, recorder)
        self._stream = TaskStream(watched, others, self._transfers, self._observer)
        self._attempts = Attempts(watched, poll, self._stream, self._transfers)
        self._in_flight = InFlight(watched, others, lambda: arrivals.know_all)
        self._executing = Executing(poll, recorder)
        self._given_up = GivenUp(link, recorder)
        self._states = States(watched, self._stream, pace)
        self._probe = ClockProbe(link, poll, recorder)
        self._holdings = Holdings(watched)
        self._profiles = WorkerProfiles(poll, recorder, lambda: wanted.samples)

    @property
    def is_fresh(self) -> bool:
        """Whether the scheduler kept no records before it was asked."""
        return self._stream.is_fresh

    @property
    def owe_samples(self) -> bool:
        """Whether workers have samples of runs that are over, of which `finish_samples` would tell."""
        return self._profiles.owes

    @property
    def were_answered(self) -> bool:
        """Whether no worker was given up that was waited for at the last look, or after it."""
        return not (self._workers.silent or self._was_too_long)

    async def open(self) -> None:
        """Have the scheduler keep records from now on, and find out who works there."""
        await self._stream.open(self._wanted.transport)
        await self._ask_identity(())
        await self._holdings.open()

    async def what_became(self, runs: Sequence[TrackedRun], *, at_end: bool) -> None:
        """Find out which runs are over whose futures were let go or cancelled; see `GivenUp.ask`."""
        await self._given_up.ask(runs, at_end=at_end)

    async def look(
        self, runs: Sequence[TrackedRun], over: Sequence[TrackedRun], *, at_end: bool, until: float
    ) -> None:
        """Ask for what is new.

        Parameters
        ----------
        runs
            Those that go on.
        over
            Those of them that are over for their users.
        at_end
            Whether a thread of the user's waits for all there is by now.
        until
            When workers are waited for no longer; see `patience_ends`.
        """
        self._was_too_long = False
        if not self._guests.have_left:
            await self._probe.look(self._pace)
        with self._pace:
            await self.follow_others(runs)
            at_once = bool(over) or (at_end and self._others.since is not None)
            await self._ask_scheduler(runs, at_once=at_once)
            # They go with the last client, and a scheduler logs each that does not answer any more.
            if not self._guests.have_left:
                await self._executing.ask(self._pace, self._in_flight.sent, self._in_flight.since)
                async with self._waiting(until):
                    await self._attempts.ask(runs, over, self._pace, knows_all=self._arrivals.know_all)
                    await self._transfers.ask(self._pace, at_once=at_once)
                    await self._profiles.look(self._pace, [run.log for run in runs])
                await self._holdings.ask(at_end=at_once)

    async def follow_others(self, runs: Sequence[TrackedRun]) -> None:
        """Begin or end to record what other clients have it do, as that is wanted."""
        since = self._wanted.others_since
        if since == self._others.since:
            return
        if since is not None:
            # What of theirs is over by now is not of the time for which they are wanted.
            await self._ask_identity(runs)
            await self._stream.ask()
            self._stream.fold(knows_all=self._arrivals.know_all)
            if self._others.since is None:
                self._stream.set_apart()
        self._others.follow(since)

    async def _ask_scheduler(self, runs: Sequence[TrackedRun], *, at_once: bool) -> None:
        # A worker may have died and others done its tasks in less time than lies between two looks.
        if self._pace.is_identity_due() or at_once:
            await self._ask_identity(runs)
        if await self._in_flight.ask(self._pace):
            await self._ask_identity(runs)
        await self._states.ask_at_end(runs)
        await self._read_stream(runs)
        await self._states.ask(runs, self._in_flight.sent)

    @asynccontextmanager
    async def _waiting(self, until: float) -> AsyncIterator[None]:
        """Wait for workers until then, and tell what may be missing where that was too long."""
        waiting = asyncio.timeout_at(until)
        try:
            async with waiting:
                yield
        except TimeoutError:
            if not waiting.expired():
                raise
            self._was_too_long = True
            self._recorder.warn(
                "workers did not answer in time: failed attempts, bytes of transfers and samples may be "
                "missing"
            )

    async def _read_stream(self, runs: Sequence[TrackedRun]) -> None:
        await self._stream.follow(self._wanted.transport)
        await self._stream.ask()
        if self._stream.has_strangers:
            await self._ask_identity(runs)
        self._stream.fold(knows_all=self._arrivals.know_all)

    async def _ask_identity(self, runs: Sequence[TrackedRun]) -> None:
        with self._pace.sparing("identity"):
            identity = await self._link.ask("identity", **adapter.all_workers())
        gone = self._workers.update(identity)
        for run in runs:
            run.log.n_workers = max(run.log.n_workers or 0, self._workers.n_threads)
        for address in gone:
            self._samples.leave(self._workers.get(address))
        self._attempts.lose(gone, runs)
        await self._in_flight.ask_losses(gone)

    async def finish_samples(self, runs: Sequence[TrackedRun], *, until: float) -> None:
        """Ask for all samples there are by now; `runs` go on, and are asked for again.

        Parameters
        ----------
        runs
            Those that go on.
        until
            See `look`.
        """
        if not self._guests.have_left:
            async with self._waiting(until):
                await self._profiles.finish(self._pace, [run.log for run in runs])

    @property
    def has_held(self) -> bool:
        """Whether anything is held of runs that have ended."""
        return self._holdings.has_left

    @property
    def held_pause_s(self) -> float:
        """How long to wait before `ask_held`."""
        return self._holdings.pause_s()

    async def ask_held(self) -> None:
        """Ask what is held of runs that have ended."""
        await self._holdings.ask(at_end=False)

    def end(self, run: TrackedRun, others: Sequence[TrackedRun]) -> None:
        """Tell of what was still to be told of a run that has ended; `others` go on."""
        self._stream.end(run)
        self._attempts.end(run, others)
        self._holdings.end(run)
        self._ownership.forget(run)

    async def rest(self) -> None:
        """Let the scheduler keep little, as long as nothing is looked at."""
        await self._stream.rest()

    def close(self) -> None:
        """Ask no more."""
        self._holdings.close()
        about_workers = (self._executing, self._transfers, self._attempts, self._profiles)
        for asking in (self._probe, self._observer, *about_workers, self._poll):
            asking.close()
