"""The tasks that a recorder holds, and where they are found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from taskscope.model.tables.columns import RowBlock
from taskscope.record.tables.log import Log

__all__ = ["TaskLog", "count_by_run"]


def count_by_run(blocks: Sequence[RowBlock]) -> Mapping[int, int]:
    """Return how many rows there are of each run."""
    counts: Counter[int] = Counter()
    for block in blocks:
        counts[block.run] += len(block)
    return counts


class TaskLog(Log[RowBlock]):
    """Tasks that reached an end, each block of one run."""

    def __init__(self, max_rows: int) -> None:
        super().__init__(RowBlock, max_rows)

    def drop_oldest_block(self) -> list[RowBlock]:
        """Drop the first block; return it."""
        return self.drop(len(self.blocks()[0][1]))

    def first_row_of(self, run: int) -> int:
        """Return the first row held of this run or a later one; the cursor where there is none."""
        return next((first for first, block in self.blocks() if block.run >= run), self.cursor)

    def of_runs(self, runs: Container[int]) -> list[RowBlock]:
        """Return the blocks of these runs, oldest first."""
        return [block for _, block in self.blocks() if block.run in runs]

    def task_at(self, row: int) -> tuple[int, int] | None:
        """Return the run and the task number of a row; None if it is not held."""
        if not self.dropped <= row < self.cursor:
            return None
        first, block = self._block_of(row)
        return block.run, int(block.task[row - first])

    def rows_of(self, run: int, tasks: NDArray[np.int32]) -> dict[int, int]:
        """Return the rows of these tasks of a run by their numbers; those that are not held are left out."""
        rows: dict[int, int] = {}
        for first, block in self.blocks():
            if block.run == run:
                found = np.flatnonzero(np.isin(block.task, tasks))
                rows.update(zip(block.task[found].tolist(), (found + first).tolist(), strict=True))
        return rows
