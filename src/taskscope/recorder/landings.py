"""What landed in schedulers' caches, or does not have to, handed on as it is folded to those who follow."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Landed", "LandingLog"]


@dataclass(frozen=True, slots=True, eq=False)
class Landed:
    """Tasks of one run: when their results entered the scheduler's cache, or what else is known of them.

    Parameters
    ----------
    run
        The run.
    tasks
        ``i4``: their numbers in its graph.
    enter
        Seconds after the recorder's zero; None where this does not tell it.
    values
        What the user's metric gave for the results; None likewise.
    spared
        Whether they do not have to run; None likewise.
    """

    run: int
    tasks: NDArray[np.int32]
    enter: NDArray[np.float64] | None = None
    values: NDArray[np.float64] | None = None
    spared: NDArray[np.bool_] | None = None


class LandingLog:
    """Keeps nothing itself: each reader's queue has what that reader has not taken."""

    def __init__(self) -> None:
        self._readers: list[deque[Landed]] = []

    def append(self, landed: Landed) -> None:
        """Hand on; for the one thread that folds."""
        for reader in self._readers:
            reader.append(landed)

    def follow(self) -> deque[Landed]:
        """Return a queue that gets all from now on, until `leave`."""
        queue: deque[Landed] = deque()
        self._readers.append(queue)
        return queue

    def leave(self, queue: deque[Landed]) -> None:
        """Hand nothing more to this queue."""
        self._readers = [reader for reader in self._readers if reader is not queue]
