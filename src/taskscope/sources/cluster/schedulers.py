"""The schedulers that are asked, and the thread on which that happens."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import Future
from typing import Any, TypeVar

from taskscope.record import Recorder
from taskscope.sources.cluster import adapter
from taskscope.sources.cluster.computes import Computes
from taskscope.sources.cluster.guests import Guests
from taskscope.sources.cluster.link import LoopThread
from taskscope.sources.cluster.scheduler import WatchedScheduler
from taskscope.sources.cluster.wanted import Wanted

__all__ = ["Schedulers"]

_T = TypeVar("_T")


class Schedulers:
    """One for each address that a client is connected to; the thread ends with the last.

    Parameters
    ----------
    recorder, computes, wanted, told
        What each of them needs; see `WatchedScheduler`.
    """

    def __init__(
        self, recorder: Recorder, computes: Computes, wanted: Wanted, told: Callable[[], None]
    ) -> None:
        self._recorder = recorder
        self._computes = computes
        self._wanted = wanted
        self._told = told
        self._thread = LoopThread()
        self._lock = threading.Lock()
        self._known: dict[str, WatchedScheduler] = {}

    def of(self, client: object) -> WatchedScheduler | None:
        """Return a client's scheduler, which is asked from now on; None if it has none, or that refuses."""
        found = adapter.connection_of(client)
        if found is None:
            return None
        address, arguments = found
        with self._lock:
            known = self._known.get(address)
            if known is not None and known.refuses:
                return None
            if known is None or known.broken or not known.guests.join(client):
                guests = Guests(self._lock)
                guests.join(client)
                known = self._known[address] = WatchedScheduler(
                    address,
                    arguments,
                    guests,
                    self._recorder,
                    self._computes,
                    self._wanted,
                    self._told,
                    self._left,
                )
                known.start(self._thread)
            return known

    def all(self) -> list[WatchedScheduler]:
        """Return all of them."""
        with self._lock:
            return list(self._known.values())

    def leave(self, client: object) -> None:
        """Give the connection up that was there for this client alone.

        Notes
        -----
        Takes no lock: the garbage collector may close a client while its thread holds ours, and waits then.
        """
        for scheduler in list(self._known.values()):
            scheduler.leave(client)

    @property
    def live_here(self) -> bool:
        """Whether one may live in the caller's event loop, and could not answer while that stands still."""
        return any(scheduler.guests.live_here for scheduler in self.all())

    @property
    def run_here(self) -> bool:
        """Whether one runs in the caller's event loop, and cannot answer as long as that stands still."""
        return any(adapter.runs_in_this_loop(scheduler.address) for scheduler in self.all())

    @property
    def are_asked_here(self) -> bool:
        """Whether the caller runs on the thread on which they are asked."""
        return self._thread.is_current

    def step(self, *, briefly: bool) -> Future[list[bool]] | None:
        """Have those asked once more that may have something new; None if there are none.

        Where this has to be brief, only those with runs of ours. Each tells whether its workers answered.
        """
        # Where there are some, the thread goes on; with the lock held, it cannot end before this is on it.
        with self._lock:
            busy = [
                s
                for s in self._known.values()
                if s.has_runs or (not briefly and (s.watches_others or s.owes_samples))
            ]
            return self._thread.submit(_all(s.step() for s in busy)) if busy else None

    def begin_others(self, schedulers: Iterable[WatchedScheduler]) -> Future[list[None]]:
        """Have some of them record what other clients have them do, if that is wanted."""
        return self._thread.submit(_all(s.begin_others() for s in schedulers))

    def close(self) -> None:
        """End the thread and all that goes on, as it stands."""
        with self._lock:
            schedulers = list(self._known.values())
            self._known.clear()
        self._thread.stop()
        for scheduler in schedulers:
            scheduler.abandon()

    def forget(self) -> None:
        """Start over in a child process, where neither the thread nor its connections exist."""
        self._lock = threading.Lock()
        self._thread.forget()
        self._known.clear()

    def _left(self, scheduler: WatchedScheduler) -> None:
        """Forget one that is not asked any more; the thread ends with the last."""
        with self._lock:
            if self._known.get(scheduler.address) is scheduler and not scheduler.refuses:
                del self._known[scheduler.address]
            if all(other.refuses for other in self._known.values()):
                self._thread.stop()


async def _all(coroutines: Iterable[Coroutine[Any, Any, _T]]) -> list[_T]:
    return await asyncio.gather(*coroutines)
