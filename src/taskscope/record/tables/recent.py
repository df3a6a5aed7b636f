"""Records in order: bounded, with a cursor, and read like rows of a log."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterator, Sequence
from itertools import count
from typing import Any, Generic, TypeVar

_T = TypeVar("_T")


class RecentLog(Generic[_T]):
    """Records in the order they were appended; the oldest go first."""

    def __init__(self, max_records: int) -> None:
        self.max_records = max_records
        # Each with its number, so that a reader never sees records without theirs.
        self._held: deque[tuple[int, _T]] = deque(maxlen=max_records)
        self._numbers = count()

    def append(self, record: _T) -> None:
        """Append one; safe from any thread."""
        self._held.append((next(self._numbers), record))

    @property
    def cursor(self) -> int:
        """The number of the next record; 0 where none is."""
        try:
            return self._held[-1][0] + 1
        except IndexError:
            return 0

    @property
    def dropped(self) -> int:
        """How many records were dropped, the oldest first."""
        kept = self._held.copy()
        return kept[0][0] if kept else 0

    def parts_since(self, cursor: int, limit: int) -> tuple[int, list[list[_T]]]:
        """Return the number of the first record kept from `cursor` on, and those, up to `limit`."""
        new = [(own, record) for own, record in self._held.copy() if own >= cursor][:limit]
        return (new[0][0] if new else cursor), [[record for _, record in new]]

    def joined(self, parts: Sequence[list[_T]]) -> list[_T]:
        return [record for part in parts for record in part]

    def between(self, runs: Container[int], start_s: float, until_s: float) -> tuple[_T, ...]:
        """Return the records of these runs, or where they are of no run, of this time."""
        return tuple(record for record in self if is_within(record, runs, start_s, until_s))

    def clear(self) -> None:
        """Drop all records; their numbers continue."""
        self._held.clear()

    def __iter__(self) -> Iterator[_T]:
        return iter([record for _, record in self._held.copy()])


def is_within(record: Any, runs: Container[int], start_s: float, until_s: float) -> bool:  # noqa: ANN401 - any
    """Return whether a record is of one of these runs, or where it is of no run, of this time."""
    return record.run in runs if hasattr(record, "run") else start_s <= record.time_s <= until_s
