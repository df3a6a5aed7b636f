"""The rows a recorder holds: blocks in order, a cursor, and a bound."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from taskscope.model.columns import RowBlock

__all__ = ["RowStore"]

_SMALL = 4096


class RowStore:
    """Append-only blocks of rows; the oldest rows go when more than `max_rows` are held."""

    def __init__(self, max_rows: int) -> None:
        self.max_rows = max_rows
        self.cursor = 0
        """How many rows were ever appended."""
        self.dropped = 0
        """How many of them were dropped again, always the oldest."""
        self._blocks: list[RowBlock] = []
        self._firsts: list[int] = []

    def append(self, block: RowBlock) -> None:
        """Append a block; small neighbours of one run are merged."""
        last = self._blocks[-1] if self._blocks else None
        if last is not None and last.run == block.run and len(last) + len(block) <= _SMALL:
            self._blocks[-1] = RowBlock.concat([last, block])
        else:
            self._blocks.append(block)
            self._firsts.append(self.cursor)
        self.cursor += len(block)

    def drop(self) -> dict[int, int]:
        """Drop what is beyond the bound; return the number of rows dropped, by run."""
        gone: dict[int, int] = {}
        excess = self.cursor - self.dropped - self.max_rows
        while excess > 0:
            block = self._blocks[0]
            count = min(excess, len(block))
            gone[block.run] = gone.get(block.run, 0) + count
            if count == len(block):
                del self._blocks[0], self._firsts[0]
            else:
                self._blocks[0] = block.tail(count)
                self._firsts[0] += count
            self.dropped += count
            excess -= count
        return gone

    def drop_oldest_block(self) -> dict[int, int]:
        """Drop the first block; return the number of rows dropped, by run."""
        block = self._blocks.pop(0)
        del self._firsts[0]
        self.dropped += len(block)
        return {block.run: len(block)}

    def clear(self) -> None:
        """Forget all rows; the cursor goes on."""
        self._blocks.clear()
        self._firsts.clear()
        self.dropped = self.cursor

    def blocks(self) -> Iterator[RowBlock]:
        """Yield the blocks that are held, oldest first."""
        return iter(list(self._blocks))

    def first_row_of(self, run: int) -> int:
        """Return the first row held of this run or a later one; the cursor where there is none."""
        rows = (first for first, block in zip(self._firsts, self._blocks, strict=True) if block.run >= run)
        return next(rows, self.cursor)

    def task_at(self, row: int) -> tuple[int, int] | None:
        """Return the run and the task number of a row; None if it is not held."""
        if not self.dropped <= row < self.cursor:
            return None
        place = bisect_right(self._firsts, row) - 1
        block = self._blocks[place]
        return block.run, int(block.task[row - self._firsts[place]])

    def rows_of(self, run: int, tasks: NDArray[np.int32]) -> dict[int, int]:
        """Return the rows of these tasks of a run by their numbers; those that are not held are left out."""
        rows: dict[int, int] = {}
        for first, block in zip(self._firsts, self._blocks, strict=True):
            if block.run == run:
                found = np.flatnonzero(np.isin(block.task, tasks))
                rows.update(zip(block.task[found].tolist(), (found + first).tolist(), strict=True))
        return rows

    def since(self, cursor: int, limit: int) -> tuple[int, list[tuple[RowBlock, slice]]]:
        """Return the first row still held from `cursor` on, and up to `limit` rows as slices of blocks."""
        first = max(cursor, self.dropped)
        parts: list[tuple[RowBlock, slice]] = []
        place = max(bisect_right(self._firsts, first) - 1, 0)
        row, left = first, limit
        for block, start in zip(self._blocks[place:], self._firsts[place:], strict=True):
            if left <= 0:
                break
            part = slice(row - start, min(row - start + left, len(block)))
            parts.append((block, part))
            left -= part.stop - part.start
            row += part.stop - part.start
        return first, parts
