"""Read the calls of their tasks that workers have counted.

Each worker samples its own threads, by prefix of the task, in cycles of a second.

Where lines are wanted a small sampler of taskscope is put on each worker instead, by the request for its
samples, and ends by itself when the requests do. Workers count by prefix: samples of tasks of other clients
are left out where no compute here has their prefix.
"""

from __future__ import annotations

import math
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import dask
from dask.utils import parse_timedelta

from taskscope.model.keys import key_text
from taskscope.model.tables.stacks import Function
from taskscope.record import CountedCalls, Recorder, RunLog
from taskscope.sources.cluster.adapter.remote import counted_calls, sampled_lines
from taskscope.sources.cluster.link import RateLimiter
from taskscope.sources.cluster.workers.known import DAY_S, amount
from taskscope.sources.cluster.workers.poll import Answers, Question, WorkerPoll
from taskscope.sources.sampled import SentFunctions, counted_cycles

_INTERVAL = "distributed.worker.profile.interval"
_PLUMBING = ("dask/_task_spec.py", "dask/optimization.py", "dask/core.py")
_NOT_TOLD_APART = Function("not told apart by distributed", "", 0)
_Tree: TypeAlias = Mapping[str, Any]


def sampling_interval_s() -> float:
    """Return the seconds between samples of workers, by this process's configuration."""
    return float(parse_timedelta(dask.config.get(_INTERVAL, "10ms"), default="ms"))


def own_calls(tree: Mapping[str, Any]) -> Iterator[tuple[tuple[Function, ...], int]]:
    """Yield each stack of a tree that samples ended in, outermost function first, and how many.

    Workers (distributed 2026.8) count a sample for every call but the innermost. So samples that ended in one
    of several functions that were called from one place are known only in sum, and have a place of their own.
    """
    innermost = _counts_innermost(tree)
    waiting: list[tuple[tuple[Function, ...], _Tree, int]] = [((), tree, 0)]
    while waiting:
        calls, call, own = waiting.pop()
        below = _below(call)
        left = _count(call) - sum(map(_count, below))
        if innermost or not below:
            own, left = own + left, 0
        if own > 0:
            yield calls, own
        if left > 0 and len(below) > 1:
            yield (*calls, _NOT_TOLD_APART), left
            left = 0
        waiting += [((*calls, *_functions(child, is_outermost=not calls)), child, left) for child in below]


def _functions(call: _Tree, *, is_outermost: bool) -> tuple[Function, ...]:
    """Return the function of a call; none where that is how Dask runs a task."""
    described = call.get("description")
    fields = described if isinstance(described, Mapping) else {}
    name, _, place = str(call.get("identifier", "")).partition(";")
    # The line that is described is where it was; where its function is defined is in the identifier.
    file, _, line = place.rpartition(";")
    file = str(fields.get("filename", file))
    if is_outermost and file.replace("\\", "/").endswith(_PLUMBING):
        return ()
    number = int(line) if line.isdigit() else 0
    return (Function(key_text(str(fields.get("name") or name)), key_text(file), number),)


def _below(call: _Tree) -> list[_Tree]:
    children = call.get("children") or ()
    return list(children.values() if isinstance(children, Mapping) else children)


def _count(call: _Tree) -> int:
    return int(call.get("count", 0))


def _counts_innermost(tree: _Tree) -> bool:
    waiting = _below(tree)
    if not waiting:
        return True
    while waiting:
        call = waiting.pop()
        if not _below(call) and _count(call):
            return True
        waiting += _below(call)
    return False


_Samples: TypeAlias = Counter[tuple[str, tuple[Function, ...]]]
_Rows: TypeAlias = Iterable[tuple[int, str, int]]
_Trees: TypeAlias = Mapping[str, _Rows]

_EVERY_S = 1.0
_CYCLE_S = 1.0
_LONGEST_S = 60.0
_FOLD_S = 0.2


@dataclass(slots=True)
class _Profile:
    """How far a worker's samples were read, and its samples of the cycle after that, which was not over."""

    until: float
    of_next: _Samples = field(default_factory=Counter)
    noted: float = -math.inf


class WorkerProfiles:
    """Samples that workers take of tasks of the recorded computes."""

    def __init__(self, poll: WorkerPoll, recorder: Recorder, wanted: Callable[[], bool]) -> None:
        self._workers = poll.workers
        self._recorder = recorder
        self._wanted = wanted
        self._profiles: dict[str, _Profile] = {}
        self._runs: dict[int, float] = {}
        """The computes that samples may be of, by number, and when they began."""
        self._over: dict[int, float] = {}
        """Since when runs are over, on the scheduler's clock."""
        self._early: list[tuple[str, float, _Samples]] = []
        """Samples from before the graph of their compute: worker, end of the cycle."""
        self._refused = False
        self._since = math.inf
        self._question = Question(poll, "profile", counted_calls)

    @property
    def owes(self) -> bool:
        return bool(self._runs) and not self._refused

    async def look(self, limiter: RateLimiter, going: Iterable[RunLog]) -> None:
        """Read answers, and request samples of computes that go on, if they are wanted and due.

        No thread waits for the answers: samples that a busy worker sends late are in its next answer.
        """
        self._take_all(await self._question.answers(wait=False))
        going = list(going)
        if self._wanted() and not self._refused:
            for log in going:
                self._begin(log)
        self._let_go(going)
        if self.owes and self._question.is_due(limiter, _EVERY_S):
            self._question.begin(limiter, self._until(), False)

    async def finish(self, limiter: RateLimiter, going: Iterable[RunLog]) -> None:
        """Read the last samples of workers that answer in time; computes in `going` go on."""
        if self.owes:
            self._question.begin(limiter, self._until(), True)
            self._take_all(await self._question.answers(wait=True), at_end=True)
        numbers = {log.run for log in going}
        self._runs = {run: start for run, start in self._runs.items() if run in numbers}
        self._over.clear()
        self._early.clear()

    def close(self) -> None:
        self._runs.clear()
        self._over.clear()
        self._early.clear()
        self._question.close()

    def _let_go(self, going: Iterable[RunLog]) -> None:
        """Await no more samples of computes that were over when the last complete cycle began."""
        for run in self._runs.keys() - {log.run for log in going}:
            self._over.setdefault(run, self._on_scheduler(self._recorder.clock.perf_counter()))
        if not self._over:
            return
        until = self._until() - _CYCLE_S
        for run in [run for run, over in self._over.items() if over <= until]:
            del self._over[run]
            del self._runs[run]

    def _begin(self, log: RunLog) -> None:
        if not self._runs:
            self._since = self._on_scheduler(log.start)
            # Samples of a cycle that may go on must not count twice.
            last = self._since - 2 * _CYCLE_S
            self._profiles = {
                address: profile for address, profile in self._profiles.items() if profile.noted > last
            }
            self._recorder.stacks.note(sampling_interval_s(), _CYCLE_S)
        self._runs.setdefault(log.run, log.start)

    def _take_all(self, answers: Answers | None, *, at_end: bool = False) -> None:
        if answers is None:
            return
        if answers.refusal is not None:
            self._refused = True
            self._recorder.warn(
                f"workers do not send their profiles ({answers.refusal}): there are no samples of tasks"
            )
            return
        if at_end:
            # The runs of these prefixes are known once graphs were read.
            self._recorder.pull(_FOLD_S)
        owners = _owners(self._recorder, self._runs)
        early, self._early = self._early, []
        for address, stop, samples in early:
            self._record(address, stop, samples, owners)
        self._question.take_each(answers, lambda address, cycles: self._take(address, cycles, owners))
        if at_end and answers.silent:
            self._recorder.warn("a worker did not send its profile in time: samples may be missing")

    def _until(self) -> float:
        """Return until when all workers have sent samples; one that never answers is not waited for."""
        profile = [self._of(address).until for address in self._workers.present]
        return max(min(profile, default=self._since), max(profile, default=self._since) - _LONGEST_S)

    def _on_scheduler(self, moment: float) -> float:
        """Return a moment on the scheduler's clock, which workers' times are on."""
        return moment - self._recorder.clock.shift_s() + self._workers.clocks.scheduler_ahead_s

    def _of(self, address: str) -> _Profile:
        return self._profiles.setdefault(address, _Profile(self._since))

    def _take(
        self,
        address: str,
        cycles: Iterable[tuple[float, bool, _Trees]],
        owners: Mapping[str, list[tuple[float, int]]],
    ) -> None:
        profile, now = self._of(address), self._recorder.clock.perf_counter()
        for at, is_over, trees in cycles:
            if at <= profile.until:
                continue
            if is_over and abs(at - self._on_scheduler(now)) > DAY_S:
                raise ValueError(f"a cycle of samples ended at {at}")
            samples: _Samples = Counter()
            for key, tree in trees.items():
                for calls, count in own_calls(_tree(tree)):
                    samples[key_text(key), calls] += count
            new = samples - profile.of_next
            if is_over:
                self._profiles[address] = profile = _Profile(at)
                stop = now - (self._on_scheduler(now) - at)
            else:
                profile.of_next, profile.noted, stop = samples, self._on_scheduler(now), now
            self._record(address, stop, new, owners)

    def _record(
        self, address: str, stop: float, samples: _Samples, owners: Mapping[str, list[tuple[float, int]]]
    ) -> None:
        """Record a cycle that ended then; samples of no watched compute are left out."""
        interval_s = sampling_interval_s()
        counted: dict[int, list[CountedCalls]] = {}
        unowned: _Samples = Counter()
        for (prefix, calls), count in samples.items():
            run = next((run for start, run in reversed(owners.get(prefix, [])) if start <= stop), None)
            if run is None:
                unowned[prefix, calls] = count
            else:
                profile = CountedCalls(run, prefix, address, calls, count, count * interval_s)
                counted.setdefault(run, []).append(profile)
        with_graph = {run for runs in owners.values() for _, run in runs}
        awaited = any(start <= stop and run not in with_graph for run, start in self._runs.items())
        if unowned and awaited and stop > self._recorder.clock.perf_counter() - _LONGEST_S:
            self._early.append((address, stop, unowned))
        for run, mine in counted.items():
            # On whole seconds, so that the cycles of all workers are of one time.
            start_s: float = math.floor(self._recorder.seconds(stop - _CYCLE_S))
            start_s = max(start_s, self._recorder.seconds(self._runs[run]))
            self._recorder.hand_over_samples(start_s, run, mine)


def _tree(rows: _Rows) -> dict[str, Any]:
    """Return the tree of calls that a worker has sent with their depths, callers first."""
    above: list[dict[str, Any]] = []
    for depth, identifier, count in rows:
        call = {"identifier": str(identifier), "count": int(count), "children": []}
        del above[depth:]
        if above:
            above[-1]["children"].append(call)
        above.append(call)
    return above[0] if above else {"children": []}


_LASTS_S = 5.0
_S_PER_WORKER = 0.2
"""Many workers are polled less often, and sample for longer."""


class WorkerLines:
    """Lines that workers sample in tasks of the recorded computes."""

    def __init__(self, poll: WorkerPoll, recorder: Recorder, interval_s: Callable[[], float | None]) -> None:
        self._workers = poll.workers
        self._recorder = recorder
        self._interval_s = interval_s
        self._sent = SentFunctions()
        self._asked_s = 0.0
        self._name = uuid.uuid4().hex
        self._runs: dict[int, float] = {}
        """The computes that samples may be of, by number, and when they began."""
        self._complete_runs: set[int] = set()
        """Runs that were over at the last request."""
        self._question = Question(poll, "lines", sampled_lines)
        self._refused = False

    @property
    def owes(self) -> bool:
        """Whether workers sample, and have unread samples."""
        return bool(self._runs) and not self._refused

    async def look(self, limiter: RateLimiter, going: Iterable[RunLog]) -> None:
        """Read answers, and request samples of computes that go on, if they are wanted and due."""
        self._take_all(await self._question.answers(wait=False))
        interval_s, going = self._interval_s(), list(going)
        if interval_s is not None and not self._refused:
            self._asked_s = interval_s
            for log in going:
                if not self._runs:
                    self._recorder.stacks.note(interval_s, _CYCLE_S)
                self._runs.setdefault(log.run, log.start)
        if self.owes and self._question.is_due(limiter, _EVERY_S):
            self._complete_runs = self._runs.keys() - {log.run for log in going}
            lasts_s = _LASTS_S + _S_PER_WORKER * len(self._workers.present)
            self._question.begin(limiter, self._name, self._asked_s, lasts_s)

    async def finish(self, limiter: RateLimiter, going: Iterable[RunLog]) -> None:
        """Read the last samples, and end the sampling where no compute goes on."""
        numbers = {log.run for log in going}
        if self.owes:
            # An open request is not cancelled: its samples are in no other answer.
            self._take_all(await self._question.answers(wait=True))
            lasts_s = _LASTS_S if numbers else 0.0
            self._question.begin(limiter, self._name, self._asked_s, lasts_s)
            self._take_all(await self._question.answers(wait=True))
        self._runs = {run: start for run, start in self._runs.items() if run in numbers}

    def close(self) -> None:
        self._runs.clear()
        self._question.close()

    def _take_all(self, answers: Answers | None) -> None:
        if answers is None:
            return
        if answers.refusal is not None:
            self._refused = True
            self._recorder.warn(
                f"lines are not sampled on workers, which run no code of ours: {answers.refusal}"
            )
            return
        # The runs of these prefixes are known once graphs were read.
        self._recorder.pull(_FOLD_S)
        owners = _owners(self._recorder, self._runs)
        self._question.take_each(answers, lambda address, given: self._take(address, given, owners))
        for run in self._complete_runs:
            self._runs.pop(run, None)
        self._complete_runs = set()

    def _take(
        self, address: str, given: Mapping[str, Any], owners: Mapping[str, list[tuple[float, int]]]
    ) -> None:
        now = self._recorder.clock.perf_counter()
        rows: dict[tuple[int, str], list[Sequence[Any]]] = {}
        for prefix, ago_s, *counted in given["stacks"]:
            at = now - amount(ago_s)
            any(map(amount, counted[1:]))
            name = key_text(prefix)
            found = (run for start, run in reversed(owners.get(name, [])) if start <= at + _CYCLE_S)
            run = next(found, None)
            if run is not None:
                # On whole seconds, so that the cycles of all workers are of one time.
                rows.setdefault((run, name), []).append((self._recorder.seconds(at) // 1.0, *counted))
        for (run, name), stacks in rows.items():
            cycles = counted_cycles(self._sent, given["functions"], stacks, run, name, address)
            began_s = self._recorder.seconds(self._runs[run])
            for at_s, counted in cycles.items():
                self._recorder.hand_over_samples(max(at_s, began_s), run, counted)


def _owners(recorder: Recorder, runs: Mapping[int, float]) -> Mapping[str, list[tuple[float, int]]]:
    """Return by prefix when computes that have it began, and their numbers, the last one at the end."""
    owners: dict[str, list[tuple[float, int]]] = {}
    for run, start in runs.items():
        for row in recorder.progress(run, run):
            owners.setdefault(row.prefix, []).append((start, run))
    return owners
