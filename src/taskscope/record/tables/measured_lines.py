"""Counts and times of the lines of named functions, by task."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from taskscope.model.keys import key_text, split_key
from taskscope.model.source_lines import file_of
from taskscope.model.tables.stacks import LineSums, MeasuredLine

_Place: TypeAlias = tuple[int, str | None, str, str, str, str, int, int]
_MAX_ROWS = 200_000


class MeasuredLineLog:
    """Sums by compute, task and line; any thread adds, any reads. Beyond 200,000 they are by prefix."""

    def __init__(self) -> None:
        # Sums are replaced, so that a copy of the dictionary has whole ones.
        self._sums: dict[_Place, tuple[int, float, float, float]] = {}

    def add(self, run: int, key: object, worker: str, measured: Iterable[LineSums]) -> None:
        text, prefix = key_text(key), key_text(split_key(key)[1])
        for file, function, first_line, line, *sums in measured:
            place = file_of(key_text(file)), key_text(function), first_line, line
            name: _Place = (run, text, prefix, worker, *place)
            if name not in self._sums and len(self._sums) >= _MAX_ROWS:
                name = (run, None, prefix, worker, *place)
            hits, *seconds = self._sums.get(name, (0, 0.0, 0.0, 0.0))
            took_s, cpu_s, counting_s = (
                before + more for before, more in zip(seconds, sums[1:], strict=True)
            )
            self._sums[name] = hits + int(sums[0]), took_s, cpu_s, counting_s

    def between(self, first_run: int, last_run: int | None) -> tuple[MeasuredLine, ...]:
        """Return the sums of the runs in the window, in the order in which they were begun."""
        return tuple(
            MeasuredLine(*name, *sums)
            for name, sums in self._sums.copy().items()
            if first_run <= name[0] and (last_run is None or name[0] <= last_run)
        )

    def clear(self) -> None:
        self._sums = {}
