"""Sums of metrics, of counted lines and of the allocations at peaks of memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, cast

from taskscope.model.forklock import ForkLock
from taskscope.model.keys import key_text, split_key
from taskscope.model.source_lines import file_of
from taskscope.model.tables.process import PeakLine
from taskscope.model.tables.stacks import LineSums, MeasuredLine
from taskscope.model.tables.workers import Metric, PrefixSeconds

_Place: TypeAlias = tuple[int, str | None, str, str, str, str, int, int]
_PLACES = {"seconds": 0, "bytes": 1, "count": 2}
_MAX_ROWS = 200_000


def _between(sums: Mapping[Any, tuple[Any, ...]], first_run: int, last_run: int | None) -> list[Any]:
    """Return what is summed with its sums, of the runs in the window."""
    last = math.inf if last_run is None else last_run
    return [(*name, *values) for name, values in dict(sums).items() if first_run <= name[0] <= last]


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
        return tuple(Metric(*row) for row in _between(self._sums, first_run, last_run))

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


class MeasuredLineLog:
    """Sums by compute, task and line; any thread adds, any reads. Beyond 200,000 they are by prefix."""

    def __init__(self) -> None:
        self._lock = ForkLock()
        # Sums are replaced, so that a copy of the dictionary has whole ones.
        self._sums: dict[_Place, tuple[int, float, float, float]] = {}

    def add(self, run: int, key: object, worker: str, measured: Iterable[LineSums]) -> None:
        text, prefix = key_text(key), key_text(split_key(key)[1])
        for file, function, first_line, line, *sums in measured:
            place = file_of(key_text(file)), key_text(function), first_line, line
            with self._lock:
                self._add((run, text, prefix, worker, *place), sums)

    def _add(self, name: _Place, sums: Sequence[float]) -> None:
        if name not in self._sums and len(self._sums) >= _MAX_ROWS:
            run, _, *others = name
            name = cast("_Place", (run, None, *others))
        hits, *seconds = self._sums.get(name, (0, 0.0, 0.0, 0.0))
        took_s, cpu_s, counting_s = (before + more for before, more in zip(seconds, sums[1:], strict=True))
        self._sums[name] = hits + int(sums[0]), took_s, cpu_s, counting_s

    def between(self, first_run: int, last_run: int | None) -> tuple[MeasuredLine, ...]:
        """Return the sums of the runs in the window, in the order in which they were begun."""
        return tuple(MeasuredLine(*row) for row in _between(self._sums, first_run, last_run))

    def clear(self) -> None:
        self._sums = {}


class PeakLineLog:
    """The rows of each peak; any thread adds, any reads."""

    def __init__(self) -> None:
        self._peaks: tuple[tuple[PeakLine, ...], ...] = ()

    def add(self, rows_of: Callable[[int], Sequence[PeakLine]]) -> None:
        """Add a peak, whose rows are a function of its number."""
        self._peaks = (*self._peaks, tuple(rows_of(len(self._peaks))))

    def between(self, first_run: int, last_run: int | None) -> tuple[PeakLine, ...]:
        """Return the rows of runs in the window, and with them what no task had at the same peak."""
        found: list[PeakLine] = []
        last = math.inf if last_run is None else last_run
        for rows in self._peaks:
            runs = {row.run for row in rows if row.run is not None and first_run <= row.run <= last}
            if runs:
                found += [row for row in rows if row.run is None or row.run in runs]
        return tuple(found)

    def clear(self) -> None:
        self._peaks = ()
