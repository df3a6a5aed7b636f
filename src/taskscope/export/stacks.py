"""Samples of call stacks as frames of a ``.taskscope`` file, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taskscope.export.checks import number, require, whole_number
from taskscope.export.pack import pack, pieces, unpack
from taskscope.export.records import record_frames
from taskscope.export.schema import STACKS
from taskscope.model.stacks import NO_STACKS, StackColumns, StackRows

__all__ = ["StackParts", "stack_frames"]

_MAX_S = 1e10
_ROWS = tuple(field.name for field in fields(StackRows))


def stack_frames(stacks: StackColumns) -> Iterator[tuple[str, bytes]]:
    """Yield the frames of samples; none where nothing was sampled."""
    if stacks.interval_s is None:
        return
    yield from record_frames("functions", map(asdict, stacks.functions))
    yield from record_frames("stack_prefixes", ({"name": name} for name in stacks.prefixes))
    yield from record_frames("stack_workers", ({"name": name} for name in stacks.workers))
    columns: dict[str, NDArray[Any]] = {"parent": stacks.parent, "function": stacks.function}
    columns |= {name: getattr(stacks.rows, name) for name in _ROWS}
    head = {
        "interval_s": stacks.interval_s,
        "cycle_s": stacks.cycle_s,
        "dropped": stacks.dropped,
        "lengths": {name: len(values) for name, values in columns.items()},
    }
    for piece in pieces(columns):
        yield "STCK", pack(head, piece)


class StackParts:
    """Takes such frames in order, and gives the samples once all came."""

    def __init__(self) -> None:
        self._head: dict[str, Any] = {}
        self._parts: dict[str, list[NDArray[Any]]] = {}

    def add(self, content: bytes) -> None:
        """Take the next piece."""
        self._head, columns = unpack(content, STACKS)
        for name, values in columns.items():
            self._parts.setdefault(name, []).append(values)

    def columns(self, records: Mapping[str, Sequence[Any]]) -> StackColumns:
        """Return the samples; none where pieces are missing.

        Raises
        ------
        DamagedFileError
            If they contradict each other, or the names in `records`.
        """
        joined = {name: np.concatenate(parts) for name, parts in self._parts.items()}
        if not joined or {name: len(values) for name, values in joined.items()} != self._head.get("lengths"):
            return NO_STACKS
        require(joined.keys() == STACKS.keys(), "samples of stacks have all columns")
        stacks = StackColumns(
            functions=tuple(records["functions"]),
            parent=joined["parent"],
            function=joined["function"],
            prefixes=tuple(row["name"] for row in records["stack_prefixes"]),
            workers=tuple(row["name"] for row in records["stack_workers"]),
            rows=StackRows(**{name: joined[name] for name in _ROWS}),
            interval_s=number(self._head.get("interval_s"), "interval_s"),
            # What a cluster profiled has no cycle of ours.
            cycle_s=None if self._head.get("cycle_s") is None else number(self._head["cycle_s"], "cycle_s"),
            dropped=whole_number(self._head.get("dropped"), "the number of dropped samples"),
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
    possible = (np.abs(rows.start) < _MAX_S) & (rows.seconds >= 0) & (rows.seconds < _MAX_S)
    require(possible.all(), "a time must be possible")


def _below(numbers: NDArray[Any], limit: int) -> bool:
    return bool(((numbers >= 0) & (numbers < limit)).all())
