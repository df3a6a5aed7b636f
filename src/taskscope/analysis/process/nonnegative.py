"""Non-negative least squares, and how far its answers vary from sample to sample."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taskscope.analysis.quantities import plural

__all__ = ["MIN_SAMPLES", "fit_counts", "fitted", "too_few"]

MIN_SAMPLES = 8
"""Fewer tell nothing of what several prefixes have."""

_MAX_ROUNDS = 400
_CLOSE = 1e-5
_SEED = 20_260_101


def fitted(
    columns: NDArray[np.float64], target: NDArray[np.float64], counts: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return, for each row of `counts`, the coefficients, none negative, with which columns fit the target.

    Examples
    --------
    >>> columns = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> fitted(columns, columns @ [2.0, 3.0] + [0.0, 0.0, 0.0], np.ones((1, 3))).round(3).tolist()
    [[2.0, 3.0]]
    >>> fitted(columns, columns @ [2.0, -3.0], np.ones((1, 3))).round(3).tolist()
    [[0.5, 0.0]]
    """
    # Coordinate descent on the normal equations converges in any order: V. Franc, V. Hlaváč, M. Navara,
    # "Sequential Coordinate-Wise Algorithm for the Non-negative Least Squares Problem", CAIP 2005.
    scale = np.sqrt((columns**2).mean(axis=0))
    scale[scale == 0] = 1.0
    columns = columns / scale
    gram = np.einsum("bm,mp,mq->bpq", counts, columns, columns, optimize=True)
    slope = -(counts * target) @ columns
    found = np.zeros_like(slope)
    for _ in range(_MAX_ROUNDS):
        before = found.copy()
        for k in range(columns.shape[1]):
            steepness = gram[:, k, k]
            step = np.divide(slope[:, k], steepness, out=np.zeros_like(steepness), where=steepness > 0)
            change = np.maximum(found[:, k] - step, 0.0) - found[:, k]
            slope += gram[:, :, k] * change[:, None]
            found[:, k] += change
        if np.abs(found - before).max(initial=0.0) <= _CLOSE * found.max(initial=0.0):
            break
    coefficients: NDArray[np.float64] = found / scale
    return coefficients


def fit_counts(n_samples: int, n_resampled: int) -> NDArray[np.float64]:
    """Return how often each sample counts, a row for each fit: once in the first, then as it is drawn.

    A moving block bootstrap, always the same. Neighbours are drawn together, as they are not independent:
    blocks of the cube root of their number (H. R. Künsch, Annals of Statistics 17, 1989).
    """
    length = max(round(n_samples ** (1 / 3)), 1)
    n_blocks = -(-n_samples // length)
    first = np.random.default_rng(_SEED).integers(0, n_samples - length + 1, (n_resampled, n_blocks))
    drawn = (first[:, :, None] + np.arange(length)).reshape(n_resampled, -1)[:, :n_samples]
    counts = np.zeros((n_resampled, n_samples))
    np.add.at(counts, (np.arange(n_resampled)[:, None], drawn), 1.0)
    return np.concatenate([np.ones((1, n_samples)), counts])


def too_few(n_samples: int, unknown: str) -> str | None:
    """Return a note on what so few samples do not tell; None where there are enough.

    Examples
    --------
    >>> too_few(1, "beside which tasks")
    'cannot say beside which tasks, because there is only 1 sample; 8 are needed: a shorter dt has more'
    """
    if n_samples >= MIN_SAMPLES:
        return None
    there_are = f"there {'is' if n_samples == 1 else 'are'} only {n_samples} {plural('sample', n_samples)}"
    return f"cannot say {unknown}, because {there_are}; {MIN_SAMPLES} are needed: a shorter dt has more"
