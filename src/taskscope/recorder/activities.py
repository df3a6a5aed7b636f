"""Activities of a cluster's workers as they are appended: bounded, and completed as more is heard of them."""

from __future__ import annotations

from array import array
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taskscope.model.activities import ActivityColumns, ActivityRows, Transfer
from taskscope.recorder.appended import LaneActivity
from taskscope.recorder.recent import RecentLog

__all__ = ["ActivityLog", "NewActivities"]

_MAX_ROWS = 1_000_000
_MAX_TRANSFERS = 200_000
_CODES = {"run": "i", "task": "i", "lane": "H", "kind": "B", "start": "d", "duration": "f", "source": "I"}


@dataclass(frozen=True, slots=True, eq=False)
class NewActivities:
    """What a reader has not seen yet.

    Parameters
    ----------
    first
        The number of the first row.
    rows, group
        The activities, and the groups of their tasks.
    sources
        Addresses of workers that are new.
    completed, nbytes
        Numbers of older rows of which the bytes have become known, and these.
    n_completed
        How much the reader has seen of that now.
    """

    first: int
    rows: ActivityRows
    group: NDArray[np.uint32]
    sources: tuple[str, ...]
    completed: NDArray[np.int64]
    nbytes: NDArray[np.float64]
    n_completed: int


class ActivityLog:
    """Activities in the order they were folded; the oldest go first."""

    def __init__(self) -> None:
        self._columns: dict[str, array[Any]] = {name: array(code) for name, code in _CODES.items()}
        self._nbytes = array("d")
        self._group = array("I")
        self._completed = array("q")
        self._n_forgotten = 0
        self._sources: dict[str, int] = {"": 0}
        self._places: dict[int, int] = {}
        self.logged: RecentLog[Transfer] = RecentLog(_MAX_TRANSFERS)
        """What workers logged of their transfers."""
        self.dropped = 0
        """How many are no longer held."""

    @property
    def cursor(self) -> int:
        """How many were ever appended."""
        return self.dropped + len(self._nbytes)

    @property
    def n_completed(self) -> int:
        """How often the bytes of one became known later."""
        return self._n_forgotten + len(self._completed)

    @property
    def n_sources(self) -> int:
        """How many sources there are; the first is none."""
        return len(self._sources)

    def append(
        self,
        run: int,
        tasks: NDArray[np.int32],
        groups: NDArray[np.uint32],
        lanes: list[int],
        told: list[LaneActivity],
        origin: float,
    ) -> None:
        """Append activities of one run, for the one reader that folds.

        Parameters
        ----------
        run, tasks, groups, lanes
            The run, and number, group and lane of the task of every activity.
        told
            The activities.
        origin
            The recorder's zero on the axis of their times.
        """
        for place, activity in enumerate(told):
            if activity.token is not None:
                self._places[activity.token] = self.cursor + place
        columns = self._columns
        columns["run"].extend([run] * len(told))
        columns["task"].extend(tasks.tolist())
        columns["lane"].extend(lanes)
        columns["kind"].extend(a.kind for a in told)
        columns["start"].extend(a.start - origin for a in told)
        columns["duration"].extend(max(a.stop - a.start, 0.0) for a in told)
        columns["source"].extend(self._source(a.source) for a in told)
        self._group.extend(groups.tolist())
        self._nbytes.extend(a.nbytes for a in told)
        if len(self._nbytes) > _MAX_ROWS:
            self._drop(_MAX_ROWS // 10)

    def complete(self, token: int, nbytes: float) -> None:
        """Note how many bytes a transfer was that was appended with this token."""
        place = self._places.pop(token, -1) - self.dropped
        if place >= 0:
            self._nbytes[place] = nbytes
            self._completed.append(place + self.dropped)

    def news(self, cursor: int, limit: int, n_completed: int, n_sources: int) -> NewActivities:
        """Return up to `limit` rows from `cursor` on, and what became known of those before it.

        Parameters
        ----------
        cursor, limit
            Number of the first row, and most rows.
        n_completed, n_sources
            How much of the rest the reader has seen.
        """
        first = min(max(cursor, self.dropped), self.cursor)
        part = slice(first - self.dropped, first - self.dropped + limit)
        completed = np.array(self._completed[max(n_completed - self._n_forgotten, 0) :], np.int64)
        completed = np.unique(completed[(completed >= self.dropped) & (completed < min(cursor, first))])
        nbytes = np.array([self._nbytes[place - self.dropped] for place in completed.tolist()], np.float64)
        return NewActivities(
            first,
            self._rows(part),
            np.array(self._group[part], np.uint32),
            tuple(self._sources)[n_sources:],
            completed,
            nbytes,
            self.n_completed,
        )

    def columns(self, runs: Collection[int]) -> ActivityColumns:
        """Return the activities of these runs."""
        rows = self._rows(slice(None))
        mine = np.isin(rows.run, list(runs))
        return ActivityColumns(rows.part(np.flatnonzero(mine)), tuple(self._sources), self.dropped)

    def since(self, cursor: int, limit: int) -> tuple[int, ActivityRows]:
        """Return the number of the first activity still held from `cursor` on, and up to `limit` of them."""
        first = max(cursor, self.dropped)
        return first, self._rows(slice(first - self.dropped, first - self.dropped + limit))

    def nbytes_of(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return how many bytes these activities moved, as far as they are held and it is known; else NaN."""
        held = np.append(np.array(self._nbytes), np.nan)
        return held[np.where(numbers >= self.dropped, numbers - self.dropped, -1)]

    @property
    def sources(self) -> tuple[str, ...]:
        """The addresses that activities refer to, by first appearance."""
        return tuple(self._sources)

    def _rows(self, rows: slice) -> ActivityRows:
        held = {name: np.array(column[rows]) for name, column in self._columns.items()}
        return ActivityRows(**held, nbytes=np.array(self._nbytes[rows]))

    def transfers(self, start_s: float, stop_s: float | None) -> tuple[Transfer, ...]:
        """Return what workers logged of this time."""
        last = float("inf") if stop_s is None else stop_s
        return tuple(t for t in self.logged if t.stop_s >= start_s and t.start_s <= last)

    def clear(self) -> None:
        """Forget all of it; the cursor goes on."""
        self._drop(len(self._nbytes))
        self._places.clear()
        self.logged.clear()

    def _source(self, address: str) -> int:
        return self._sources.setdefault(address, len(self._sources))

    def _drop(self, count: int) -> None:
        for column in self._columns.values():
            del column[:count]
        del self._nbytes[:count], self._group[:count]
        self.dropped += count
        self._places = {token: place for token, place in self._places.items() if place >= self.dropped}
        # A reader that comes later gets rows with their bytes.
        gone = max(len(self._completed) - _MAX_ROWS, 0)
        del self._completed[:gone]
        self._n_forgotten += gone
