"""Attempts of tasks with ``retries`` that failed and were followed by others: only workers remember them.

The scheduler keeps nothing of a failure that it answers with another attempt. But a worker keeps the last
thousand batches of messages that it sent, and its report of a failed attempt is in them, as complete as the
records of the task stream. They are read with the message behind ``Client.run``, while runs go on whose tasks
may be tried again. The function that is sent needs nothing of taskscope there, and changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from taskscope.model.errortext import describe
from taskscope.sources.cluster.failures import Report, read_failures
from taskscope.sources.cluster.pace import Pace
from taskscope.sources.cluster.records import read_executions, reported_at
from taskscope.sources.cluster.runs import TrackedRun
from taskscope.sources.cluster.stream import TaskStream
from taskscope.sources.cluster.telling import tell_attempts
from taskscope.sources.cluster.transfers import TransferLogs
from taskscope.sources.cluster.watched import Watched
from taskscope.sources.cluster.worker_poll import Answers, Question, WorkerPoll, read_each

__all__ = ["Attempts"]

_MAX_HELD = 50_000
_MAX_ASKED = 2_000
_MAX_SEEN = 200_000
_MAX_TEXT = 300
_MAX_TEXTS = 1_000


@dataclass(frozen=True, slots=True)
class _Failure:
    """A failed attempt that may have been followed by another.

    Parameters
    ----------
    report
        What its worker told the scheduler.
    number
        The scheduler's number of it; later attempts have higher ones.
    reported
        When, by the worker's clock.
    look
        The number of the look that found it.
    """

    report: Report
    number: int
    reported: float
    look: int


class Attempts:
    """Tells of attempts that failed and were followed by others.

    Parameters
    ----------
    watched
        The cluster.
    poll
        Who asks its workers.
    stream, transfers
        What knows of times, and is told of transfers.
    """

    def __init__(
        self, watched: Watched, poll: WorkerPoll, stream: TaskStream, transfers: TransferLogs
    ) -> None:
        self._workers = watched.workers
        self._ownership = watched.ownership
        self._recorder = watched.recorder
        self._stream = stream
        self._transfers = transfers
        self._question = Question(poll, "failed attempts", read_failures)
        self._read: dict[str, int] = {}
        self._n_looks = 0
        self._seen: dict[int, None] = {}
        """The scheduler's numbers of failed attempts, the latest at the end."""
        self._held: list[_Failure] = []
        self._newest: dict[Hashable, int] = {}
        """The number of the last attempt that is known of a key that failed."""
        self._counts: Counter[Hashable] = Counter()
        self._texts: set[str] = set()
        self._all_known = True
        self._refused = False

    async def ask(
        self, runs: Iterable[TrackedRun], over: Sequence[TrackedRun], pace: Pace, *, knows_all: bool
    ) -> None:
        """Read what failed, next to everything else, and tell of what is certain by now.

        Parameters
        ----------
        runs
            Those that are watched. Nobody is asked where tasks of none may be tried again.
        over
            Those of them that will end now: what failed of them is waited for, but for workers that do not
            answer.
        pace
            What says whether it is time.
        knows_all
            Whether keys of nobody can no longer turn out to be somebody's.
        """
        self._take(await self._question.answers(wait=False))
        if self._refused or not _may_retry(runs):
            return
        at_once = _may_retry(over)
        if self._question.is_due(pace) or at_once:
            keys = islice((failure.report["key"] for failure in self._held), _MAX_ASKED)
            self._question.begin(pace, dict(self._read), {key: self._newest[key] for key in keys})
            if at_once:
                self._take(await self._question.answers(wait=True), at_once=True)
        self._settle(over, knows_all=knows_all)

    def lose(self, addresses: Collection[str], runs: Iterable[TrackedRun]) -> None:
        """Hear that workers are gone, and what they remembered with them."""
        if not self._refused and _may_retry(runs):
            for address in addresses:
                self._miss(f"{self._workers.get(address).label} is gone")

    def end(self, run: TrackedRun, others: Iterable[TrackedRun]) -> None:
        """Tell of what was still to be told of a run that has ended."""
        self._settle([run], knows_all=False)
        if not _may_retry(others):
            self._question.close()
            self._read.clear()
            self._held.clear()
            self._newest.clear()
            self._counts.clear()
            self._all_known = True

    def close(self) -> None:
        """Ask no more."""
        self._question.close()

    def _miss(self, why: str) -> None:
        self._all_known = False
        self._recorder.warn(f"failed attempts of tasks with retries may be missing: {why}")

    def _take(self, answers: Answers | None, *, at_once: bool = False) -> None:
        if answers is None:
            return
        if answers.refusal is not None:
            self._refused = True
            self._miss(f"workers do not tell of them ({answers.refusal})")
            return
        if answers.silent:
            # They are asked again; until then it is not known which attempt of a task another one is.
            self._all_known = False
            if at_once:
                self._miss("a worker did not answer in time")
        self._n_looks += not answers.silent
        self._question.take_each(answers, self._take_one)

    def _take_one(self, address: str, given: tuple[int, int, list[Report], list[tuple[Any, int]]]) -> None:
        n_sent, n_missed, reports, again = given
        if n_missed:
            self._miss(f"{self._workers.get(address).label} sent more than it remembers")
        self._read[address] = int(n_sent)
        self._newest.update((key, int(number)) for key, number in again)
        _, wrong = read_each(reports, lambda report: self._hold({**report, "worker": address}))
        if wrong is not None:
            self._miss(
                f"{self._workers.get(address).label} told of one that cannot be read ({describe(wrong)})"
            )

    def _hold(self, report: Report) -> None:
        key, number = report["key"], int(report["run_id"])
        hash(key)
        if number in self._seen:
            return
        self._seen[number] = None
        if len(self._seen) > _MAX_SEEN:
            del self._seen[next(iter(self._seen))]
        self._newest[key] = max(self._newest.get(key, number), number)
        self._held.append(_Failure(report, number, reported_at(report), self._n_looks))
        if len(self._held) > _MAX_HELD:
            del self._held[0]
            self._miss("there were too many at once")

    def _settle(self, over: Collection[TrackedRun], *, knows_all: bool) -> None:
        """Tell of failures that were certainly followed by another attempt; forget those that were last."""
        held, self._held = self._held, []
        certain: dict[TrackedRun, list[_Failure]] = {}
        for failure in held:
            run = self._ownership.of(failure.report["key"])
            is_read = failure.look < self._n_looks
            if run is None:
                # A task may fail before we heard that it was handed over.
                if not (knows_all and is_read):
                    self._held.append(failure)
            elif run in over or (is_read and self._was_followed(run, failure)):
                if not _was_last(run, failure):
                    certain.setdefault(run, []).append(failure)
            else:
                self._held.append(failure)
        for run, failures in certain.items():
            self._tell(run, sorted(failures, key=lambda failure: failure.number))

    def _was_followed(self, run: TrackedRun, failure: _Failure) -> bool:
        key = failure.report["key"]
        has_ended = key in run.landed or key in run.final_failures
        return has_ended or self._newest.get(key, failure.number) > failure.number

    def _tell(self, run: TrackedRun, failures: Sequence[_Failure]) -> None:
        told, _, errors = read_executions([failure.report for failure in failures])
        for error in errors:
            self._recorder.fault("reading a failed attempt", error)
        timed = self._stream.timed(told)
        stops = timed.stop[told.computed]
        # A worker may remember attempts at the same key from before.
        since = min(run.handed_over, run.log.start)
        places = [place for place in range(len(told)) if stops[place] >= since]
        texts = [self._text(told.keys[place], told.errors[place]) for place in places]
        tell_attempts(run, timed, places, texts, self._transfers)

    def _text(self, key: Hashable, error: str) -> str:
        """Return what to call what an attempt raised, with its number where none can be missing before it."""
        self._counts[key] += 1
        error = error if len(error) <= _MAX_TEXT else f"{error[:_MAX_TEXT]}…"
        if error not in self._texts and len(self._texts) >= _MAX_TEXTS:
            # A recording has each text once, for ever; there must not be one for each of a million tasks.
            error = f"{error.partition(':')[0]}: …"
        self._texts.add(error)
        return f"{error} (attempt {self._counts[key]})" if self._all_known else f"{error} (one attempt)"


def _may_retry(runs: Iterable[TrackedRun]) -> bool:
    return any(run.may_retry for run in runs)


def _was_last(run: TrackedRun, failure: _Failure) -> bool:
    """Return whether the scheduler has told of it: no attempt followed, and the task's row has it."""
    return failure.reported in run.final_failures.get(failure.report["key"], ())
