"""Read the scheduler's task stream from where we left off, and tell it to the recorder."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from taskscope.sources.cluster.clock import UNCORRECTED
from taskscope.sources.cluster.corrections import Corrections
from taskscope.sources.cluster.observer import Observer, Transport
from taskscope.sources.cluster.others import Others
from taskscope.sources.cluster.records import Executions, read_executions
from taskscope.sources.cluster.runs import TrackedRun
from taskscope.sources.cluster.telling import TimedExecutions, tell
from taskscope.sources.cluster.transfers import TransferLogs
from taskscope.sources.cluster.watched import Watched

__all__ = ["TaskStream"]

_MAX_HELD = 200_000
_STEP_S = 0.1
_MOST_TRIES = 20
_MAX_AT_ONCE = 10_000
"""As many rows as the recorder folds at once."""


class TaskStream:
    """The records that have not been told yet.

    Parameters
    ----------
    watched
        The cluster.
    others
        Told of those that are nobody's here.
    transfers
        Told of transfers.
    observer
        Who has the records, if the scheduler lets itself be observed.
    """

    def __init__(
        self, watched: Watched, others: Others, transfers: TransferLogs, observer: Observer | None = None
    ) -> None:
        self._observer = observer or Observer(watched.link, watched.recorder)
        self._link = watched.link
        self._workers = watched.workers
        self._ownership = watched.ownership
        self._recorder = watched.recorder
        self._others = others
        self._transfers = transfers
        self._corrections = Corrections()
        self._cursor = 0
        self._shift_s = math.nan
        self._held: list[Mapping[str, Any]] = []
        self._earlier: list[Mapping[str, Any]] = []
        """Those that were read before other clients' tasks were wanted."""
        self._n_seen = 0
        """How many of them were seen before, and nobody's."""
        self._opened = -math.inf
        self._gap = -math.inf
        """When it was last noticed that records are missing."""
        self.is_fresh = False
        """Whether the scheduler kept no records before it was asked."""

    async def open(self, transport: Transport = "poll") -> None:
        """Have records kept from now on."""
        if transport == "poll" or not await self._observer.open():
            self._cursor = int(await self._link.ask("get_task_stream_index"))
        self._opened = self._recorder.clock.perf_counter()
        self.is_fresh = self._cursor == 0

    async def follow(self, transport: Transport) -> None:
        """Have the observer taken out if it is not wanted any more, and go on with the scheduler's."""
        if transport == "poll" and self._observer.is_there:
            index = int(await self._link.ask("get_task_stream_index"))
            for _ in range(_MOST_TRIES):
                await self.ask()
                index = int(await self._link.ask("get_task_stream_index"))
                # Of what ended in between it would not be known whether both tell of it.
                if await self.n_records() == self._cursor:
                    break
            self._observer.close()
            self._cursor = index

    async def rest(self) -> None:
        """Let the observer keep little, as long as nothing is asked."""
        if self._observer.is_there:
            await self._observe(is_last=True)

    async def n_records(self) -> int:
        """Return how many records there are by now."""
        if self._observer.is_there:
            return (await self._observer.read(self._cursor, limit=0))[1]
        return int(await self._link.ask("get_task_stream_index"))

    async def _observe(self, *, is_last: bool = False) -> None:
        first, n_records, records = await self._observer.read(self._cursor, is_last=is_last)
        self.take(first, records)
        while self._cursor < n_records and records:
            first, _, records = await self._observer.read(self._cursor, is_last=is_last)
            self.take(first, records)

    async def ask(self) -> None:
        """Read what is new.

        Raises
        ------
        ConnectionResetError
            If the scheduler is not the one that was asked before.
        """
        if self._observer.is_there:
            await self._observe()
            return
        index = int(await self._link.ask("get_task_stream_index"))
        if index < self._cursor:
            raise ConnectionResetError("it was started anew")
        if index == self._cursor:
            return
        records = await self._link.ask("get_task_stream", start_index=self._cursor)
        lost = index - self._cursor - len(records)
        self._cursor += len(records)
        if lost > 0:
            self._cursor = int(await self._link.ask("get_task_stream_index"))
        self._count_lost(lost)
        self._held.extend(records)

    def take(self, first: int, records: Sequence[Mapping[str, Any]]) -> None:
        """Take records that came without being asked for; those that were read before are left out.

        Parameters
        ----------
        first
            The number of the first of them.
        records
            The records, in the scheduler's order.
        """
        self._count_lost(first - self._cursor)
        new = records[max(self._cursor - first, 0) :]
        self._cursor = max(self._cursor, first + len(records))
        self._held.extend(new)

    @property
    def cursor(self) -> int:
        """How many records the scheduler had when it was last read."""
        return self._cursor

    @property
    def has_strangers(self) -> bool:
        """Whether there are records of workers that the scheduler has not told of."""
        return any(record.get("worker") not in self._workers for record in (*self._earlier, *self._held))

    def has_all_of(self, run: TrackedRun) -> bool:
        """Return whether no record of a run's tasks can be missing, of those that were read so far."""
        # Of work that was handed over before anybody watched it is not known when.
        is_kept = self._opened < run.handed_over < math.inf
        return is_kept and not run.lacks_records and self._gap < run.log.start

    def end(self, run: TrackedRun) -> None:
        """Note whether records of a run that is over may be missing; tell so where it did not finish.

        Of one that finished the recording shows it.
        """
        run.is_complete = self.has_all_of(run)
        if run.is_complete or run.outcome == "finished":
            return
        n_unknown = sum(not run.is_seen(key) for key in run.keys.difference(run.spared))
        if n_unknown:
            self._recorder.warn(
                "records are missing of a compute that did not finish: "
                f"whether {n_unknown:,} of its tasks ran is not known"
            )

    def _note_gap(self) -> None:
        self._gap = self._recorder.clock.perf_counter()

    def _count_lost(self, lost: int) -> None:
        if lost > 0:
            self._note_gap()
            self._recorder.warn(
                f"{lost:,} tasks or more are missing: the scheduler did not keep their records"
            )

    def fold(self, *, knows_all: bool) -> None:
        """Tell the recorder what was read.

        Parameters
        ----------
        knows_all
            Whether all keys of ours are known that the scheduler had when it was read. Keys of nobody are
            those of other clients then; where these are not wanted, they have one more look all the same.
        """
        self._compare_clocks()
        earlier, self._earlier = self._earlier, []
        held, self._held = self._held, []
        # Who begins to watch while a client hands something over does not hear that it is on its way.
        n_seen = self._n_seen if knows_all else 0
        self._fold_all(earlier, None if knows_all else self._earlier, with_others=False)
        self._fold_all(held[:n_seen], None, with_others=knows_all)
        self._fold_all(held[n_seen:], self._held, with_others=knows_all)
        self._n_seen = len(self._held)

    def set_apart(self) -> None:
        """Take what was read so far, and is nobody's, for no task of other clients."""
        self._earlier += self._held
        self._held, self._n_seen = [], 0

    def _fold_all(
        self,
        records: Sequence[Mapping[str, Any]],
        left: list[Mapping[str, Any]] | None,
        *,
        with_others: bool,
    ) -> None:
        for first in range(0, len(records), _MAX_AT_ONCE):
            self._fold(records[first : first + _MAX_AT_ONCE], left, with_others=with_others)

    def _fold(
        self,
        records: Sequence[Mapping[str, Any]],
        left: list[Mapping[str, Any]] | None,
        *,
        with_others: bool,
    ) -> None:
        """Tell of records; what is nobody's is `left`, or dropped where that is None."""
        told, records, errors = read_executions(records)
        self._tell_left_out(told.n_cut, errors)
        owners = self._ownership.owners(told.keys)
        places: dict[TrackedRun | None, list[int]] = {}
        for place, run in enumerate(owners):
            places.setdefault(run, []).append(place)
        coroutines = {
            place
            for run, mine in places.items()
            if run is not None and run.coroutines
            for place in mine
            if told.keys[place] in run.coroutines
        }
        nobodys = places.pop(None, [])
        if nobodys and with_others:
            others = self._others.take([told.keys[place] for place in nobodys])
            for place, run in zip(nobodys, others, strict=True):
                places.setdefault(run, []).append(place)
            nobodys = places.pop(None, [])
        if left is not None:
            self._leave([records[place] for place in nobodys], left)
        timed = self.timed(told, coroutines)
        for run, mine in places.items():
            if run is not None:
                tell(run, timed, mine, self._transfers, self._recorder)

    def _tell_left_out(self, n_cut: int, errors: Sequence[Exception]) -> None:
        if n_cut:
            self._recorder.warn(f"of {n_cut:,} tasks with very many transfers only the first are kept")
        for error in errors:
            self._note_gap()
            self._recorder.fault("reading a record of the task stream", error)

    def _leave(self, records: list[Mapping[str, Any]], left: list[Mapping[str, Any]]) -> None:
        room = max(_MAX_HELD - len(left), 0)
        left += records[:room]
        if len(records) > room:
            # They may be of tasks of a graph that is still being looked at.
            self._note_gap()

    def timed(self, told: Executions, coroutines: Collection[int] = ()) -> TimedExecutions:
        """Put times on the axis of the recorder's clock, as it was last compared, and learn of clocks.

        Parameters
        ----------
        told
            What was executed.
        coroutines
            The places of those that ran in an event loop.
        """
        numbers: dict[str, int] = {}
        worker = np.array([numbers.setdefault(a, len(numbers)) for a in told.workers], np.int64)
        workers = [self._workers.get(address) for address in numbers]
        corrections = self._corrections.applied(told)
        known = np.flatnonzero(~np.isnan(corrections))
        stops, found = told.computed_stop[known].tolist(), corrections[known].tolist()
        for number, stop, correction in zip(worker[known].tolist(), stops, found, strict=True):
            workers[number].clock.note(stop, correction)
        ahead_s = np.array([w.clock.ahead_s for w in workers])
        unknown_s = np.array([w.clock.shift_s(math.nan) for w in workers])
        steps = told.steps
        of = worker[steps.owner]
        correction = corrections[steps.owner]
        shift = np.where(np.isnan(correction), unknown_s[of], ahead_s[of] - correction)
        shift = np.where(np.isin(steps.kind, UNCORRECTED), ahead_s[of], shift) + self._shift_s
        start, stop = steps.start + shift, steps.stop + shift
        lanes = [
            workers[w].coroutine_lane(thread, float(start[step]), float(stop[step]))
            if place in coroutines
            else workers[w].lane(thread)
            for place, (w, thread, step) in enumerate(
                zip(worker.tolist(), told.threads, told.computed, strict=True)
            )
        ]
        return TimedExecutions(told, lanes, start, stop)

    def _compare_clocks(self) -> None:
        """Find the recorder's axis on the wall clock, anew each time, for that one may be set."""
        before, self._shift_s = self._shift_s, self._recorder.clock.shift_s()
        step_s = before - self._shift_s
        if not math.isnan(before) and abs(step_s) > _STEP_S:
            self._recorder.warn(
                f"the clock of this machine was set by {step_s:+.1f} s: times around that are uncertain"
            )
