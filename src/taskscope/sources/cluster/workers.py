"""The workers of a cluster: what they are called, and what becomes of their times."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from taskscope.record import LaneKey
from taskscope.sources.cluster.clock import HostClocks, WorkerClock

__all__ = ["Worker", "Workers"]


@dataclass(slots=True, eq=False)
class Worker:
    """One worker.

    Parameters
    ----------
    address
        Where it listens; never used for two workers.
    name
        What its cluster calls it.
    n_threads
        How many tasks it runs at a time.
    clock
        Its clock.
    """

    address: str
    name: str
    n_threads: int
    clock: WorkerClock
    threads: dict[int, LaneKey] = field(default_factory=dict)
    coroutines_until: list[float] = field(default_factory=list)
    """When the last coroutine of each of their lanes ended."""
    n_held: int = 0
    """How many results it held when it last told."""

    @property
    def label(self) -> str:
        """What to call it on screen."""
        return self.name if self.name == self.address else f"worker {self.name}"

    def lane(self, thread: int) -> LaneKey:
        """Return the lane of a thread; threads are numbered as they appear."""
        known = self.threads.get(thread)
        if known is None:
            label = f"{self.label}, thread {len(self.threads) + 1}"
            known = self.threads[thread] = LaneKey(0, thread, label=label, worker=self.address)
        return known

    def coroutine_lane(self, thread: int, start: float, stop: float) -> LaneKey:
        """Return the lane of a coroutine; an event loop runs several at a time, and no two overlap in one."""
        free = self.coroutines_until
        slot = next((i for i, until in enumerate(free) if until <= start), len(free))
        free[slot : slot + 1] = [stop]
        label = f"{self.label}, coroutines {slot + 1}"
        return LaneKey(0, thread, slot=slot + 1, label=label, worker=self.address)


class Workers:
    """All workers that were ever seen of a cluster.

    Parameters
    ----------
    scheduler
        The scheduler's address.
    seen
        Told of each worker, with what the scheduler says of it.
    """

    def __init__(
        self, scheduler: str, seen: Callable[[Worker, Mapping[str, Any]], None] = lambda *_: None
    ) -> None:
        self.clocks = HostClocks(scheduler)
        """The clocks of the machines that they are on."""
        self._seen = seen
        self._known: dict[str, Worker] = {}
        self._told: set[str] = set()
        self.present: frozenset[str] = frozenset()
        """The addresses of those that the scheduler had at last."""
        self.n_threads = 0
        """How many tasks they run at a time."""
        self.silent: frozenset[str] = frozenset()
        """The addresses of those that did not answer in time when they were last asked."""

    def update(self, identity: Mapping[str, Any]) -> frozenset[str]:
        """Take over what the scheduler says of its workers; return the addresses of those that are gone."""
        told: Mapping[str, Any] = identity["workers"]
        for address, facts in told.items():
            worker = self.get(str(address))
            # Names are numbers, texts, or anything else that was given.
            worker.name = str(facts.get("name", address))
            worker.n_threads = int(facts.get("nthreads", 0))
            worker.n_held = _n_held(facts)
            self._seen(worker, facts)
        self._told.update(map(str, told))
        gone = self.present - told.keys()
        self.present = frozenset(map(str, told))
        self.silent &= self.present
        self.n_threads = sum(self._known[address].n_threads for address in self.present)
        return gone

    def get(self, address: str) -> Worker:
        """Return a worker, which may be one that was never heard of."""
        known = self._known.get(address)
        if known is None:
            clock = WorkerClock(self.clocks, address)
            known = self._known[address] = Worker(address, address, 0, clock)
        return known

    def __contains__(self, address: object) -> bool:
        """Return whether the scheduler has told of this worker."""
        return address in self._told


def _n_held(facts: Mapping[str, Any]) -> int:
    metrics = facts.get("metrics")
    counts = metrics.get("task_counts") if isinstance(metrics, Mapping) else None
    n_held = counts.get("memory", 0) if isinstance(counts, Mapping) else 0
    return n_held if isinstance(n_held, int) else 0
