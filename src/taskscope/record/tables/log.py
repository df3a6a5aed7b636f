"""An append-only table: blocks of rows in order, a cursor, a bound, and readers."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence, Sized
from itertools import chain, starmap
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from taskscope.model.tables.columns import RowBlock
from taskscope.record.tables import packing
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
        # What a subclass keeps as one may be several, see `_opened`.
        self._blocks: list[tuple[int, Any]] = []
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
            ((first, rows), *others) = self._opened(*blocks[0])
            if len(rows) <= count:
                gone.append(rows)
                blocks[:1] = others
            else:
                gone.append(rows.part(slice(count)))
                # A copy, which holds none of their memory.
                blocks[:1] = [(first + count, rows.part(slice(count, None)).copy()), *others]
            count -= len(gone[-1])
        if gone:
            self._blocks = blocks
        return gone

    def clear(self) -> None:
        """Drop all rows; the cursor continues."""
        self._blocks = []

    def blocks(self) -> list[tuple[int, _R]]:
        """Return the blocks, oldest first, each with the number of its first row."""
        return [block for kept in list(self._blocks) for block in self._opened(*kept)]

    def _opened(self, first: int, rows: _R) -> list[tuple[int, _R]]:
        """Return the blocks of one that is kept, each with the number of its first row."""
        return [(first, rows)]

    def rows(self) -> _R:
        return self.joined([rows for _, rows in self.blocks()])

    def parts_since(self, cursor: int, limit: int) -> tuple[int, list[_R]]:
        """Return the number of the first row left from `cursor` on, and up to `limit` rows, by block."""
        end, kept = self._end, list(self._blocks)
        first = max(min(cursor, end), kept[0][0] if kept else end)
        place = max(bisect_right(kept, first, key=_first) - 1, 0)
        parts: list[_R] = []
        row, left = first, limit
        for start, rows in chain.from_iterable(starmap(self._opened, kept[place:])):
            if left <= 0:
                break
            if row >= start + len(rows):
                continue
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


_N_SMALL = 1_000
"""Most rows that are packed together: larger blocks take little more than their rows."""


class PackedBlocks:
    """Small blocks of tasks that followed one another: each takes a fiftieth of what it takes as arrays."""

    __slots__ = ("_bytes", "runs")

    def __init__(self, blocks: Sequence[tuple[int, RowBlock]]) -> None:
        self.runs = frozenset(block.run for _, block in blocks)
        self._bytes = packing.pack(blocks)

    def opened(self) -> list[tuple[int, RowBlock]]:
        blocks: list[tuple[int, RowBlock]] = packing.unpack(self._bytes)
        return blocks


class TaskLog(Log[RowBlock]):
    """Tasks that reached an end, each block of one run."""

    def __init__(self, max_rows: int) -> None:
        super().__init__(RowBlock, max_rows)
        self._n_old = 0
        """How many of the oldest blocks are packed, or too large for it."""

    def append(self, rows: RowBlock) -> list[RowBlock]:
        gone = super().append(rows)
        old = self._blocks[self._n_old : self._n_old + packing.N_PACKED]
        if len(self._blocks) - self._n_old >= packing.N_OPEN + packing.N_PACKED:
            is_small = sum(len(block) for _, block in old) <= _N_SMALL
            kept: list[tuple[int, Any]] = [(old[0][0], PackedBlocks(old))] if is_small else old
            self._blocks = [
                *self._blocks[: self._n_old],
                *kept,
                *self._blocks[self._n_old + packing.N_PACKED :],
            ]
            self._n_old += len(kept)
        return gone

    def drop(self, count: int) -> list[RowBlock]:
        n = len(self._blocks)
        gone = super().drop(count)
        # A packed one that was opened counts as many again.
        self._n_old = max(self._n_old + len(self._blocks) - n, 0)
        return gone

    def clear(self) -> None:
        super().clear()
        self._n_old = 0

    def _opened(self, first: int, rows: RowBlock | PackedBlocks) -> list[tuple[int, RowBlock]]:
        return rows.opened() if isinstance(rows, PackedBlocks) else [(first, rows)]

    def _with_runs(self, is_wanted: Callable[[int], bool]) -> Iterator[tuple[int, RowBlock]]:
        """Yield the blocks of these runs, oldest first, each with the number of its first row."""
        for first, kept in list(self._blocks):
            if not isinstance(kept, PackedBlocks) or any(map(is_wanted, kept.runs)):
                yield from ((n, rows) for n, rows in self._opened(first, kept) if is_wanted(rows.run))

    def first_row_of(self, run: int) -> int:
        """Return the first row left of this run or a later one; the cursor where there is none."""
        return next((first for first, _ in self._with_runs(lambda own: own >= run)), self.cursor)

    def of_runs(self, runs: Container[int]) -> list[RowBlock]:
        """Return the blocks of these runs, oldest first."""
        return [block for _, block in self._with_runs(runs.__contains__)]

    def task_at(self, row: int) -> tuple[int, int] | None:
        """Return the run and the task number of a row; None if it was dropped."""
        first, parts = self.parts_since(row, 1)
        return (parts[0].run, int(parts[0].task[0])) if parts and first == row else None

    def rows_of(self, run: int, tasks: NDArray[np.int32]) -> dict[int, int]:
        """Return the rows of these tasks of a run by their numbers, without those that were dropped."""
        rows: dict[int, int] = {}
        for first, block in self._with_runs(run.__eq__):
            found = np.flatnonzero(np.isin(block.task, tasks))
            rows.update(zip(block.task[found].tolist(), (found + first).tolist(), strict=True))
        return rows
