"""Samples of call stacks as frames of a ``.taskscope`` file, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.redaction import Redaction, without_credentials
from taskscope.export.checks import check_columns, require, seconds, whole_number
from taskscope.export.pack import Packed, pack, pieces, unpack
from taskscope.export.records import record_frames
from taskscope.export.schema import STACKS
from taskscope.model.stacks import NO_STACKS, StackColumns, StackRows
from taskscope.record.tables.stacklog import StackLog, StackPlace
from taskscope.schema import columns_of

__all__ = ["GrowingStacks", "StackParts", "stack_frames"]

_ROWS = tuple(column.name for column in columns_of(StackRows))


def stack_frames(stacks: StackColumns) -> Iterator[tuple[str, bytes]]:
    """Yield the frames of samples; none where nothing was sampled."""
    if stacks.interval_s is None:
        return
    yield from record_frames("functions", map(asdict, stacks.functions))
    yield from record_frames("stack_prefixes", ({"name": name} for name in stacks.prefixes))
    yield from record_frames("stack_workers", ({"name": name} for name in stacks.workers))
    columns = {"parent": stacks.parent, "function": stacks.function, **stacks.rows.arrays()}
    head = {
        "interval_s": stacks.interval_s,
        "cycle_s": stacks.cycle_s,
        "dropped": stacks.dropped,
        "lengths": {name: len(values) for name, values in columns.items()},
    }
    for piece in pieces(columns):
        yield "STCK", pack(head, piece)


class GrowingStacks:
    """Says each sample once while more are taken, and those of the cycle that goes on anew each time.

    Parameters
    ----------
    log
        What to tell of.
    first_run
        The first run whose samples are told.
    redaction
        What becomes of names.
    """

    def __init__(self, log: StackLog, first_run: int, redaction: Redaction) -> None:
        self._log = log
        self._first_run = first_run
        self._redaction = redaction
        self._place = StackPlace()
        self._is_open = False

    def next(self) -> Iterator[tuple[str, bytes]]:
        """Yield frames with everything that is new; none while nothing is sampled."""
        if self._log.interval_s is None:
            return
        is_first = self._place == StackPlace()
        part = self._log.since(self._place)
        self._place = part.place
        yield from record_frames("functions", map(asdict, map(self._redaction.function, part.functions)))
        yield from record_frames("stack_prefixes", ({"name": self._redaction.name(n)} for n in part.prefixes))
        workers = ({"name": without_credentials(name)} for name in part.workers)
        yield from record_frames("stack_workers", workers)
        rows, still_open = self._mine(part.rows), self._mine(part.open_rows)
        if is_first or len(part.parent) or len(rows):
            yield self._frame({"parent": part.parent, "function": part.function, **rows.arrays()})
        if self._is_open or len(still_open):
            yield self._frame(still_open.arrays(), is_open=True)
        self._is_open = len(still_open) > 0

    def _mine(self, rows: StackRows) -> StackRows:
        return rows.part(rows.run >= self._first_run)

    def _frame(self, columns: Packed, *, is_open: bool = False) -> tuple[str, bytes]:
        head = {"interval_s": self._log.interval_s, "cycle_s": self._log.cycle_s, "open": is_open}
        return "STKP", pack(head, columns)


class StackParts:
    """Takes such frames in order, and gives the samples once all came."""

    def __init__(self) -> None:
        self._head: dict[str, Any] = {}
        self._parts: dict[str, list[NDArray[Any]]] = {}
        self._open: dict[str, NDArray[Any]] = {}
        self._grows = False

    def add(self, content: bytes) -> None:
        """Take the next piece."""
        self._head, columns = unpack(content, STACKS)
        for name, values in columns.items():
            self._parts.setdefault(name, []).append(values)

    def add_part(self, content: bytes) -> None:
        """Take what was new while samples were taken."""
        self._head, columns = unpack(content, STACKS)
        self._grows = True
        require(
            columns.keys() in ({*_ROWS}, {*_ROWS, "parent", "function"}), "samples of stacks have all columns"
        )
        require(len({len(columns[name]) for name in _ROWS}) == 1, "columns of samples must be equally long")
        if self._head.get("open") is True:
            self._open = columns
            return
        # What was counted so far of a cycle is told again at its end.
        self._open = {}
        for name, values in columns.items():
            self._parts.setdefault(name, []).append(values)

    def columns(self, records: Mapping[str, Sequence[Any]]) -> StackColumns:
        """Return the samples; none where pieces are missing.

        Raises
        ------
        DamagedFileError
            If they contradict each other, or the names in `records`.
        """
        parts = {name: [*found, *self._last(name)] for name, found in self._parts.items()}
        joined = {name: np.concatenate(found) for name, found in parts.items()}
        if self._grows:
            return self._stacks(joined, records).pruned()
        if not joined or {name: len(values) for name, values in joined.items()} != self._head.get("lengths"):
            return NO_STACKS
        return self._stacks(joined, records)

    def _last(self, name: str) -> list[NDArray[Any]]:
        return [self._open[name]] if name in self._open else []

    def _stacks(
        self, joined: Mapping[str, NDArray[Any]], records: Mapping[str, Sequence[Any]]
    ) -> StackColumns:
        require(joined.keys() == STACKS.keys(), "samples of stacks have all columns")
        stacks = StackColumns(
            functions=tuple(records["functions"]),
            parent=joined["parent"],
            function=joined["function"],
            prefixes=tuple(row.name for row in records["stack_prefixes"]),
            workers=tuple(row.name for row in records["stack_workers"]),
            rows=StackRows(**{name: joined[name] for name in _ROWS}),
            interval_s=seconds(self._head.get("interval_s"), "interval_s"),
            # What a cluster profiled has no cycle of ours.
            cycle_s=None if self._head.get("cycle_s") is None else seconds(self._head["cycle_s"], "cycle_s"),
            dropped=whole_number(self._head.get("dropped", 0), "the number of dropped samples"),
        )
        _check(stacks)
        return stacks


def _check(stacks: StackColumns) -> None:
    rows, n = stacks.rows, len(stacks.parent)
    require(len(stacks.function) == n, "a call has a function")
    require(((stacks.parent >= -1) & (stacks.parent < np.arange(n))).all(), "calls stand after their caller")
    require(_below(stacks.function, len(stacks.functions)), "a function must be known")
    require(len({len(getattr(rows, name)) for name in _ROWS}) == 1, "columns of samples must be equally long")
    require(_below(rows.prefix, len(stacks.prefixes)), "the prefix of a sample must be known")
    require(_below(rows.worker, len(stacks.workers)), "the worker of a sample must be known")
    require(((rows.node >= -1) & (rows.node < n)).all(), "the call of a sample must be known")
    check_columns(StackRows, rows.arrays())
    require((rows.seconds >= 0).all(), "a time must be possible")


def _below(numbers: NDArray[Any], limit: int) -> bool:
    return bool(((numbers >= 0) & (numbers < limit)).all())
