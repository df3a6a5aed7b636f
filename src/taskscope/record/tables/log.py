"""An append-only table: blocks of rows in order, a cursor, a bound, and readers."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Container, Mapping, Sequence, Sized
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from taskscope.model.tables.columns import RowBlock
from taskscope.schema import Rows

_R = TypeVar("_R", bound=Rows)
_P = TypeVar("_P", bound=Sized)

_SMALL = 4096


def _first(block: tuple[int, object]) -> int:
    return block[0]


class Log(Generic[_R]):
    """Rows in the order in which they were appended; the oldest are dropped first.

    One thread at a time appends and drops. Other threads may read: the rows that they get have their right
    numbers.
    """

    def __init__(self, declared: type[_R], max_rows: int) -> None:
        self.max_rows = max_rows
        self._declared = declared
        # Each block with the number of its first row. Dropping replaces the list, so readers keep theirs.
        self._blocks: list[tuple[int, _R]] = []
        self._end = 0

    @property
    def cursor(self) -> int:
        return self._end

    @property
    def dropped(self) -> int:
        """How many of them are no longer kept, always the oldest."""
        end, blocks = self._end, self._blocks
        return blocks[0][0] if blocks else end

    def append(self, rows: _R) -> list[_R]:
        """Append rows, and drop rows beyond the bound; return these."""
        if len(rows):
            last = self._blocks[-1] if self._blocks else None
            if last is not None and last[1].continues_in(rows) and len(last[1]) + len(rows) <= _SMALL:
                self._blocks[-1] = (last[0], self._declared.concat([last[1], rows]))
            else:
                self._blocks.append((self._end, rows))
            self._end += len(rows)
        return self.drop(self._end - self.dropped - self.max_rows)

    def drop(self, count: int) -> list[_R]:
        """Drop the `count` oldest rows; return them."""
        gone: list[_R] = []
        blocks = list(self._blocks)
        while count > 0 and blocks:
            first, rows = blocks[0]
            if len(rows) <= count:
                gone.append(rows)
                del blocks[0]
            else:
                gone.append(rows.part(slice(count)))
                # A copy, which holds none of their memory.
                blocks[0] = (first + count, rows.part(slice(count, None)).copy())
            count -= len(gone[-1])
        if gone:
            self._blocks = blocks
        return gone

    def clear(self) -> None:
        """Drop all rows; the cursor continues."""
        self._blocks = []

    def blocks(self) -> list[tuple[int, _R]]:
        """Return the blocks, oldest first, each with the number of its first row."""
        return list(self._blocks)

    def rows(self) -> _R:
        return self.joined([rows for _, rows in self.blocks()])

    def parts_since(self, cursor: int, limit: int) -> tuple[int, list[_R]]:
        """Return the number of the first row left from `cursor` on, and up to `limit` rows, by block."""
        end, blocks = self._end, self.blocks()
        first = max(min(cursor, end), blocks[0][0] if blocks else end)
        place = max(bisect_right(blocks, first, key=_first) - 1, 0)
        parts: list[_R] = []
        row, left = first, limit
        for start, rows in blocks[place:]:
            if left <= 0 or row >= start + len(rows):
                break
            parts.append(rows.part(slice(row - start, row - start + left)))
            left -= len(parts[-1])
            row += len(parts[-1])
        return first, parts

    def since(self, cursor: int, limit: int) -> tuple[int, _R]:
        first, parts = self.parts_since(cursor, limit)
        return first, self.joined(parts)

    def joined(self, parts: Sequence[_R]) -> _R:
        return self._declared.concat(parts)


class Readable(Protocol[_P]):
    """Rows that a `Reader` can read: numbered, in parts; the oldest may be gone."""

    @property
    def cursor(self) -> int: ...

    @property
    def dropped(self) -> int: ...

    def parts_since(self, cursor: int, limit: int) -> tuple[int, list[_P]]: ...

    def joined(self, parts: Sequence[_P]) -> _P: ...


class Reader(Generic[_P]):
    """Gets each row of a log once, in order and at its own pace; those dropped before that are left out."""

    def __init__(self, log: Readable[_P], limit: int, cursor: int = 0) -> None:
        self._log = log
        self._limit = limit
        self.cursor = cursor
        """The number of the row that is read next."""

    @property
    def has_more(self) -> bool:
        """Whether there are unread rows."""
        return self.cursor < self._log.cursor

    def parts(self) -> tuple[int, list[_P]]:
        """Return the number of the first row that is new, and the rows, by block."""
        first, parts = self._log.parts_since(self.cursor, self._limit)
        self.cursor = first + sum(map(len, parts))
        return first, parts

    def next(self) -> tuple[int, _P]:
        first, parts = self.parts()
        return first, self._log.joined(parts)


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

    def first_row_of(self, run: int) -> int:
        """Return the first row left of this run or a later one; the cursor where there is none."""
        return next((first for first, block in self.blocks() if block.run >= run), self.cursor)

    def of_runs(self, runs: Container[int]) -> list[RowBlock]:
        """Return the blocks of these runs, oldest first."""
        return [block for _, block in self.blocks() if block.run in runs]

    def task_at(self, row: int) -> tuple[int, int] | None:
        """Return the run and the task number of a row; None if it was dropped."""
        if not self.dropped <= row < self.cursor:
            return None
        blocks = self.blocks()
        first, block = blocks[bisect_right(blocks, row, key=_first) - 1]
        return block.run, int(block.task[row - first])

    def rows_of(self, run: int, tasks: NDArray[np.int32]) -> dict[int, int]:
        """Return the rows of these tasks of a run by their numbers, without those that were dropped."""
        rows: dict[int, int] = {}
        for first, block in self.blocks():
            if block.run == run:
                found = np.flatnonzero(np.isin(block.task, tasks))
                rows.update(zip(block.task[found].tolist(), (found + first).tolist(), strict=True))
        return rows
