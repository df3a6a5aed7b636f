"""Ask workers what they have metered of the tasks that they executed, and tell whose it was.

Each worker of distributed adds up, as long as it lives, where the time of its tasks went: on the CPU of
their threads and off it, reading what they need, and whatever P2P and users meter inside of them. It books
a task in the very step in which it reports it. What has come since the last answer is of the compute that
goes on and has tasks of that prefix; where several have, of the one that began last.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from taskscope.model.keys import key_text, split_key
from taskscope.record import Recorder
from taskscope.sources.cluster.link import Pace, read_each
from taskscope.sources.cluster.runs import TrackedRun
from taskscope.sources.cluster.worker_poll import Answers, Question, WorkerPoll

__all__ = ["WorkerMetrics"]

_Name: TypeAlias = tuple[str, str, str]
"""A prefix, an activity, a unit."""

_MOST_SUMS = 100_000
_Entry: TypeAlias = tuple[str, str, str, float]


def _read_metrics(dask_worker: Any = None) -> list[tuple[str, str, str, float]]:
    """Run on a worker: return prefix, activity, unit and sum of all that was metered of executing tasks."""
    sums: dict[tuple[str, str, str], float] = {}
    for name, value in list(getattr(dask_worker, "digests_total", {}).items()):
        # The second is the span, of which there may be many.
        if isinstance(name, tuple) and len(name) == 5 and name[0] == "execute":
            place = str(name[2])[:500], str(name[3])[:500], str(name[4])[:20]
            if place in sums or len(sums) < 20_000:
                sums[place] = sums.get(place, 0.0) + float(value)
    return [(*place, value) for place, value in sums.items()]


# So that it travels as code, not as the name of a module that workers may not have.
_read_metrics.__module__ = "__main__"


def _checked(entry: Sequence[Any]) -> _Entry:
    prefix, activity, unit, value = entry
    if not math.isfinite(value):
        raise ValueError(f"what was metered must be finite, got {value}")
    return key_text(prefix), key_text(activity), str(unit), float(value)


class WorkerMetrics:
    """What the workers of one scheduler meter, for coroutines of one event loop.

    Parameters
    ----------
    poll
        Who asks the workers.
    recorder
        Where to tell.
    """

    def __init__(self, poll: WorkerPoll, recorder: Recorder) -> None:
        self._workers = poll.workers
        self._recorder = recorder
        self._question = Question(poll, "metrics", _read_metrics)
        self._last: dict[str, dict[_Name, float]] = {}
        """What each worker has said last."""
        self._old: frozenset[str] = frozenset()
        """Workers that were there before anybody asked: what they say first is of earlier times."""
        self._new: dict[tuple[str, _Name], float] = defaultdict(float)
        """What came since then and is nobody's so far, by worker."""
        self._prefixes: dict[TrackedRun, tuple[int, frozenset[str]]] = {}
        """The prefixes of runs that go on, and of how many keys."""
        self._refused = False

    async def open(self, pace: Pace) -> None:
        """Ask what there is before anything is recorded.

        Raises
        ------
        OSError
            If the scheduler cannot be reached.
        """
        self._old = frozenset(self._workers.present)
        if self._old and self._question.is_due(pace):
            self._question.begin(pace)
            self._take_all(await self._question.answers(wait=True))

    async def ask(self, pace: Pace, runs: Sequence[TrackedRun], *, at_once: bool) -> None:
        """Take what came, and ask anew if it is time; with `at_once` now, and wait for it.

        Raises
        ------
        OSError
            If the scheduler cannot be reached.
        """
        self._take_all(await self._question.answers(wait=False))
        if runs and not self._refused and (at_once or self._question.is_due(pace)):
            self._question.begin(pace)
            if at_once:
                self._take_all(await self._question.answers(wait=True), at_once=True)
        self._tell(runs)

    def close(self) -> None:
        """Ask no more."""
        self._question.close()

    def _take_all(self, answers: Answers | None, *, at_once: bool = False) -> None:
        if answers is None:
            return
        self._refused = answers.refusal is not None
        if self._refused:
            self._recorder.warn(
                f"workers do not tell what they meter ({answers.refusal}), so CPU time is not known"
            )
            return
        if at_once and answers.silent:
            self._recorder.warn("a worker did not tell what it metered in time: CPU time may be missing")
        self._last = {a: last for a, last in self._last.items() if a in self._workers.present}
        self._question.take_each(answers, self._take)

    def _take(self, address: str, told: Iterable[Sequence[Any]]) -> None:
        entries, wrong = read_each(told, _checked)
        now = {entry[:3]: entry[3] for entry in entries}
        before = self._last.get(address, now if address in self._old else {})
        if any(now.get(name, 0.0) < value for name, value in before.items() if name[2] == "seconds"):
            # Another was started at its address, and begins from nothing.
            before = {}
        for name, value in now.items():
            grown = value - before.get(name, 0.0)
            if grown and len(self._new) < _MOST_SUMS:
                self._new[address, name] += grown
        self._last[address] = now
        if wrong is not None:
            raise wrong

    def _tell(self, runs: Sequence[TrackedRun]) -> None:
        self._prefixes = {run: known for run, known in self._prefixes.items() if run in runs}
        if not self._new:
            return
        owners = {prefix: run.log.run for run in runs for prefix in self._prefixes_of(run)}
        for address, name in [found for found in self._new if found[1][0] in owners]:
            prefix, activity, unit = name
            value = self._new.pop((address, name))
            self._recorder.metered.add(owners[prefix], address, prefix, activity, unit, value)
        if all(run.over is not None for run in runs):
            # Of other clients, or of nobody any more.
            self._new.clear()

    def _prefixes_of(self, run: TrackedRun) -> frozenset[str]:
        n_keys, prefixes = self._prefixes.get(run, (0, frozenset[str]()))
        if n_keys != len(run.keys):
            # Of a collection's many keys a few names are left.
            names = {key[0] if type(key) is tuple and key else key for key in run.keys}
            prefixes = frozenset(split_key((name,))[1] for name in names)
            self._prefixes[run] = len(run.keys), prefixes
        return prefixes
