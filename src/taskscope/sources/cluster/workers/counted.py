"""Count and time the lines of named functions on workers, while functions are named.

Counting starts before there are tasks, as nothing is counted of a task that is already running. A worker
sends its counts again until an answer is known to have arrived.
"""

from __future__ import annotations

import inspect
import uuid
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from taskscope.record import Recorder
from taskscope.sources import line_meter
from taskscope.sources.cluster.adapter.remote import counted_lines
from taskscope.sources.cluster.link import RateLimiter
from taskscope.sources.cluster.runs import TrackedRun
from taskscope.sources.cluster.workers.poll import Answers, Question, WorkerPoll
from taskscope.sources.line_meter import HAS_LOCAL_EVENTS, LineSums, Sought
from taskscope.sources.sampled import SentFunctions

_EVERY_S = 1.0
_LASTS_S = 5.0
_S_PER_WORKER = 0.2
"""Many workers are polled less often, and count for longer."""
_MOST_ROWS = 100_000
"""The most counts kept of tasks whose run is not known."""


class WorkerCounts:
    """Lines that workers count in tasks of the recorded computes."""

    def __init__(
        self,
        poll: WorkerPoll,
        recorder: Recorder,
        sought: Callable[[], Sought | None],
        knows_all: Callable[[], bool],
    ) -> None:
        self._workers = poll.workers
        self._recorder = recorder
        self._sought = sought
        self._knows_all = knows_all
        self._sent = SentFunctions()
        self._name = uuid.uuid4().hex
        source = inspect.getsource(line_meter)
        self._question = Question(poll, "counted lines", counted_lines, sent_once=source)
        self._asked: Sought | None = None
        """The functions that workers count; None where they count none."""
        self._asked_of: frozenset[TrackedRun] = frozenset()
        """The computes that went on at the last request."""
        self._runs: dict[TrackedRun, None] = {}
        """The runs that lines may belong to."""
        self._seen: dict[str, float] = {}
        """The number of the last answer, by worker."""
        self._unknown: list[_Counted] = []
        """Counts of tasks whose run is not known: their graph is being read."""
        self._refused = False

    @property
    def is_wanted(self) -> bool:
        """Whether functions are named, and can be measured."""
        return HAS_LOCAL_EVENTS and self._sought() is not None and not self._refused

    @property
    def owes(self) -> bool:
        """Whether workers count, and have unread counts."""
        return self._asked is not None and not self._refused

    async def begin(self, limiter: RateLimiter) -> None:
        """Wait until workers count, if that is wanted."""
        if self.is_wanted:
            self._take_all(await self._question.answers(wait=True))
            self._ask(limiter, self._runs)
            self._take_all(await self._question.answers(wait=True))

    async def look(self, limiter: RateLimiter, going: Iterable[TrackedRun]) -> None:
        """Read answers, and have workers go on counting where that is wanted and due."""
        is_wanted, going = self.is_wanted, list(going)
        if is_wanted:
            self._runs.update(dict.fromkeys(going))
        self._take_all(await self._question.answers(wait=False))
        if is_wanted and self._question.is_due(limiter, _EVERY_S):
            self._ask(limiter, going)

    async def finish(self, limiter: RateLimiter, going: Iterable[TrackedRun]) -> None:
        """Read the last counts, and end the counting where no function is named any more."""
        going = list(going)
        if self.owes:
            self._take_all(await self._question.answers(wait=True))
            self._ask(limiter, going)
            self._take_all(await self._question.answers(wait=True), is_last=not going)
        self._runs = {run: None for run in self._runs if run in going}

    def close(self) -> None:
        self._runs.clear()
        self._unknown.clear()
        self._asked = None
        self._question.close()

    def _refuse(self, why: str) -> None:
        self._refused = True
        self._asked = None
        self._recorder.warn(f"lines are not counted on workers: {why}")

    def _ask(self, limiter: RateLimiter, going: Iterable[TrackedRun]) -> None:
        """Read the counts, and have workers count the functions that are named now."""
        sought = self._sought()
        lasts_s = 0.0 if sought is None else _LASTS_S + _S_PER_WORKER * len(self._workers.present)
        self._asked_of = frozenset(going)
        self._question.begin(limiter, self._name, sought or self._asked, lasts_s, self._seen)
        self._asked = sought

    def _take_all(self, answers: Answers | None, *, is_last: bool = False) -> None:
        if answers is None:
            return
        if answers.refusal is not None:
            self._refuse(f"they run no code of ours: {answers.refusal}")
            return
        self._question.take_each(answers, self._take)
        self._record()
        if is_last and self._runs:
            for address in sorted(answers.silent):
                self._warn(address, "may be missing: it did not answer in time")

    def _take(self, address: str, given: Mapping[str, Any]) -> None:
        if "refusal" in given:
            self._warn(address, f"are not counted: {given['refusal']}")
            return
        if given["is_new"] and self._asked_of:
            self._warn(address, "of tasks before it was asked first, or in time, are missing")
        if given["n_lost"]:
            self._warn(address, f"of {given['n_lost']:,} tasks are missing: they were too many")
        if given["fault"]:
            self._warn(address, f"may be counted wrongly: {given['fault']}")
        for number, tasks in given["given"]:
            if number > self._seen.get(address, 0.0):
                self._seen[address] = number
                self._unknown.extend(_Counted(address, key, rows) for key, rows in tasks)

    def _warn(self, address: str, what: str) -> None:
        self._recorder.warn(f"lines of functions on {self._workers.get(address).label} {what}")

    def _record(self) -> None:
        """Record the counts of known runs; keep those whose tasks are not known yet."""
        unknown = [counted for counted in self._unknown if not self._has_recorded(counted)]
        # Others may call the same functions.
        are_of_others = self._knows_all() and not any(run.n_expected for run in self._runs)
        kept = [] if are_of_others else unknown
        n_rows, n_lost = sum(len(counted.rows) for counted in kept), 0
        while n_rows > _MOST_ROWS:
            n_rows -= len(kept[n_lost].rows)
            n_lost += 1
        if n_lost:
            self._recorder.warn(
                f"lines of functions in {n_lost:,} tasks may be missing: their graph was not read in time"
            )
        self._unknown = kept[n_lost:]

    def _has_recorded(self, counted: _Counted) -> bool:
        address, key, rows = counted
        run = next((run for run in reversed(self._runs) if key in run.keys), None)
        if run is None:
            return False
        measured = [(self._sent.function(run.log.run, row[1], row[0], row[2]).file, *row[1:]) for row in rows]
        self._recorder.measured_lines.add(run.log.run, key, address, measured)
        return True


class _Counted(NamedTuple):
    address: str
    key: Hashable
    rows: Sequence[LineSums]
