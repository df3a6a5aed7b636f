"""The tasks that a recorder holds, where they are found, and of which the CPU time became known later."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from taskscope.model.tables.columns import RowBlock
from taskscope.model.tables.records import flag_of
from taskscope.record.tables.log import Log, RowNumbers

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
        self.metered = Log(RowNumbers, max_rows)
        """The rows of which the CPU time became known after they were appended."""

    def meter(
        self,
        run: int,
        tasks: NDArray[np.int32],
        start: NDArray[np.float64],
        cpu: NDArray[np.float32],
        is_shared: NDArray[np.bool_],
    ) -> NDArray[np.int64]:
        """Set the CPU time of rows, known by task and start; return those that are held, ascending.

        Blocks are replaced: recordings that were taken before have theirs.
        """
        found: list[NDArray[np.int64]] = []
        # A task that ran again has several rows.
        places = {name: place for place, name in enumerate(zip(tasks.tolist(), start.tolist(), strict=True))}
        blocks = self.blocks()
        # It became known soon after they were appended.
        for number, (first, block) in reversed(list(enumerate(blocks))):
            if not places:
                break
            if block.run != run:
                continue
            near = np.flatnonzero(np.isin(block.task, tasks))
            names = zip(block.task[near].tolist(), block.start[near].tolist(), strict=True)
            of = np.array([places.pop(name, -1) for name in names], np.int64)
            rows, of = near[of >= 0], of[of >= 0]
            known, flags = block.cpu_s.copy(), block.flags.copy()
            known[rows] = np.clip(cpu[of], 0.0, block.duration[rows])
            flags[rows] |= np.where(is_shared[of], flag_of("cpu_from", "shared"), 0).astype(np.uint8)
            blocks[number] = (first, replace(block, cpu_s=known, flags=flags))
            found.append(rows + first)
        self._blocks = blocks
        numbers = np.sort(np.concatenate([np.empty(0, np.int64), *found]))
        self.metered.max_rows = self.max_rows
        self.metered.append(RowNumbers(numbers))
        return numbers

    def at(self, rows: NDArray[np.int64]) -> list[RowBlock]:
        """Return these rows, which are held, by block; they ascend."""
        parts = []
        while len(rows):
            first, block = self._block_of(int(rows[0]))
            n = int(np.searchsorted(rows, first + len(block)))
            parts.append(block.part(rows[:n] - first))
            rows = rows[n:]
        return parts

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
