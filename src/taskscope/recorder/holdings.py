"""What a cluster's workers were seen to hold: told by a source, folded into rows by the one reader."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from taskscope.model.held import HeldRows
from taskscope.recorder.tables import GroupTable

__all__ = ["Holding", "HoldingLog"]


class Holding(NamedTuple):
    """How much of a group workers hold.

    Parameters
    ----------
    key
        Any key of the group.
    n_keys
        How many results, each counted as often as workers hold it.
    nbytes
        Bytes of those whose size is known.
    n_unsized
        How many have none.
    """

    key: object
    n_keys: int
    nbytes: float
    n_unsized: int


class HoldingLog:
    """Looks at what workers hold, in the order they were made."""

    def __init__(self) -> None:
        self._looks: deque[tuple[int, float, Sequence[Holding]]] = deque()

    def note(self, run: int, time_s: float, holdings: Sequence[Holding]) -> None:
        """Tell of the groups of a run that changed, seconds after the recorder's zero; from any thread."""
        self._looks.append((run, time_s, holdings))

    def fold(self, groups: GroupTable) -> Iterator[tuple[int, HeldRows]]:
        """Yield the rows of what was told since, each with its run; for the one reader that folds."""
        while self._looks:
            run, time_s, holdings = self._looks.popleft()
            n = len(holdings)
            n_keys = np.array([h.n_keys for h in holdings], np.uint32)
            yield (
                run,
                HeldRows(
                    run=np.full(n, run, np.int32),
                    group=np.array(groups.ids([h.key for h in holdings]), np.uint32),
                    time=np.full(n, time_s),
                    n_keys=n_keys,
                    nbytes=np.array([h.nbytes for h in holdings], np.float64),
                    n_unsized=np.array([h.n_unsized for h in holdings], np.uint32),
                    value=np.zeros(n),
                    n_unvalued=n_keys,
                ),
            )
