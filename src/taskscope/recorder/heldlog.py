"""The rows of what schedulers held, as they are made: bounded, with a cursor, and each run's metric."""

from __future__ import annotations

from collections import deque

import numpy as np

from taskscope.model.held import HeldRows

__all__ = ["HeldLog"]

_MAX_ROWS = 300_000


class HeldLog:
    """Rows in the order they were made; the oldest go first."""

    def __init__(self) -> None:
        self.followed = False
        """Whether anyone may want rows while computes run; those of a recording are made from its tables."""
        self._blocks: deque[tuple[int, HeldRows]] = deque()
        self.cursor = 0
        """How many rows were ever appended."""
        self.metrics: dict[int, str] = {}
        """The name of the user's metric, by run; runs without one are not here."""

    @property
    def dropped(self) -> int:
        """How many rows are no longer held, always the oldest."""
        try:
            return self._blocks[0][0]
        except IndexError:
            return self.cursor

    def append(self, rows: HeldRows, metric: str | None) -> None:
        """Append rows of one run, and note its metric's name; for the one reader that folds."""
        if len(rows):
            if metric is not None:
                self.metrics[int(rows.run[0])] = metric
            self._blocks.append((self.cursor, rows))
            self.cursor += len(rows)
        while self.cursor - self.dropped > _MAX_ROWS and len(self._blocks) > 1:
            self._blocks.popleft()

    def clear(self) -> None:
        """Forget all rows; the cursor goes on."""
        self._blocks.clear()
        self.metrics.clear()

    def of(self, first_run: int, last_run: int | None, until_s: float) -> HeldRows:
        """Return the rows still held of these runs up to a time, seconds after the recorder's zero."""
        rows = HeldRows.concat([rows for _, rows in list(self._blocks)])
        last = np.inf if last_run is None else last_run
        mine = (rows.run >= first_run) & (rows.run <= last) & (rows.time <= until_s)
        return rows.part(np.flatnonzero(mine))

    def since(self, cursor: int, limit: int) -> tuple[int, HeldRows]:
        """Return the first row still held from `cursor` on, and up to about `limit` rows, whole blocks."""
        parts: list[HeldRows] = []
        # Others may append and forget meanwhile: the end is read first, everything else from one copy.
        end = self.cursor
        blocks = list(self._blocks)
        first = max(min(cursor, end), blocks[0][0] if blocks else end)
        count = 0
        for start, rows in blocks:
            if start + len(rows) <= first:
                continue
            if parts and count + len(rows) > limit:
                break
            parts.append(rows.part(slice(max(first - start, 0), None)))
            count += len(parts[-1])
        return first, HeldRows.concat(parts)
