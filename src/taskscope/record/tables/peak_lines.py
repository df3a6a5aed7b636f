"""The allocations at each recorded peak of memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from taskscope.model.tables.process import PeakLine


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
        for rows in self._peaks:
            runs = {row.run for row in rows if row.run is not None and first_run <= row.run}
            runs = {run for run in runs if last_run is None or run <= last_run}
            if runs:
                found += [row for row in rows if row.run is None or row.run in runs]
        return tuple(found)

    def clear(self) -> None:
        self._peaks = ()
