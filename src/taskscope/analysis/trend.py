"""Where the durations of tasks are heading: a straight line through those seen, and how well it is known."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Trend", "trend_of"]

_MIN_SEEN = 8
_ERRORS = 3.0
"""There is a trend if the slope is so many of its standard errors from none."""
_PRECISION = 0.02
"""Durations are taken to scatter about the line by at least so much of their mean."""
_REACH = 16
"""A line through `n` tasks is drawn on through at most so many times `n`."""
_DAMPING = 0.75
"""The best guess goes so far along the line."""


@dataclass(frozen=True, slots=True)
class Trend:
    """Mean seconds per task of those ahead, if durations have a trend.

    Parameters
    ----------
    ends_now_s, guess_s, goes_on_s
        If the trend ends now, the best guess, and if it goes on to the end.
    error_s
        The standard error of `goes_on_s`, were the line straight.
    """

    ends_now_s: float
    guess_s: float
    goes_on_s: float
    error_s: float


def trend_of(durations_s: NDArray[np.float64], ahead: int) -> Trend | None:
    """Return where durations are heading; None where a trend cannot be told from chance.

    Parameters
    ----------
    durations_s
        Seconds of the tasks that have ended, in the order of their ends.
    ahead
        How many tasks are to come.

    Notes
    -----
    Least squares over the number of the task, and the standard error of the line at the mean of the tasks to
    come (N. R. Draper and H. Smith, *Applied Regression Analysis*, 3rd edition, 1998, section 3.1). Trends
    end, so the guess follows the line only in part (E. S. Gardner and E. McKenzie, *Forecasting trends in
    time series*, Management Science 31, 1985).

    Examples
    --------
    >>> trend = trend_of(np.arange(8.0), ahead=8)
    >>> trend.ends_now_s, trend.guess_s, trend.goes_on_s
    (7.0, 10.375, 11.5)
    >>> trend_of(np.tile([1.0, 2.0], 10), ahead=20) is None
    True
    """
    n = len(durations_s)
    if n < _MIN_SEEN:
        return None
    number = np.arange(n) - (n - 1) / 2
    squares = float(number @ number)
    mean_s, slope_s = float(durations_s.mean()), float(number @ durations_s) / squares
    residuals = durations_s - (mean_s + slope_s * number)
    deviation_s = max(math.sqrt(float(residuals @ residuals) / (n - 2)), _PRECISION * mean_s)
    if abs(slope_s) * math.sqrt(squares) <= _ERRORS * deviation_s:
        return None
    last = (n - 1) / 2
    middle = last + (min(ahead, _REACH * n) + 1) / 2
    ends_now_s, goes_on_s = mean_s + slope_s * last, mean_s + slope_s * middle
    guess_s = ends_now_s + _DAMPING * (goes_on_s - ends_now_s)
    return Trend(ends_now_s, guess_s, goes_on_s, deviation_s * math.sqrt(1 / n + middle**2 / squares))
