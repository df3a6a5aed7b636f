"""Activities of a cluster's workers as they are appended: bounded."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from taskscope.model.clock import whole_ticks
from taskscope.model.tables.activities import ActivityColumns, ActivityRows, Transfer
from taskscope.model.tables.columns import round_down_f4
from taskscope.record.tables.log import Log
from taskscope.record.tables.recent import RecentLog
from taskscope.record.writers.runlog import LaneActivity

_MAX_ROWS = 1_000_000
_MAX_TRANSFERS = 200_000


class ActivityLog(Log[ActivityRows]):
    """Activities in the order they were folded; the oldest go first."""

    def __init__(self) -> None:
        super().__init__(ActivityRows, _MAX_ROWS)
        self._sources: dict[str, int] = {"": 0}
        self.logged: RecentLog[Transfer] = RecentLog(_MAX_TRANSFERS)
        """Transfers in the workers' own logs."""

    def add(
        self,
        run: int,
        tasks: NDArray[np.int32],
        groups: NDArray[np.uint32],
        lanes: list[int],
        activities: list[LaneActivity],
        origin: float,
    ) -> None:
        """Append activities of one run; only the one reader that folds may."""
        start = whole_ticks(np.array([a.start - origin for a in activities], np.float64))
        stop = whole_ticks(np.array([a.stop - origin for a in activities], np.float64))
        self.append(
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

    def columns(self, runs: Collection[int]) -> ActivityColumns:
        rows = self.rows()
        mine = rows.part(np.isin(rows.run, list(runs)))
        return ActivityColumns(mine, tuple(self._sources), self.dropped)

    @property
    def sources(self) -> tuple[str, ...]:
        """The addresses that activities refer to, by first appearance."""
        return tuple(self._sources)

    def transfers(self, start_s: float, stop_s: float | None) -> tuple[Transfer, ...]:
        last = float("inf") if stop_s is None else stop_s
        return tuple(t for t in self.logged if t.stop_s >= start_s and t.start_s <= last)

    def clear(self) -> None:
        """Drop all rows; the cursor continues."""
        super().clear()
        self.logged.clear()

    def _source(self, address: str) -> int:
        return self._sources.setdefault(address, len(self._sources))
