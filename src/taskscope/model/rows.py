"""Join row blocks and their graphs into the columns that the rest of taskscope reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from taskscope.model.columns import RowBlock, split_flags
from taskscope.model.keys import KeyBlock
from taskscope.model.records import TaskBlock

__all__ = ["Identify", "Part", "join_rows"]

Identify: TypeAlias = Callable[[NDArray[np.int32]], tuple[NDArray[np.uint32], KeyBlock]]
"""Gives the group ids and the keys of a run's tasks by their numbers."""

Part: TypeAlias = tuple[RowBlock, Identify, Mapping[int, str]]
"""Rows of a block, what names the run's tasks, and the run's errors by the numbers of the tasks."""


def join_rows(parts: Sequence[Part], zero_s: float = 0.0) -> TaskBlock:
    """Return the rows of all parts in order, with times counted from `zero_s`."""
    named = [identify(block.task) for block, identify, _ in parts]
    starts = [np.empty(0), *(b.start for b, *_ in parts)]
    durations = [np.empty(0, np.float32), *(b.duration for b, *_ in parts)]
    start = np.concatenate(starts) - zero_s
    status, observed = split_flags(np.concatenate([np.empty(0, np.uint8), *(b.flags for b, *_ in parts)]))
    return TaskBlock(
        run=np.repeat(np.array([b.run for b, *_ in parts], np.int32), [len(group) for group, _ in named]),
        group=np.concatenate([np.empty(0, np.uint32), *(group for group, _ in named)]),
        lane=np.concatenate([np.empty(0, np.uint16), *(b.lane for b, *_ in parts)]),
        start=start,
        stop=start + np.concatenate(durations),
        cpu=np.concatenate([np.empty(0, np.float32), *(b.cpu for b, *_ in parts)]),
        size=np.concatenate([np.empty(0), *(b.sizes() for b, *_ in parts)]),
        status=status,
        observed=observed,
        keys=KeyBlock.concat([keys for _, keys in named]),
        errors=_join_errors(parts),
    )


def _join_errors(parts: Sequence[Part]) -> dict[int, str]:
    found: dict[int, str] = {}
    first = 0
    for block, _, errors in parts:
        tasks = block.task
        if errors:
            failed = np.flatnonzero(split_flags(block.flags)[0])
            texts = map(errors.get, tasks[failed].tolist())
            found |= {first + i: t for i, t in zip(failed.tolist(), texts, strict=True) if t is not None}
        first += len(tasks)
    return found
