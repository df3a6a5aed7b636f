"""CPU and memory in a few numbers: of the last sample, and the most of all."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from taskscope.model.resources import ResourceRows

__all__ = ["ResourceTotals", "add_samples"]


@dataclass(frozen=True, slots=True)
class ResourceTotals:
    """None where nothing was measured; CPU in percent, 100 per core.

    `n_gaps` is how often samples were missing.
    """

    n_samples: int = 0
    cpu_percent: float | None = None
    cpu_peak_percent: float | None = None
    rss_bytes: float | None = None
    rss_peak_bytes: float | None = None
    n_processes: int = 0
    n_gaps: int = 0


def add_samples(totals: ResourceTotals, samples: ResourceRows) -> ResourceTotals:
    """Return the totals with further samples.

    Examples
    --------
    >>> samples = ResourceRows.of([(0.0, np.nan, 5e6, 1, 0), (0.25, 80.0, 4e6, 1, 0)])
    >>> totals = add_samples(ResourceTotals(), samples)
    >>> totals.cpu_percent, totals.rss_bytes, totals.rss_peak_bytes
    (80.0, 4000000.0, 5000000.0)
    """
    if not len(samples):
        return totals
    cpu = float(samples.cpu_percent[-1])
    known = samples.cpu_percent[~np.isnan(samples.cpu_percent)].tolist()
    return ResourceTotals(
        n_samples=totals.n_samples + len(samples),
        cpu_percent=None if math.isnan(cpu) else cpu,
        cpu_peak_percent=max([*_some(totals.cpu_peak_percent), *known], default=None),
        rss_bytes=float(samples.rss_bytes[-1]),
        rss_peak_bytes=max([*_some(totals.rss_peak_bytes), float(samples.rss_bytes.max())]),
        n_processes=int(samples.n_processes[-1]),
        n_gaps=totals.n_gaps + int(np.count_nonzero(samples.gap)),
    )


def _some(value: float | None) -> list[float]:
    return [] if value is None else [value]
