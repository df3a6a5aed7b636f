"""All requests to a scheduler and its workers, in their order.

Which results workers have in memory is requested here, too (`Holdings`): the scheduler lists the keys of each
worker, and the size of a result was recorded with its task. A result on two workers counts twice, and one
that was spilled to disk counts as in memory.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import islice

from taskscope.model.keys import split_key
from taskscope.record import Holding
from taskscope.sources.cluster import adapter
from taskscope.sources.cluster.adapter import Submission
from taskscope.sources.cluster.link import ClientRefs, RateLimiter, try_ask
from taskscope.sources.cluster.observer import Observer
from taskscope.sources.cluster.rows import Rows
from taskscope.sources.cluster.runs import TrackedRun
from taskscope.sources.cluster.tasks import TO_RUN, Tasks
from taskscope.sources.cluster.workers.activity import Executing, TransferLogs
from taskscope.sources.cluster.workers.clock_probe import ClockProbe
from taskscope.sources.cluster.workers.counted import WorkerCounts
from taskscope.sources.cluster.workers.known import Watched, WorkerSampler
from taskscope.sources.cluster.workers.metrics import WorkerMetrics
from taskscope.sources.cluster.workers.poll import Wanted, WorkerPoll
from taskscope.sources.cluster.workers.samples import WorkerLines, WorkerProfiles

_EVERY_S = 0.5
_SHARE = 0.05
_S_PER_KEY = 200e-6
_KEYS_PER_ANSWER = 20_000


class Holdings:
    """Polls which results workers have, twice a second at most.

    Less often where they are many (one key every 200 µs at most), and where answers are slow (a twentieth of
    the time is spent awaiting them).
    """

    def __init__(self, watched: Watched, tasks: Tasks) -> None:
        self._link = watched.link
        self._workers = watched.workers
        self._tasks = tasks
        self._recorder = watched.recorder
        self._last_counts: dict[int, dict[str, Holding]] = {}
        """The counts of the last poll, by run and group."""
        self._left: dict[int, dict[Hashable, float]] = {}
        """Keys of runs that have ended and may still be in memory, with their sizes."""
        self._took_s = 0.0
        self._n_keys = 0
        self._asked_s = -math.inf
        self._is_noted = True

    async def open(self) -> None:
        _, refusal = await try_ask(self._link, "has_what", workers=[])
        if refusal is not None:
            self._is_noted = False
            self._recorder.warn(
                "the scheduler does not report what its workers have in memory: the cache is unknown"
            )

    @property
    def has_left(self) -> bool:
        return bool(self._left)

    def pause_s(self, *, at_end: bool = False) -> float:
        pause_s = max(self._took_s / _SHARE, self._n_keys * _S_PER_KEY, 0.0 if at_end else _EVERY_S)
        return max(self._asked_s + pause_s - self._now(), 0.0)

    async def ask(self, *, at_end: bool) -> None:
        """Poll if that is due, which it is earlier with `at_end`."""
        if not self._is_noted or self.pause_s(at_end=at_end):
            return
        began = self._now()
        answers = [await self._link.ask("has_what", workers=workers) for workers in self._parts()]
        self._asked_s = self._now()
        self._took_s = self._asked_s - began
        keys = [key for answer in answers for held in answer.values() for key in held]
        self._n_keys = len(keys)
        self._note(self._count(keys))

    def end(self, run: TrackedRun) -> None:
        if self._is_noted and run.landed:
            self._left[run.log.run] = run.landed

    def close(self) -> None:
        """Record that nothing is in memory any more: the last client has left, or the scheduler is gone."""
        self._asked_s = self._now()
        self._note({})
        self._left.clear()

    def _now(self) -> float:
        return self._recorder.clock.perf_counter()

    def _parts(self) -> Iterator[list[str]]:
        """Yield workers, a few at a time where they hold much, so that no answer takes the scheduler long."""
        part: list[str] = []
        n_keys = 0
        for address in self._workers.present:
            part.append(address)
            n_keys += self._workers.get(address).n_held
            if n_keys >= _KEYS_PER_ANSWER:
                yield part
                part, n_keys = [], 0
        if part:
            yield part

    def _count(self, keys: Iterable[Hashable]) -> dict[int, dict[str, Holding]]:
        """Return how much of each group is in memory, by run; keys of no recorded run are left out."""
        counts: dict[int, dict[str, Holding]] = {}
        left: dict[int, dict[Hashable, float]] = {}
        for key in keys:
            found = self._find(key)
            if found is None:
                continue
            run, size, has_ended = found
            if has_ended:
                left.setdefault(run, {})[key] = size
            groups = counts.setdefault(run, {})
            name, is_sized = split_key(key)[0], math.isfinite(size)
            _, n_keys, nbytes, n_unsized = groups.get(name, (key, 0, 0.0, 0))
            nbytes += size if is_sized else 0.0
            groups[name] = Holding(key, n_keys + 1, nbytes, n_unsized + (not is_sized))
        self._left = left
        return counts

    def _find(self, key: Hashable) -> tuple[int, float, bool] | None:
        """Return the run of a key, its size, and whether that run has ended."""
        run = self._tasks.run_of(key)
        if run is not None and run.log.run not in self._left:
            return run.log.run, run.landed.get(key, math.nan), False
        return next(((n, sizes[key], True) for n, sizes in self._left.items() if key in sizes), None)

    def _note(self, counts: dict[int, dict[str, Holding]]) -> None:
        time_s = self._recorder.seconds(self._asked_s)
        for run in sorted(self._last_counts.keys() | counts.keys()):
            before, now = self._last_counts.get(run, {}), counts.get(run, {})
            gone = [Holding(held.key, 0, 0.0, 0) for name, held in before.items() if name not in now]
            changed = [held for name, held in now.items() if _amounts(held) != _amounts(before.get(name))]
            if gone or changed:
                self._recorder.note_holdings(run, time_s, [*gone, *changed])
        self._last_counts = counts


def _amounts(holding: Holding | None) -> tuple[int, float, int] | None:
    return None if holding is None else holding[1:]


_WORKERS_S = 1.7
"""How long workers are waited for at an end: less than a block's end waits for everything."""
_AT_ONCE = 200
"""How many released tasks are checked together: one that is needed keeps its run going."""
_COMING_S = 0.5
"""For how long after the end of a compute its scheduler is polled for a graph that is missing."""
_HEARD_S = 0.05
"""Longer than a client buffers messages before it sends them."""


def patience_ends() -> float:
    """Return until when workers are waited for in this poll, by the event loop's clock."""
    return asyncio.get_running_loop().time() + _WORKERS_S


class Questions:
    """The requests to one scheduler, by coroutines of one event loop, one at a time.

    A request that fails raises: the scheduler is gone, or refuses to be observed.
    """

    def __init__(
        self,
        watched: Watched,
        samples: WorkerSampler,
        on_change: Callable[[], None],
        admit: Callable[[], None],
        is_handed_work: Callable[[], bool],
        retried: Callable[[], frozenset[Hashable]],
        client_refs: ClientRefs,
        wanted: Wanted,
        limiter: RateLimiter,
    ) -> None:
        link, workers, recorder = watched.link, watched.workers, watched.recorder
        self._link = link
        self._recorder = recorder
        self._workers = workers
        self._samples = samples
        self._admit = admit
        self._is_handed_work = is_handed_work
        self._retried = retried
        self._client_refs = client_refs
        self._wanted = wanted
        self._limiter = limiter
        self._was_too_long = False
        self._poll = poll = WorkerPoll(link, workers, recorder, wanted.avoided)
        self._transfers = TransferLogs(poll, recorder)
        self._metrics = WorkerMetrics(poll, recorder)
        rows = Rows(watched, self._transfers, self._metrics)
        self.tasks = Tasks(watched, rows, samples, client_refs.have)
        self._observer = Observer(link, recorder)
        self._executing = Executing(poll, recorder)
        self._probe = ClockProbe(link, poll, recorder, self._observer.clock_op)
        self._holdings = Holdings(watched, self.tasks)
        # Sampled lines contain all that workers' own profiles do.
        self._profiles = WorkerProfiles(poll, recorder, lambda: wanted.samples and wanted.lines_s is None)
        self._lines = WorkerLines(poll, recorder, lambda: wanted.lines_s)
        self._counts = WorkerCounts(poll, recorder, lambda: wanted.sought, self._knows_all)
        self._read_at = -math.inf
        """When events were last read."""
        self.is_fresh = False
        """Whether the observer had no events before it was read."""

    @property
    def owe_samples(self) -> bool:
        return self._profiles.owes or self._lines.owes or self._counts.owes

    @property
    def are_counting(self) -> bool:
        """Whether workers are to count lines, also while nothing runs."""
        return self._counts.is_wanted

    @property
    def were_answered(self) -> bool:
        """Whether all workers answered in time in the last poll, or after it."""
        return not (self._workers.silent or self._was_too_long)

    async def open(self) -> None:
        """Install the observer, and list the workers."""
        await self._observer.open(self._client_refs.ids)
        self.tasks.opened = self._recorder.clock.perf_counter()
        self.is_fresh = self.tasks.cursor == 0
        await self._ask_identity(())
        await self._holdings.open()
        await self._metrics.open(self._limiter)
        await self.begin_counting()

    def add(self, arrived: Sequence[tuple[TrackedRun, Submission]]) -> None:
        for run, submission in arrived:
            self.tasks.expect(run, submission)

    async def end_released(self, runs: Sequence[TrackedRun], *, at_end: bool) -> None:
        """End the runs whose futures were all released, and whose tasks are not needed any more.

        A client gets no messages of a task whose future was released or cancelled. It runs on where it is
        still needed: by ``fire_and_forget``, and by tasks that were submitted since.
        """
        runs = [run for run in runs if run.over is None and run.answered is not None]
        now = self._recorder.clock.perf_counter
        given_up = [run for run in runs if run.given_up]
        if at_end and given_up:
            since = max(run.answered or 0.0 for run in given_up)
            await asyncio.sleep(max(since + _HEARD_S - now(), 0.0))
            await self._read(())
        for run in runs:
            while run.given_up and await self._drop_released(run):
                pass
            if not run.given_up:
                run.over = now()

    async def _drop_released(self, run: TrackedRun) -> bool:
        """Drop some tasks that are not needed; True if these are all that were checked."""
        keys = list(islice(run.given_up, _AT_ONCE))
        unknown = [key for key in keys if self.tasks.state(key) in (None, "processing")]
        states: Mapping[Hashable, str | None] = {}
        if unknown:
            states = (await try_ask(self._link, "get_task_status", keys=unknown))[0] or {}
        found = {key: states.get(key) if key in unknown else self.tasks.state(key) for key in keys}
        gone = [key for key, state in found.items() if state not in TO_RUN]
        for key in gone:
            del run.given_up[key]
        # A task in memory has finished, for other runs if not for this one.
        run.unfinished.update(key for key in gone if found[key] != "memory")
        return len(gone) == len(keys)

    async def look(
        self, runs: Sequence[TrackedRun], over: Sequence[TrackedRun], *, at_end: bool, until: float
    ) -> None:
        """Read events, and send the requests to workers that are due, until a moment."""
        self._was_too_long = False
        if not self._client_refs.have_left:
            await self._probe.look(self._limiter)
        with self._limiter:
            at_once = bool(over)
            # Between two polls a worker may have died and others done its tasks.
            if self._limiter.is_identity_due() or at_once:
                await self._ask_identity(runs)
            await self._read(runs)
            if at_end:
                await self._read_graphs_of(over, runs)
            # They go with the last client, and a scheduler logs each that does not answer any more.
            if not self._client_refs.have_left:
                await self._executing.ask(self._limiter, self.tasks.processing)
                async with self._waiting(until):
                    await self._transfers.ask(self._limiter, at_once=at_once)
                    await self._metrics.ask(self._limiter, runs, at_once=at_once)
                    await self._profiles.look(self._limiter, [run.log for run in runs])
                    await self._lines.look(self._limiter, [run.log for run in runs])
                    await self._counts.look(self._limiter, runs)
                await self._holdings.ask(at_end=at_once)

    def is_coming(self, run: TrackedRun) -> bool:
        """Return whether a graph of a run that is over is on its way: the client had all results before."""
        if run.over is None or not run.n_expected:
            return False
        # Time may have passed since the last read, as workers were waited for.
        return self._read_at - run.over < _COMING_S

    async def _read_graphs_of(self, over: Sequence[TrackedRun], runs: Sequence[TrackedRun]) -> None:
        while any(map(self.is_coming, over)):
            await asyncio.sleep(_HEARD_S)
            await self._read(runs)

    async def begin_counting(self) -> None:
        """Have workers count lines before their next task, if that is wanted."""
        await self._counts.begin(self._limiter)

    async def _read(self, runs: Sequence[TrackedRun]) -> None:
        """Read events, and apply them."""
        self._read_at = self._recorder.clock.perf_counter()
        await self._observe()
        if self.tasks.has_strangers:
            await self._ask_identity(runs)
        self._admit()
        self._fold(knows_all=self._knows_all())

    def _knows_all(self) -> bool:
        return not self._is_handed_work()

    def _fold(self, *, knows_all: bool) -> None:
        self.tasks.fold(knows_all=knows_all, retried=self._retried())

    async def _observe(self, *, is_last: bool = False) -> int:
        """Read all events; return how many there were."""
        news = await self._observer.read(self.tasks.cursor, is_last=is_last)
        n = news.n
        self.tasks.take(news)
        while self.tasks.cursor < n and news.events:
            news = await self._observer.read(self.tasks.cursor, is_last=is_last)
            self.tasks.take(news)
        return n

    @asynccontextmanager
    async def _waiting(self, until: float) -> AsyncIterator[None]:
        """Wait for workers until then; warn of what may be missing after that."""
        waiting = asyncio.timeout_at(until)
        try:
            async with waiting:
                yield
        except TimeoutError:
            if not waiting.expired():
                raise
            self._was_too_long = True
            self._recorder.warn(
                "workers did not answer in time: bytes of transfers, CPU time and samples may be missing"
            )

    async def _ask_identity(self, runs: Sequence[TrackedRun]) -> None:
        with self._limiter.limited("identity"):
            identity = await self._link.ask("identity", **adapter.all_workers())
        self._workers.update(identity)
        for run in runs:
            run.log.n_workers = max(run.log.n_workers or 0, self._workers.n_threads)

    async def finish_samples(self, runs: Sequence[TrackedRun], *, until: float) -> None:
        """Read the last samples of runs that are over; samples of `runs`, which go on, are read again."""
        if not self._client_refs.have_left:
            async with self._waiting(until):
                await self._profiles.finish(self._limiter, [run.log for run in runs])
                await self._lines.finish(self._limiter, [run.log for run in runs])
                await self._counts.finish(self._limiter, runs)

    @property
    def has_held(self) -> bool:
        return self._holdings.has_left

    @property
    def held_pause_s(self) -> float:
        """How long to wait before `ask_held`."""
        return self._holdings.pause_s()

    async def ask_held(self) -> None:
        await self._holdings.ask(at_end=False)

    def end(self, run: TrackedRun) -> None:
        self.tasks.end(run)
        self._holdings.end(run)

    async def rest(self) -> None:
        await self._observe(is_last=True)
        self._fold(knows_all=not self._is_handed_work())

    def close(self) -> None:
        self._holdings.close()
        about_workers = (self._executing, self._transfers, self._metrics, self._profiles)
        about_lines = (self._lines, self._counts)
        for asking in (self._probe, self._observer, *about_workers, *about_lines, self._poll):
            asking.close()
