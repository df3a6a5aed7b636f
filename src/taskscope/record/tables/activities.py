"""Activities of a cluster's workers as they are appended: bounded, and completed as more is known."""

from __future__ import annotations

from array import array
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taskscope.model.clock import whole_ticks
from taskscope.model.tables.activities import ActivityColumns, ActivityRows, Transfer
from taskscope.model.tables.columns import round_down_f4
from taskscope.record.tables.log import Log
from taskscope.record.tables.recent import RecentLog
from taskscope.record.writers.appended import LaneActivity

__all__ = ["ActivityLog", "NewActivities"]

_MAX_ROWS = 1_000_000
_MAX_TRANSFERS = 200_000


@dataclass(frozen=True, slots=True, eq=False)
class NewActivities:
    """What a reader has not seen yet.

    Parameters
    ----------
    first
        The number of the first row.
    rows
        The activities.
    sources
        Addresses of workers that are new.
    completed, nbytes
        Numbers of older rows of which the bytes have become known, and these.
    n_completed
        How much the reader has seen of that now.
    """

    first: int
    rows: ActivityRows
    sources: tuple[str, ...]
    completed: NDArray[np.int64]
    nbytes: NDArray[np.float64]
    n_completed: int


class ActivityLog(Log[ActivityRows]):
    """Activities in the order they were folded; the oldest go first."""

    def __init__(self) -> None:
        super().__init__(ActivityRows, _MAX_ROWS)
        self._completed = array("q")
        self._n_forgotten = 0
        self._sources: dict[str, int] = {"": 0}
        self._places: dict[int, int] = {}
        self.logged: RecentLog[Transfer] = RecentLog(_MAX_TRANSFERS)
        """What workers logged of their transfers."""

    @property
    def n_completed(self) -> int:
        """How often the bytes of one became known later."""
        return self._n_forgotten + len(self._completed)

    @property
    def n_sources(self) -> int:
        """How many sources there are; the first is none."""
        return len(self._sources)

    def add(
        self,
        run: int,
        tasks: NDArray[np.int32],
        groups: NDArray[np.uint32],
        lanes: list[int],
        activities: list[LaneActivity],
        origin: float,
    ) -> None:
        """Append activities of one run, for the one reader that folds.

        Parameters
        ----------
        run, tasks, groups, lanes
            The run, and number, group and lane of the task of every activity.
        activities
            The activities.
        origin
            The recorder's zero on the axis of their times.
        """
        for place, activity in enumerate(activities):
            if activity.token is not None:
                self._places[activity.token] = self.cursor + place
        start = whole_ticks(np.array([a.start - origin for a in activities], np.float64))
        stop = whole_ticks(np.array([a.stop - origin for a in activities], np.float64))
        gone = self.append(
            ActivityRows(
                run=np.full(len(activities), run, np.int32),
                task=tasks,
                lane=np.array(lanes, np.uint16),
                kind=np.array([a.kind for a in activities], np.uint8),
                start=start,
                duration=round_down_f4(np.maximum(stop - start, 0.0)),
                source=np.array([self._source(a.source) for a in activities], np.uint32),
                nbytes=np.array([a.nbytes for a in activities], np.float64),
                group=groups,
            )
        )
        if gone:
            self._forget_dropped()

    def complete(self, token: int, nbytes: float) -> None:
        """Note how many bytes a transfer was that was appended with this token."""
        row = self._places.pop(token, -1)
        if row >= self.dropped:
            first, rows = self._block_of(row)
            rows.nbytes[row - first] = nbytes
            self._completed.append(row)

    def news(self, cursor: int, limit: int, n_completed: int, n_sources: int) -> NewActivities:
        """Return up to `limit` rows from `cursor` on, and what became known of those before it.

        Parameters
        ----------
        cursor, limit
            Number of the first row, and most rows.
        n_completed, n_sources
            How much of the rest the reader has seen.
        """
        first, rows = self.since(cursor, limit)
        completed = np.array(self._completed[max(n_completed - self._n_forgotten, 0) :], np.int64)
        completed = np.unique(completed[(completed >= self.dropped) & (completed < min(cursor, first))])
        return NewActivities(
            first,
            rows,
            tuple(self._sources)[n_sources:],
            completed,
            self.nbytes_of(completed),
            self.n_completed,
        )

    def columns(self, runs: Collection[int]) -> ActivityColumns:
        """Return the activities of these runs."""
        rows = self.rows()
        mine = rows.part(np.isin(rows.run, list(runs)))
        return ActivityColumns(mine, tuple(self._sources), self.dropped)

    def parts_since(self, cursor: int, limit: int) -> tuple[int, list[ActivityRows]]:
        """Return the same as of any log, as copies: bytes may become known later."""
        first, parts = super().parts_since(cursor, limit)
        return first, [part.copy() for part in parts]

    def nbytes_of(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return how many bytes these activities moved, as far as they are held and it is known; else NaN."""
        dropped = self.dropped
        held = np.append(self.rows().nbytes, np.nan)
        return held[np.where(numbers >= dropped, numbers - dropped, -1)]

    @property
    def sources(self) -> tuple[str, ...]:
        """The addresses that activities refer to, by first appearance."""
        return tuple(self._sources)

    def transfers(self, start_s: float, stop_s: float | None) -> tuple[Transfer, ...]:
        """Return what workers logged of this time."""
        last = float("inf") if stop_s is None else stop_s
        return tuple(t for t in self.logged if t.stop_s >= start_s and t.start_s <= last)

    def clear(self) -> None:
        """Forget all of it; the cursor goes on."""
        super().clear()
        self._forget_dropped()
        self.logged.clear()

    def _source(self, address: str) -> int:
        return self._sources.setdefault(address, len(self._sources))

    def _forget_dropped(self) -> None:
        dropped = self.dropped
        self._places = {token: row for token, row in self._places.items() if row >= dropped}
        # A reader that comes later gets rows with their bytes.
        gone = max(len(self._completed) - _MAX_ROWS, 0)
        del self._completed[:gone]
        self._n_forgotten += gone
