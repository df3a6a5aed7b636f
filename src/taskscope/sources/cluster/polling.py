"""What a scheduler that is only asked tells: its own task stream, who has what, and what workers took along.

This is the way where no observer may be put there, and with ``transport="poll"``. Graphs are read here, from
what clients hand over; the keys are ours then. What is not known: what tasks wait for, failed attempts of
tasks that are tried again, graphs of more than `MAX_GRAPH_TASKS` tasks, and what ended between two looks and
was no more in the scheduler's task stream, which is counted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from taskscope.model.errortext import describe
from taskscope.sources.cluster import adapter
from taskscope.sources.cluster.adapter import Submission
from taskscope.sources.cluster.observer import Event, News
from taskscope.sources.cluster.pace import Pace
from taskscope.sources.cluster.runs import TrackedRun
from taskscope.sources.cluster.tasks import Tasks
from taskscope.sources.cluster.watched import Watched

__all__ = ["Graphs", "Polling"]

_EVERY_S = 0.5
_S_PER_KEY = 50e-6
_FEW_KEYS = 100
"""A call of `submit` or `map` for so many is looked at together with others."""


class Polling:
    """Asks one scheduler for events; for coroutines of one event loop.

    Parameters
    ----------
    watched
        The cluster.
    """

    def __init__(self, watched: Watched) -> None:
        self._link = watched.link
        self._recorder = watched.recorder
        self._cursor = 0
        self._every_s = _EVERY_S
        self._sent: dict[Hashable, str] = {}
        self._gone: set[str] = set()

    async def open(self) -> int:
        """Have the scheduler keep records from now on; return how many it has."""
        self._cursor = int(await self._link.ask("get_task_stream_index"))
        return self._cursor

    async def read(self) -> News:
        """Return the records that are new, as events with the scheduler's own numbers.

        Raises
        ------
        ConnectionResetError
            If the scheduler is not the one that was asked before.
        """
        index = int(await self._link.ask("get_task_stream_index"))
        if index < self._cursor:
            raise ConnectionResetError("it was started anew")
        first, records = self._cursor, []
        if index > first:
            records = list(await self._link.ask("get_task_stream", start_index=first))
            if len(records) < index - first:
                # It keeps so many, and gives the last of them.
                first = int(await self._link.ask("get_task_stream_index")) - len(records)
            self._cursor = first + len(records)
        return News(first, self._cursor, [("end", record) for record in records])

    async def ask_processing(self, pace: Pace) -> tuple[list[Event], bool]:
        """Read who has what, if it is time, the more the more seldom; and whether workers are gone."""
        if not pace.is_due("processing", self._every_s):
            return [], False
        processing: Mapping[str, Any] = await self._link.ask("processing")
        sent = {key: str(address) for address, keys in processing.items() for key in keys}
        self._every_s = max(_EVERY_S, len(sent) * _S_PER_KEY)
        events: list[Event] = []
        for key, address in self._sent.items():
            if key not in sent:
                events.append(("state", key, None, None, 0.0, False))
                if address not in processing:
                    self._gone.add(address)
        for key, address in sent.items():
            if self._sent.get(key) != address:
                events.append(("state", key, "processing", address, 0.0, True))
        self._sent = sent
        return events, bool(self._gone)

    async def ask_losses(self, gone: Iterable[str]) -> list[Event]:
        """Read which tasks were with workers that are gone.

        Notes
        -----
        Each worker's own events are asked for: those of all hold what cannot be sent, once a client has
        called ``replicate`` (distributed 2026.8), and the scheduler then cuts the connection.
        """
        addresses, self._gone = self._gone.union(gone), set()
        events: list[Event] = []
        for address in addresses:
            for time_s, told in await self._link.ask("events", topic=address):
                if isinstance(told, Mapping) and told.get("action") == "remove-worker":
                    try:
                        moment, keys = float(time_s), list(told.get("processing-tasks", ()))
                    except (TypeError, ValueError) as error:
                        # Anybody's code may log an event of that name.
                        self._recorder.warn(f"an event of a worker cannot be read: {describe(error)}")
                        continue
                    events += [("lost", key, address, moment, told.get("expected")) for key in keys]
        return events


class Graphs:
    """Finds out which tasks graphs have that clients hand over, next to the event loop.

    Parameters
    ----------
    watched
        The cluster.
    tasks
        Told of them.
    """

    def __init__(self, watched: Watched, tasks: Tasks) -> None:
        self._recorder = watched.recorder
        self._tasks = tasks
        self._reading: set[asyncio.Task[None]] = set()
        self._turn = asyncio.Lock()
        """Graphs are known in the order in which they were handed over."""

    @property
    def are_read(self) -> bool:
        """Whether nothing is being found out."""
        return not self._reading

    def read(self, arrived: Sequence[tuple[TrackedRun, Submission]]) -> None:
        """Begin to find out; calls of `submit` that follow each other are looked at together."""
        for _, some in groupby(arrived, lambda one: one[1].single and len(one[1].keys) <= _FEW_KEYS):
            task = asyncio.get_running_loop().create_task(self._learn(list(some)))
            self._reading.add(task)
            task.add_done_callback(self._reading.discard)

    async def finished(self) -> None:
        """Wait until the keys of all are known."""
        if self._reading:
            await asyncio.wait(self._reading)

    def close(self) -> None:
        """Find out no more."""
        for task in self._reading:
            task.cancel()

    async def _learn(self, arrived: Sequence[tuple[TrackedRun, Submission]]) -> None:
        """Find out which keys graphs have, next to the loop: it may take seconds."""
        warn: Callable[[str], None] = self._recorder.warn
        async with self._turn:
            found = await asyncio.to_thread(lambda: [_look_at(submission) for _, submission in arrived])
        for (run, submission), (graph, may_retry, error) in zip(arrived, found, strict=True):
            if error is not None:
                self._recorder.fault("reading a graph", error)
            if graph is None:
                why = (
                    f"of more than {adapter.MAX_GRAPH_TASKS:,} tasks was not looked at"
                    if error is None
                    else "could not be read"
                )
                warn(f"a graph {why}: of its tasks only those that were asked for are recorded")
                run.lacks_records = True
            if may_retry or submission.may_retry:
                warn("failed attempts of tasks with retries are not known: the scheduler is only asked")
            known = graph or adapter.Graph(dict.fromkeys(submission.keys, ()))
            run.coroutines |= known.coroutines
            self._tasks.know(run, known.dependencies, submission.keys)


def _look_at(submission: Submission) -> tuple[adapter.Graph | None, bool, Exception | None]:
    graph: adapter.Graph | None = None
    try:
        graph = adapter.materialize(submission.expr, submission.keys)
        return graph, graph is not None and adapter.may_retry(submission.expr), None
    except Exception as error:  # noqa: BLE001 - a user's collection may raise anything
        return graph, False, error
