"""Request the metrics of workers, and give them to runs and tasks.

Each worker of distributed adds up where the time of its tasks went: on the CPU of their threads and off it,
reading dependencies, and activities of P2P and users. It books a task in the step in which it reports it. The
growth since the last answer belongs to the run that goes on and has tasks of that prefix; of several, to the
one that began last.

The growth of a prefix between two answers is the CPU time of those of its tasks that ended in between: of a
single task it is measured, of several each has a share (`TaskCpu`). Tasks that raised are metered as one sum
without their CPU time, and coroutines and tasks of other processes without any.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from taskscope.model.keys import key_text, split_key
from taskscope.record import Recorder, RunLog
from taskscope.sources.cluster.adapter.remote import metered_seconds
from taskscope.sources.cluster.link import RateLimiter, read_each
from taskscope.sources.cluster.runs import TrackedRun
from taskscope.sources.cluster.workers.known import amount
from taskscope.sources.cluster.workers.poll import Answers, Question, WorkerPoll

_Name: TypeAlias = tuple[str, str, str]
"""A prefix, an activity, a unit."""

_MOST_SUMS = 100_000
_MOST_ENDED = 500_000
_MORE, _MORE_S = 1.01, 0.001
"""By how much more may be metered of tasks than they took."""
_LESS = 0.9
"""The least share of tasks' time that is metered."""
_Entry: TypeAlias = tuple[str, str, str, float]


def _checked(entry: Sequence[Any]) -> _Entry:
    prefix, activity, unit, value = entry
    return key_text(prefix), key_text(activity), str(unit), amount(value)


class Ended(NamedTuple):
    """A task that finished in a thread of a worker."""

    log: RunLog | None
    key: Hashable
    start: float
    seconds: float
    reported: float


@dataclass(frozen=True, slots=True)
class _Look:
    """The sums of a worker at a moment: seconds that are new since the answer before, by prefix."""

    time: float
    executing: Collection[str]
    seconds: dict[str, dict[str, float]]

    def has(self, task: Ended) -> bool:
        if not task.reported <= self.time:
            return False
        # It is booked a moment after the time in its report.
        return not self.executing or str(task.key)[:500] not in self.executing


class TaskCpu:
    """Finds the CPU time of single tasks from the growth of their workers' sums between two answers.

    A task that ended before an answer may be reported after it. So an answer is settled when the next one
    arrives, or, for the prefixes of runs that are over and have all their records, at once.
    """

    def __init__(self) -> None:
        self._ended: dict[str, dict[str, list[Ended]]] = defaultdict(lambda: defaultdict(list))
        """Tasks that no answer has settled, by worker and prefix."""
        self._n_ended = 0
        self._looks: dict[str, _Look] = {}
        """The last answer of each worker, which is to be settled."""
        self._settled: dict[str, _Look] = {}
        """The last settled answer of each worker, whose tasks are not in later ones."""
        self._early: dict[str, dict[str, _Look]] = defaultdict(dict)
        """Those after it that were settled for single prefixes."""

    def end(self, worker: str, task: Ended) -> None:
        if self._n_ended >= _MOST_ENDED:
            # Their sum is more than other tasks took, so no task gets it.
            self._ended.clear()
            self._n_ended = 0
        self._ended[worker][split_key(task.key)[1]].append(task)
        self._n_ended += 1

    def look(
        self, worker: str, time: float, executing: Sequence[str], seconds: dict[str, dict[str, float]]
    ) -> None:
        """Take an answer; `seconds` are new since the last one, by prefix and activity."""
        before = self._looks.get(worker)
        if before is not None:
            self._settle(worker, before, list(before.seconds))
            self._settled[worker] = before
            self._early.pop(worker, None)
        self._looks[worker] = _Look(time, frozenset(executing), seconds)

    def begin(self, worker: str, time: float, executing: Sequence[str]) -> None:
        """Take a worker's first answer: of earlier tasks nothing is known."""
        self._looks.pop(worker, None)
        self._early.pop(worker, None)
        self._settled[worker] = _Look(time, frozenset(executing), {})

    def settle(self, prefixes: frozenset[str]) -> None:
        """Settle the last answer of each worker for these prefixes, whose tasks were all reported."""
        for worker, look in self._looks.items():
            for prefix in prefixes & look.seconds.keys():
                self._settle(worker, look, [prefix])
                self._early[worker][prefix] = look

    def forget(self, present: Collection[str]) -> None:
        for worker in [worker for worker in self._settled.keys() | self._looks if worker not in present]:
            known: MutableMapping[str, Any]
            for known in (self._looks, self._early, self._settled):
                known.pop(worker, None)
            self._n_ended -= sum(map(len, self._ended.pop(worker, {}).values()))

    def _settle(self, worker: str, look: _Look, prefixes: Sequence[str]) -> None:
        of_worker = self._ended.get(worker, {})
        for prefix in prefixes:
            seconds, waiting = look.seconds.pop(prefix), of_worker.pop(prefix, [])
            before = self._early[worker].get(prefix) or self._settled.get(worker)
            booked = [task for task in waiting if look.has(task)]
            left = [task for task in waiting if not (look.has(task) or math.isnan(task.reported))]
            self._n_ended -= len(waiting) - len(left)
            if left:
                of_worker[prefix] = left
            # Tasks that were booked earlier and reported only now are in an earlier sum.
            _give(seconds, [task for task in booked if before is None or not before.has(task)])


def _give(seconds: Mapping[str, float], tasks: Sequence[Ended]) -> None:
    """Give tasks the CPU time of their prefix, where all of it was metered."""
    took_s = sum(task.seconds for task in tasks)
    cpu_s = sum(value for activity, value in seconds.items() if activity.endswith("-cpu"))
    in_threads_s = cpu_s + sum(value for name, value in seconds.items() if name.endswith("-noncpu"))
    if "thread-cpu" not in seconds or in_threads_s > _MORE * took_s + _MORE_S * len(tasks):
        # They ran elsewhere, or other tasks ended beside them without a report.
        return
    if min(took_s - in_threads_s, seconds.get("executor", 0.0)) > (1.0 - _LESS) * took_s:
        # Some ran in a process of an executor, where nothing is metered.
        return
    if sum(seconds.values()) < _LESS * took_s - _MORE_S * len(tasks):
        # Some are not in it.
        return
    for task in tasks:
        if task.log is not None:
            share = task.seconds / took_s if took_s else 1.0 / len(tasks)
            task.log.metered.extend((task.key, task.start, cpu_s * share, len(tasks) > 1))


class WorkerMetrics:
    """Seconds that the workers of one scheduler meter; for coroutines of one event loop."""

    def __init__(self, poll: WorkerPoll, recorder: Recorder) -> None:
        self._workers = poll.workers
        self._recorder = recorder
        self._question = Question(poll, "metrics", metered_seconds)
        self._last: dict[str, dict[_Name, float]] = {}
        """The last answer of each worker."""
        self._old: frozenset[str] = frozenset()
        """Workers from before the first request: their first answer is about earlier times."""
        self._new: dict[tuple[str, _Name], float] = defaultdict(float)
        """The growth that no run has, by worker."""
        self._prefixes: dict[TrackedRun, tuple[int, frozenset[str]]] = {}
        """The prefixes of runs that go on, and of how many keys."""
        self._looks: list[tuple[float, int, int]] = []
        """When workers looked at their lock, how often, and how often it was held."""
        self._refused = False
        self._tasks = TaskCpu()

    def end(self, workers: Sequence[str], tasks: Iterable[Ended]) -> None:
        if not self._refused:
            for worker, task in zip(workers, tasks, strict=True):
                self._tasks.end(worker, task)

    async def open(self, limiter: RateLimiter) -> None:
        """Read the sums from before the first record, to be taken off later ones."""
        self._old = frozenset(self._workers.present)
        if self._old and self._question.is_due(limiter):
            self._question.begin(limiter)
            self._take_all(await self._question.answers(wait=True))

    async def ask(self, limiter: RateLimiter, runs: Sequence[TrackedRun], *, at_once: bool) -> None:
        """Read answers, and request sums if that is due; with `at_once` now, and wait for them."""
        self._take_all(await self._question.answers(wait=False))
        if runs and not self._refused and (at_once or self._question.is_due(limiter)):
            self._question.begin(limiter)
            if at_once:
                self._take_all(await self._question.answers(wait=True), at_once=True)
        over = [run for run in runs if run.over is not None]
        self._tasks.settle(frozenset().union(*map(self._prefixes_of, over)))
        self._record(runs)

    def close(self) -> None:
        self._question.close()

    def _take_all(self, answers: Answers | None, *, at_once: bool = False) -> None:
        if answers is None:
            return
        self._refused = answers.refusal is not None
        if self._refused:
            self._recorder.warn(
                f"workers do not report their metrics ({answers.refusal}), so CPU time is not known"
            )
            return
        if at_once and answers.silent:
            self._recorder.warn("a worker did not report its metrics in time: CPU time may be missing")
        self._last = {a: last for a, last in self._last.items() if a in self._workers.present}
        self._question.take_each(answers, self._take)
        self._tasks.forget(self._workers.present)

    def _take(
        self,
        address: str,
        answer: tuple[float, list[str], Iterable[Sequence[Any]], list[tuple[float, int, int]]],
    ) -> None:
        time, executing, sums, looks = answer
        arrived = self._recorder.clock.perf_counter()
        self._looks += [(arrived - ago_s, n, held) for ago_s, n, held in looks if 0 <= held <= n]
        entries, wrong = read_each(sums, _checked)
        now = {entry[:3]: entry[3] for entry in entries}
        is_first = address in self._old and address not in self._last
        before = self._last.get(address, now if is_first else {})
        if any(now.get(name, 0.0) < value for name, value in before.items() if name[2] == "seconds"):
            # Another was started at its address, and begins from nothing.
            is_first, before = True, {}
        seconds: dict[str, dict[str, float]] = defaultdict(dict)
        for name, value in now.items():
            grown = value - before.get(name, 0.0)
            prefix, activity, unit = name
            if unit == "seconds" and (grown or prefix in seconds):
                seconds[prefix][activity] = grown
            if grown and len(self._new) < _MOST_SUMS:
                self._new[address, name] += grown
        self._last[address] = now
        if is_first:
            self._tasks.begin(address, float(time), list(map(str, executing)))
        else:
            self._tasks.look(address, float(time), list(map(str, executing)), dict(seconds))
        if wrong is not None:
            raise wrong

    def _record(self, runs: Sequence[TrackedRun]) -> None:
        self._prefixes = {run: known for run, known in self._prefixes.items() if run in runs}
        looks, self._looks = self._looks, []
        for run in runs:
            over = math.inf if run.log.stop is None else run.log.stop
            for at, n, held in looks:
                if run.log.start <= at <= over:
                    run.log.note_lock(n, held)
        if not self._new:
            return
        owners = {prefix: run.log.run for run in runs for prefix in self._prefixes_of(run)}
        for address, name in [found for found in self._new if found[1][0] in owners]:
            prefix, activity, unit = name
            value = self._new.pop((address, name))
            self._recorder.metered.add(owners[prefix], address, prefix, activity, unit, value)
        if all(run.over is not None for run in runs):
            # It belongs to other clients, or to no run.
            self._new.clear()

    def _prefixes_of(self, run: TrackedRun) -> frozenset[str]:
        n_keys, prefixes = self._prefixes.get(run, (0, frozenset[str]()))
        if n_keys != len(run.keys):
            # Of a collection's many keys a few names are left.
            names = {key[0] if type(key) is tuple and key else key for key in run.keys}
            prefixes = frozenset(split_key((name,))[1] for name in names)
            self._prefixes[run] = len(run.keys), prefixes
        return prefixes
