"""What clients have handed over: from their threads to the loop's, where its keys are found out."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from taskscope.record import Recorder
from taskscope.sources.cluster import adapter
from taskscope.sources.cluster.adapter import Graph, Submission
from taskscope.sources.cluster.others import Others
from taskscope.sources.cluster.ownership import Ownership
from taskscope.sources.cluster.runs import TrackedRun, announce

__all__ = ["Arrivals"]

_FEW_KEYS = 100
"""A call of `submit` or `map` for so many is looked at together with others."""


class Arrivals:
    """Takes submissions in on any thread; everything but `add` happens on the loop's.

    Parameters
    ----------
    ownership, others
        Told whose the keys are.
    recorder
        Where it is told what could not be looked at.
    is_handed_work
        Asked whether a client may be about to hand something over.
    """

    def __init__(
        self, ownership: Ownership, others: Others, recorder: Recorder, is_handed_work: Callable[[], bool]
    ) -> None:
        self._ownership = ownership
        self._others = others
        self._recorder = recorder
        self._is_handed_work = is_handed_work
        self._incoming: deque[tuple[TrackedRun, Submission]] = deque()
        self._graphs: set[asyncio.Task[None]] = set()

    def add(self, run: TrackedRun, submission: Submission) -> None:
        """Take in what a run has more of."""
        self._incoming.append((run, submission))

    @property
    def are_there(self) -> bool:
        """Whether there is something to `admit`."""
        return bool(self._incoming)

    @property
    def know_all(self) -> bool:
        """Whether all keys are known that clients of this process may have handed over by now."""
        # In this order: what was handed over is among what comes in before it is no longer on its way.
        return not self._is_handed_work() and not (self._incoming or self._graphs)

    def admit(self, runs: list[TrackedRun]) -> None:
        """Append the runs that are new to `runs`, and begin to find out which keys were handed over."""
        few: list[tuple[TrackedRun, Submission]] = []
        while self._incoming:
            run, submission = self._incoming[0]
            if run not in runs:
                runs.append(run)
            # Only now, so that it is seen on every thread that there is a run.
            self._incoming.popleft()
            run.may_retry |= submission.may_retry
            if submission.expr is None:
                self._know(run, Graph(dict.fromkeys(submission.keys, ())), submission)
            elif submission.single and len(submission.keys) <= _FEW_KEYS:
                few.append((run, submission))
            else:
                self._begin([(run, submission)])
        if few:
            self._begin(few)

    async def learned(self) -> None:
        """Wait until the keys of all that was admitted are known."""
        if self._graphs:
            await asyncio.wait(self._graphs)

    def give_up(self) -> list[TrackedRun]:
        """Return the runs of what was not admitted, and will not be."""
        runs = [run for run, _ in self._incoming]
        self._incoming.clear()
        return runs

    def close(self) -> None:
        """Find out no more."""
        for task in self._graphs:
            task.cancel()

    def _begin(self, arrived: Sequence[tuple[TrackedRun, Submission]]) -> None:
        task = asyncio.get_running_loop().create_task(self._learn(arrived))
        self._graphs.add(task)
        task.add_done_callback(self._graphs.discard)

    async def _learn(self, arrived: Sequence[tuple[TrackedRun, Submission]]) -> None:
        """Find out which keys graphs have, next to the loop: it may take seconds."""
        found = await asyncio.to_thread(lambda: [_look_at(submission) for _, submission in arrived])
        for (run, submission), look in zip(arrived, found, strict=True):
            why = f"of more than {adapter.MAX_GRAPH_TASKS:,} tasks was not looked at"
            if look.error is not None:
                self._recorder.fault("reading a graph", look.error)
                why = "could not be read"
            if look.graph is None:
                run.assumed = True
                self._recorder.warn(
                    f"a graph {why}: it has no dependencies here, and tasks of other clients may be taken for"
                    " its own"
                )
            run.may_retry |= look.may_retry
            self._know(run, look.graph or Graph(dict.fromkeys(submission.keys, ())), submission)

    def _know(self, run: TrackedRun, graph: Graph, submission: Submission) -> None:
        run.coroutines |= graph.coroutines
        announce(run, graph.dependencies, submission.keys)
        self._ownership.take(run, graph.dependencies)
        self._others.give_up(graph.dependencies)


class _Look(NamedTuple):
    graph: Graph | None
    may_retry: bool = False
    error: Exception | None = None


def _look_at(submission: Submission) -> _Look:
    graph: Graph | None = None
    try:
        graph = adapter.materialize(submission.expr, submission.keys)
        return _Look(graph, graph is not None and adapter.may_retry(submission.expr))
    except Exception as error:  # noqa: BLE001 - a user's collection may raise anything
        return _Look(graph, error=error)
