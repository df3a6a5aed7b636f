"""What rows and graph alone count too much of: tasks that do not have to run, and rows that were replaced."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from taskscope.recorder.fold import take
from taskscope.recorder.graph import GraphBuilder
from taskscope.recorder.runlog import RunLog

__all__ = ["Deductions", "Told"]

_MAX_TOLD = 5_000
"""Most keys of each kind that are taken at a time."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a log said, flat as it is there."""

    spared: list[object]
    superseded: list[object]


class Deductions:
    """What to take off the counts of one run, by group id."""

    def __init__(self) -> None:
        self.spared: Counter[int] = Counter()
        """How many tasks do not have to run."""
        self._superseded: Counter[tuple[int, int]] = Counter()

    def superseded(self, group: int, status: int) -> int:
        """Return how many rows of this status count no more: the task has another, or is in flight."""
        return self._superseded[group, status]

    @staticmethod
    def slices_waiting(log: RunLog) -> float:
        """Return how often `take` must be called to take all that was said so far."""
        return max(len(log.spared), len(log.superseded)) / (2 * _MAX_TOLD)

    @staticmethod
    def take(log: RunLog) -> Told:
        """Take a bounded part of what was said."""
        return Told(take(log.spared, 2, _MAX_TOLD), take(log.superseded, 2, _MAX_TOLD))

    def fold(self, told: Told, builder: GraphBuilder) -> tuple[NDArray[np.int32], NDArray[np.bool_]] | None:
        """Count what was said; return whether tasks do not have to run, where that is new, else None."""
        for group, status in zip(
            builder.groups(builder.numbers(told.superseded[::2])).tolist(), told.superseded[1::2], strict=True
        ):
            self._superseded[group, cast("int", status)] += 1
        if not told.spared:
            return None
        tasks, are_spared = builder.spare(
            builder.numbers(told.spared[::2]), np.array(told.spared[1::2], bool)
        )
        for group, is_spared in zip(builder.groups(tasks).tolist(), are_spared.tolist(), strict=True):
            self.spared[group] += 1 if is_spared else -1
        return (tasks, are_spared) if len(tasks) else None
