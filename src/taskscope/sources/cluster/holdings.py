"""Which results workers have in memory, as the scheduler lists them.

The scheduler has the keys of each worker, and the size of a result was recorded with its task. A result on
two workers counts twice, and one that was spilled to disk counts as in memory.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator

from taskscope.model.keys import split_key
from taskscope.record import Holding
from taskscope.sources.cluster.connection import try_ask
from taskscope.sources.cluster.runs import TrackedRun
from taskscope.sources.cluster.tasks import Tasks
from taskscope.sources.cluster.workers import Watched

_EVERY_S = 0.5
_SHARE = 0.05
_S_PER_KEY = 200e-6
_KEYS_PER_ANSWER = 20_000


class Holdings:
    """Polls which results workers have, twice a second at most.

    Less often where they are many (one key every 200 µs at most), and where answers are slow (a twentieth of
    the time is spent awaiting them).
    """

    def __init__(self, watched: Watched, tasks: Tasks) -> None:
        self._link = watched.link
        self._workers = watched.workers
        self._tasks = tasks
        self._recorder = watched.recorder
        self._last_counts: dict[int, dict[str, Holding]] = {}
        """The counts of the last poll, by run and group."""
        self._left: dict[int, dict[Hashable, float]] = {}
        """Keys of runs that have ended and may still be in memory, with their sizes."""
        self._took_s = 0.0
        self._n_keys = 0
        self._asked_s = -math.inf
        self._is_noted = True

    async def open(self) -> None:
        _, refusal = await try_ask(self._link, "has_what", workers=[])
        if refusal is not None:
            self._is_noted = False
            self._recorder.warn(
                "the scheduler does not report what its workers have in memory: the cache is unknown"
            )

    @property
    def has_left(self) -> bool:
        return bool(self._left)

    def pause_s(self, *, at_end: bool = False) -> float:
        pause_s = max(self._took_s / _SHARE, self._n_keys * _S_PER_KEY, 0.0 if at_end else _EVERY_S)
        return max(self._asked_s + pause_s - self._now(), 0.0)

    async def ask(self, *, at_end: bool) -> None:
        """Poll if that is due, which it is earlier with `at_end`."""
        if not self._is_noted or self.pause_s(at_end=at_end):
            return
        began = self._now()
        answers = [await self._link.ask("has_what", workers=workers) for workers in self._parts()]
        self._asked_s = self._now()
        self._took_s = self._asked_s - began
        keys = [key for answer in answers for held in answer.values() for key in held]
        self._n_keys = len(keys)
        self._note(self._count(keys))

    def end(self, run: TrackedRun) -> None:
        if self._is_noted and run.landed:
            self._left[run.log.run] = run.landed

    def close(self) -> None:
        """Record that nothing is in memory any more: the last client has left, or the scheduler is gone."""
        self._asked_s = self._now()
        self._note({})
        self._left.clear()

    def _now(self) -> float:
        return self._recorder.clock.perf_counter()

    def _parts(self) -> Iterator[list[str]]:
        """Yield workers, a few at a time where they hold much, so that no answer takes the scheduler long."""
        part: list[str] = []
        n_keys = 0
        for address in self._workers.present:
            part.append(address)
            n_keys += self._workers.get(address).n_held
            if n_keys >= _KEYS_PER_ANSWER:
                yield part
                part, n_keys = [], 0
        if part:
            yield part

    def _count(self, keys: Iterable[Hashable]) -> dict[int, dict[str, Holding]]:
        """Return how much of each group is in memory, by run; keys of no recorded run are left out."""
        counts: dict[int, dict[str, Holding]] = {}
        left: dict[int, dict[Hashable, float]] = {}
        for key in keys:
            found = self._find(key)
            if found is None:
                continue
            run, size, has_ended = found
            if has_ended:
                left.setdefault(run, {})[key] = size
            groups = counts.setdefault(run, {})
            name, is_sized = split_key(key)[0], math.isfinite(size)
            _, n_keys, nbytes, n_unsized = groups.get(name, (key, 0, 0.0, 0))
            nbytes += size if is_sized else 0.0
            groups[name] = Holding(key, n_keys + 1, nbytes, n_unsized + (not is_sized))
        self._left = left
        return counts

    def _find(self, key: Hashable) -> tuple[int, float, bool] | None:
        """Return the run of a key, its size, and whether that run has ended."""
        run = self._tasks.run_of(key)
        if run is not None and run.log.run not in self._left:
            return run.log.run, run.landed.get(key, math.nan), False
        return next(((n, sizes[key], True) for n, sizes in self._left.items() if key in sizes), None)

    def _note(self, counts: dict[int, dict[str, Holding]]) -> None:
        time_s = self._recorder.seconds(self._asked_s)
        for run in sorted(self._last_counts.keys() | counts.keys()):
            before, now = self._last_counts.get(run, {}), counts.get(run, {})
            gone = [Holding(held.key, 0, 0.0, 0) for name, held in before.items() if name not in now]
            changed = [held for name, held in now.items() if _amounts(held) != _amounts(before.get(name))]
            if gone or changed:
                self._recorder.note_holdings(run, time_s, [*gone, *changed])
        self._last_counts = counts


def _amounts(holding: Holding | None) -> tuple[int, float, int] | None:
    return None if holding is None else holding[1:]
