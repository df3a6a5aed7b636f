"""Results in the scheduler's cache, as columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Held"]


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """Results in the scheduler's cache, one element each.

    Parameters
    ----------
    prefixes
        Names, by first appearance.
    prefix
        A place in `prefixes`.
    enter_s, leave_s
        Seconds after the recorder's zero.
    value
        What each counts; NaN where that is not known.
    """

    prefixes: tuple[str, ...]
    prefix: NDArray[np.int64]
    enter_s: NDArray[np.float64]
    leave_s: NDArray[np.float64]
    value: NDArray[np.float64]
