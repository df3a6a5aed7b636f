"""Request which threads of workers run which tasks, and since when.

The scheduler has the tasks that a worker was sent, not those that it has begun. While tasks have not ended
this matters only where they take long.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any, TypeAlias

from taskscope.record import LaneKey, Recorder
from taskscope.sources.cluster.adapter.remote import running_threads
from taskscope.sources.cluster.link import RateLimiter
from taskscope.sources.cluster.runs import TrackedRun
from taskscope.sources.cluster.workers.known import is_possible, thread_id
from taskscope.sources.cluster.workers.poll import Answers, Question, WorkerPoll

_LONG_S = 1.0
_Executing: TypeAlias = list[tuple[int, Hashable, float | None]]


class Executing:
    """Records in which lanes tasks run that have not ended."""

    def __init__(self, poll: WorkerPoll, recorder: Recorder) -> None:
        self._workers = poll.workers
        self._recorder = recorder
        self._question = Question(poll, "running tasks", running_threads)
        self._executing: dict[str, _Executing] = {}
        self._runs: set[TrackedRun] = set()
        """The runs with such tasks."""
        self._refused = False

    async def ask(self, limiter: RateLimiter, sent: Mapping[Hashable, TrackedRun]) -> None:
        """Request the running tasks in the background, if that is due and a task is at a worker for long."""
        answers = await self._question.answers(wait=False)
        if answers is not None:
            self._take(answers)
            self._record(sent)
        # The first of them was given to a worker first, or nearly.
        key = next(iter(sent), None)
        since = sent[key].log.submitted.get(key, math.inf) if key is not None else math.inf
        is_long = self._recorder.clock.perf_counter() - since > _LONG_S
        if is_long and not self._refused and self._question.is_due(limiter):
            self._question.begin(limiter)

    def close(self) -> None:
        self._question.close()

    def _take(self, answers: Answers) -> None:
        # The last answer of a worker counts while it does not answer.
        self._executing = {address: self._executing.get(address, []) for address in answers.silent}
        self._refused = answers.refusal is not None
        self._question.take_each(answers, self._take_one)

    def _take_one(self, address: str, executing: _Executing) -> None:
        self._executing[address] = [
            (thread_id(thread), key, None if began is None else _moment(began))
            for thread, key, began in executing
        ]

    def _record(self, sent: Mapping[Hashable, TrackedRun]) -> None:
        shift_s = self._recorder.clock.shift_s()
        found: dict[TrackedRun, dict[object, tuple[LaneKey, float]]] = {run: {} for run in self._runs}
        for address, executing in self._executing.items():
            worker = self._workers.get(address)
            for thread, key, began in executing:
                run = sent.get(key)
                given = None if run is None else run.log.submitted.get(key)
                if run is not None and given is not None:
                    start = given if began is None else began + worker.clock.ahead_s + shift_s
                    start = start if is_possible(self._recorder, start) else given
                    found.setdefault(run, {})[key] = worker.lane(thread), start
        for run, running in found.items():
            run.log.running_on = running
        self._runs = {run for run, running in found.items() if running}


def _moment(seconds: Any) -> float:
    if not math.isfinite(seconds):
        raise ValueError(f"a moment must be finite, got {seconds}")
    return float(seconds)
