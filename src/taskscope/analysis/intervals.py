"""How long at least one of many intervals lasted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["union_s"]


def union_s(start: NDArray[np.float64], stop: NDArray[np.float64]) -> float:
    """Return the total time covered by at least one interval, in seconds.

    Examples
    --------
    >>> union_s(np.array([0.0, 1.0, 5.0]), np.array([2.0, 3.0, 6.0]))
    4.0
    """
    if not len(start):
        return 0.0
    order = np.argsort(start, kind="stable")
    start, stop = start[order], stop[order]
    reached = np.maximum.accumulate(stop)
    fresh = stop - np.maximum(start, np.concatenate([[start[0]], reached[:-1]]))
    return float(np.maximum(fresh, 0.0).sum())
