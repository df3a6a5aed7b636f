"""Samples of CPU and memory, as the sampler appends them."""

from __future__ import annotations

from array import array
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["ResourceLimits", "ResourceLog"]

_MAX_SAMPLES = 500_000
_WIDTH = 5


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """What this process may use; None where unknown."""

    n_cores: int | None = None
    memory_bytes: int | None = None


class ResourceLog:
    """Rows of time, CPU percent (100 per core, NaN unknown), resident bytes, processes, gap before (0, 1).

    Parameters
    ----------
    limits
        What the samples are to be compared with.
    """

    def __init__(self, limits: ResourceLimits | None = None) -> None:
        self.limits = limits or ResourceLimits()
        # One tuple, so that a reader never sees rows without their number.
        self._held: tuple[array[float], int] = (array("d"), 0)

    @property
    def dropped(self) -> int:
        """How many samples are no longer held, always the oldest."""
        return self._held[1]

    @property
    def cursor(self) -> int:
        """How many samples were ever appended."""
        rows, dropped = self._held
        return dropped + len(rows) // _WIDTH

    def append(
        self, time_s: float, cpu_percent: float, rss_bytes: float, n_processes: int, *, gap: bool
    ) -> None:
        """Append one sample; the oldest go beyond half a million. For one writer at a time."""
        rows, dropped = self._held
        rows.extend((time_s, cpu_percent, rss_bytes, n_processes, gap))
        if len(rows) > _MAX_SAMPLES * _WIDTH:
            gone = _MAX_SAMPLES // 10
            self._held = rows[gone * _WIDTH :], dropped + gone

    def between(self, start_s: float, stop_s: float | None) -> NDArray[np.float64]:
        """Return the samples of this time as rows of five columns."""
        rows = _rows(self._held[0])
        inside = rows[:, 0] >= start_s
        if stop_s is not None:
            inside &= rows[:, 0] <= stop_s
        return rows[inside]

    def since(self, cursor: int, limit: int) -> tuple[int, NDArray[np.float64]]:
        """Return the first sample still held from `cursor` on, and up to `limit` samples as rows."""
        rows, dropped = self._held
        first = max(min(cursor, self.cursor), dropped)
        start = (first - dropped) * _WIDTH
        return first, _rows(rows[start : start + limit * _WIDTH])


def _rows(flat: array[float]) -> NDArray[np.float64]:
    return np.frombuffer(flat.tobytes(), np.float64).reshape(-1, _WIDTH)
