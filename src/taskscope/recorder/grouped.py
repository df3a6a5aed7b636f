"""Sums over rows, by group: what totals and progress are counted from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taskscope.model.columns import RowBlock, split_flags
from taskscope.model.records import STATUSES

__all__ = ["GroupSums", "sum_by_group"]


@dataclass(slots=True)
class GroupSums:
    """What is summed over the tasks of one group.

    Parameters
    ----------
    counts
        Tasks by status code.
    duration_s, cpu_s, result_bytes
        Sums over those where it is known.
    """

    counts: list[int]
    duration_s: float = 0.0
    cpu_s: float = 0.0
    result_bytes: float = 0.0

    @classmethod
    def zero(cls) -> GroupSums:
        """Return the sums over no task."""
        return cls([0] * len(STATUSES))

    def add(self, other: GroupSums) -> None:
        """Add the sums over other tasks."""
        self.counts = [mine + theirs for mine, theirs in zip(self.counts, other.counts, strict=True)]
        self.duration_s += other.duration_s
        self.cpu_s += other.cpu_s
        self.result_bytes += other.result_bytes


def sum_by_group(block: RowBlock, group: NDArray[np.uint32]) -> Iterator[tuple[int, GroupSums]]:
    """Yield the sums over each group of a block's rows, by ascending group id.

    Parameters
    ----------
    block
        The rows.
    group
        The group id of every row.
    """
    ids, place = np.unique(group, return_inverse=True)
    status, _ = split_flags(block.flags)
    n_statuses = len(STATUSES)
    counts = np.bincount(place * n_statuses + status, minlength=len(ids) * n_statuses)
    columns = (
        counts.reshape(-1, n_statuses),
        np.bincount(place, block.duration),
        np.bincount(place, np.nan_to_num(block.cpu)),
        np.bincount(place, np.nan_to_num(block.sizes())),
    )
    for group_id, *sums in zip(ids.tolist(), *(column.tolist() for column in columns), strict=True):
        yield group_id, GroupSums(*sums)
