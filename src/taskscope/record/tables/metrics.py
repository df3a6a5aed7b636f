"""Metrics of the workers of a cluster for the tasks of each compute, added up."""

from __future__ import annotations

from collections.abc import Callable

from taskscope.model.tables.workers import Metric, PrefixSeconds

_PLACES = {"seconds": 0, "bytes": 1, "count": 2}
_MAX_ROWS = 200_000


class MetricLog:
    """Sums by compute, worker, prefix and activity; one thread adds, any reads."""

    def __init__(self, warn: Callable[[str], None]) -> None:
        self._warn = warn
        # Sums are replaced, so that a copy of the dictionary has whole ones.
        self._sums: dict[tuple[int, str, str, str], tuple[float, float, float]] = {}
        # Sums over all workers, with the number of the change; the last change is the last entry.
        self._seconds: dict[tuple[int, str, str], tuple[int, float]] = {}
        self.version = 0
        """How often seconds were added."""

    def add(self, run: int, worker: str, prefix: str, activity: str, unit: str, value: float) -> None:
        """Add to a sum; units other than those three, as users' own metrics may have, are left out."""
        if unit not in _PLACES:
            return
        name = (run, worker, prefix, activity)
        if name not in self._sums and len(self._sums) >= _MAX_ROWS:
            self._warn(f"more than {_MAX_ROWS:,} sums of what workers metered: the others are left out")
            return
        sums = list(self._sums.get(name, (0.0, 0.0, 0.0)))
        sums[_PLACES[unit]] += value
        self._sums[name] = (sums[0], sums[1], sums[2])
        if unit == "seconds":
            _, seconds = self._seconds.pop((run, prefix, activity), (0, 0.0))
            self._seconds[run, prefix, activity] = (self.version + 1, seconds + value)
            self.version += 1

    def between(self, first_run: int, last_run: int | None) -> tuple[Metric, ...]:
        """Return the sums of the runs in the window, in the order in which they were begun."""
        return tuple(
            Metric(*name, *sums)
            for name, sums in self._sums.copy().items()
            if first_run <= name[0] and (last_run is None or name[0] <= last_run)
        )

    def seconds_since(self, version: int) -> tuple[int, list[PrefixSeconds]]:
        """Return the version now, and what all workers together spent on that which changed since another."""
        now, changed = version, []
        for name, (at, seconds) in reversed(self._seconds.copy().items()):
            if at <= version:
                break
            now = max(now, at)
            changed.append(PrefixSeconds(*name, seconds))
        return now, changed[::-1]

    def clear(self) -> None:
        self._sums, self._seconds = {}, {}
