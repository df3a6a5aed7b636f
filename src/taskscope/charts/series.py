"""Make a long series short enough to draw without losing a peak or a trough."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Series", "running_sum", "thinned"]

Series = tuple[NDArray[np.float64], NDArray[np.float64]]


def running_sum(times: NDArray[np.float64], changes: NDArray[np.float64]) -> Series:
    """Return the moments at which a sum changes, in order, and the sum from then on.

    Examples
    --------
    >>> times, sums = running_sum(np.array([2.0, 1.0, 1.0]), np.array([-3.0, 1.0, 2.0]))
    >>> times.tolist(), sums.tolist()
    ([1.0, 2.0], [3.0, 0.0])
    """
    moments, place = np.unique(times, return_inverse=True)
    return moments, np.cumsum(np.bincount(place, changes, len(moments)))


def thinned(series: Series, n_columns: int) -> Series:
    """Return a series with at most three points in each of `n_columns` spans of time.

    They are the least, the greatest and the last of each, so that no extreme is lost at this resolution.

    Examples
    --------
    >>> times, values = thinned((np.arange(9.0), np.array([0.0, 5, 1, 2, 9, 3, 1, 0, 2])), 2)
    >>> times.tolist(), values.tolist()
    ([0.0, 1.0, 3.0, 4.0, 7.0, 8.0], [0.0, 5.0, 2.0, 9.0, 0.0, 2.0])
    """
    times, values = series
    if len(times) <= 3 * n_columns:
        return series
    span = times[-1] - times[0]
    column = np.minimum(((times - times[0]) / span * n_columns).astype(np.int64), n_columns - 1)
    order = np.lexsort((values, column))
    ends = np.flatnonzero(np.diff(column, append=column[-1] + 1))
    starts = np.concatenate([[0], ends[:-1] + 1])
    kept = np.unique(np.concatenate([order[starts], order[ends], ends]))
    return times[kept], values[kept]
