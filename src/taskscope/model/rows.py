"""Join row blocks and their graphs into the columns that the rest of taskscope reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from taskscope.model.columns import RowBlock
from taskscope.model.keys import KeyBlock
from taskscope.model.records import TaskBlock

__all__ = ["Identify", "join_rows"]

Identify: TypeAlias = Callable[[NDArray[np.int32]], tuple[NDArray[np.uint32], KeyBlock]]
"""Gives the group ids and the keys of a run's tasks by their numbers."""

_STATUS_BITS = 7
_OBSERVED_SHIFT = 3


def join_rows(parts: Sequence[tuple[RowBlock, slice, Identify]], zero_s: float = 0.0) -> TaskBlock:
    """Return the rows of all parts in order, with times counted from `zero_s`."""
    named = [identify(block.task[rows]) for block, rows, identify in parts]
    start = _concat([b.start[r] for b, r, _ in parts], np.float64)
    duration = _concat([b.duration[r] for b, r, _ in parts], np.float64)
    flags = _concat([b.flags[r] for b, r, _ in parts], np.uint8)
    return TaskBlock(
        run=_concat([np.full(len(b.task[r]), b.run) for b, r, _ in parts], np.int32),
        group=_concat([group for group, _ in named], np.uint32),
        lane=_concat([b.lane[r] for b, r, _ in parts], np.uint16),
        start=start - zero_s,
        stop=start + duration - zero_s,
        cpu=_concat([b.cpu[r] for b, r, _ in parts], np.float32),
        size=_concat([b.sizes()[r] for b, r, _ in parts], np.float64),
        status=flags & _STATUS_BITS,
        observed=flags >> _OBSERVED_SHIFT,
        keys=KeyBlock.concat([keys for _, keys in named]),
    )


def _concat(arrays: list[NDArray[np.generic]], dtype: type[np.generic]) -> NDArray[np.generic]:
    return np.concatenate([np.empty(0, dtype), *arrays]).astype(dtype, copy=False)
