"""Which tasks workers have been given and not given back, and which went down with their worker."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

from taskscope.model.errortext import describe
from taskscope.model.keys import split_key
from taskscope.sources.cluster.others import Others
from taskscope.sources.cluster.pace import Pace
from taskscope.sources.cluster.runs import TrackedRun
from taskscope.sources.cluster.watched import Watched

__all__ = ["InFlight"]

_EVERY_S = 0.5
_MANY = 1_000
"""From so many keys of a run on they are counted here, once a look, and not by each who wants to know."""
_S_PER_KEY = 50e-6


class InFlight:
    """Follows what the scheduler calls processing.

    Parameters
    ----------
    watched
        The cluster.
    others
        Told of tasks that are nobody's here.
    knows_all
        Asked whether all keys of ours are known that the scheduler has.
    """

    def __init__(self, watched: Watched, others: Others, knows_all: Callable[[], bool]) -> None:
        self._link = watched.link
        self._workers = watched.workers
        self._ownership = watched.ownership
        self._recorder = watched.recorder
        self._others = others
        self._knows_all = knows_all
        self._every_s = _EVERY_S
        self._sent: dict[Hashable, TrackedRun] = {}
        self._gone: set[str] = set()
        self.since = math.inf
        """When workers were given the first of what they had at the last look, on the clock's axis."""

    @property
    def sent(self) -> Mapping[Hashable, TrackedRun]:
        """The keys that workers had at the last look, and their runs."""
        return self._sent

    async def ask(self, pace: Pace) -> bool:
        """Read who has what, if it is time; True if a worker that had something is gone.

        The more there is, the more seldom.
        """
        if not pace.is_due("processing", self._every_s):
            return False
        processing: Mapping[str, Any] = await self._link.ask("processing")
        self._every_s = max(_EVERY_S, sum(map(len, processing.values())) * _S_PER_KEY)
        now = self._recorder.clock.perf_counter()
        sent: dict[Hashable, TrackedRun] = {}
        since = now
        for address, keys in processing.items():
            place = (address, self._workers.get(address).label)
            for key, run in zip(keys, self._runs_of(keys), strict=True):
                if run is not None:
                    sent[key] = run
                    run.send(key, place, now)
                    since = min(since, run.log.submitted[key])
        for key, run in self._sent.items():
            if key not in sent and key in run.log.submitted:
                address = run.log.sent_to[key][0]
                if address in processing:
                    run.give_back(key, now)
                else:
                    self._gone.add(address)
        _count(self._sent.values(), sent)
        self._sent, self.since = sent, since
        return bool(self._gone)

    def _runs_of(self, keys: Iterable[Hashable]) -> list[TrackedRun | None]:
        """Return the run of each task that a worker has or had, None where there is none."""
        runs = {key: self._ownership.of(key) for key in keys}
        nobodys = [key for key, run in runs.items() if run is None]
        if nobodys and self._knows_all():
            runs.update(zip(nobodys, self._others.take(nobodys), strict=True))
        return list(runs.values())

    async def ask_losses(self, gone: Iterable[str]) -> None:
        """Read which tasks were with workers that are gone.

        Notes
        -----
        Each worker's own events are asked for: those of all hold what cannot be sent, once a client has
        called ``replicate`` (distributed 2026.8), and the scheduler then cuts the connection.
        """
        clock, ahead_s = self._recorder.clock, self._workers.clocks.scheduler_ahead_s
        addresses, self._gone = self._gone.union(gone), set()
        for address in addresses:
            for time_s, event in await self._link.ask("events", topic=address):
                if isinstance(event, Mapping) and event.get("action") == "remove-worker":
                    try:
                        self._lose(address, event, float(time_s) - ahead_s + clock.shift_s())
                    except (TypeError, ValueError) as error:
                        # Anybody's code may log an event of that name.
                        self._recorder.warn(f"an event of a worker cannot be read: {describe(error)}")

    def _lose(self, address: str, event: Mapping[str, Any], moment: float) -> None:
        worker = self._workers.get(address)
        verb = "left" if event.get("expected") else "died"
        keys = list(event.get("processing-tasks", ()))
        for key, run in zip(keys, self._runs_of(keys), strict=True):
            if run is not None:
                run.lose(key, (worker.address, worker.label), moment, f"{worker.label} {verb}")


def _count(before: Iterable[TrackedRun], sent: Mapping[Hashable, TrackedRun]) -> None:
    """Tell how many tasks of each group of each run workers have, where these are many."""
    keys: dict[TrackedRun, list[Hashable]] = {run: [] for run in before}
    for key, run in sent.items():
        keys.setdefault(run, []).append(key)
    for run, mine in keys.items():
        counts: dict[str, tuple[Hashable, int]] = {}
        for key in mine if len(mine) > _MANY else ():
            name = split_key(key)[0]
            counts[name] = (key, counts.get(name, (key, 0))[1] + 1)
        run.log.sent_counts = list(counts.values())
