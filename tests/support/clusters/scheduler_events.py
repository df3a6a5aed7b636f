"""What a scheduler tells of its tasks, spelled out, and the table that it is told to."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from taskscope.model.clock import Clock
from taskscope.record import Recorder
from taskscope.sources.cluster.adapter import Submission
from taskscope.sources.cluster.connection import Event, News
from taskscope.sources.cluster.runs import TrackedRun
from taskscope.sources.cluster.tasks import SchedulerTasks
from taskscope.sources.cluster.workers import Workers

SCHEDULER = "tcp://10.0.0.1:8786"
HERE, THERE = "tcp://10.0.0.1:1", "tcp://10.0.0.2:1"
OURS, THEIRS = "Client-ours", "Client-theirs"


def record(
    key: Hashable, worker: str, start: float, stop: float, error: str | None = None, *, thread: int = 5
) -> list[Any]:
    """Return what a scheduler's plugin records of a task that ended."""
    steps = ({"action": "compute", "start": start, "stop": stop},)
    return [key, worker, thread, 80, error, steps, None]


class World:
    """A table of tasks, and a scheduler whose events it gets."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.recorder = Recorder(clock=clock)
        self.workers = Workers(SCHEDULER, self.recorder)
        for number, address in enumerate((HERE, THERE)):
            self.workers.come(address, str(number), 1)
        self.tasks = SchedulerTasks(self.workers, OURS.__eq__)
        self.n_events = self.n_lost = 0
        self.tell(*(("early", client, [], 0) for client in (OURS, "")))

    def begin(self, keys: Iterable[Hashable] = (), *, collects: bool = True) -> TrackedRun:
        """Begin a run that asks for these keys, and hands over a graph for them."""
        run = TrackedRun(self.recorder.begin(), None, None, collects, lambda: None)
        run.ask(dict.fromkeys(keys))
        if keys:
            self.hand_over(run, keys)
        return run

    def hand_over(self, run: TrackedRun, keys: Iterable[Hashable]) -> None:
        """Have a client hand over a graph of which it asks for these keys."""
        client: Any = SimpleNamespace(id=OURS)
        self.tasks.expect(run, Submission(client, frozenset(keys), None, single=run.collects), is_early=False)

    def graph(
        self,
        dependencies: Mapping[Hashable, Sequence[Hashable]],
        requested: Iterable[Hashable] | None = None,
        states: Mapping[Any, str] | None = None,
        client: str = OURS,
    ) -> list[Event]:
        """Return that the scheduler has got a graph, whose tasks were in these states by then."""
        keys = list(dependencies)
        found = {keys.index(key): state for key, state in (states or {}).items()}
        needed = [key for some in dependencies.values() for key in some]
        numbers = [len(some) for some in dependencies.values()]
        asked = keys if requested is None else list(requested)
        return [
            ("graph", client, asked, len(keys), []),
            ("tasks", client, keys, numbers, needed, list(found.items()), [], []),
        ]

    def state(self, key: Hashable, state: str, worker: str | None = None) -> Event:
        """Return that a task is in a state now."""
        moment = self.clock.time() if state == "processing" else 0.0
        to_run = state in {"waiting", "queued", "no-worker", "processing"}
        return ("state", key, state, worker, moment, to_run)

    def send(self, key: Hashable, worker: str = HERE) -> Event:
        """Return that a worker was given a task."""
        return self.state(key, "processing", worker)

    def end(self, key: Hashable, *, error: str | None = None, worker: str = HERE) -> Event:
        """Return that a task has ended now."""
        now = self.clock.time()
        return ("end", *record(key, worker, now - 0.5, now, error), None)

    def lose(self, key: Hashable, worker: str = HERE, *, expected: bool = False) -> Event:
        """Return that a task went down with its worker."""
        return ("lost", key, worker, self.clock.time(), expected)

    def tell(self, *events: Event, lost: int = 0, knows_all: bool = True) -> None:
        """Have events read, after so many that were lost."""
        self.n_lost += lost
        news = News(self.n_events, self.n_events + len(events), events, self.n_lost)
        self.n_events += len(events)
        self.tasks.take(news)
        self.tasks.fold(knows_all=knows_all)
        while self.recorder.pull(1.0):
            pass

    def finish(self, run: TrackedRun, status: str | None = None) -> None:
        """End a run."""
        run.over, run.status = self.clock.perf_counter(), status
        self.tasks.end(run)
        self.tasks.warn_of(run)
        run.end(self.clock.perf_counter())
        while self.recorder.pull(1.0):
            pass

    @property
    def said(self) -> list[str]:
        """What the user was told."""
        return [message.text for message in self.recorder.messages]
