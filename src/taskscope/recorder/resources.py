"""Samples of CPU and memory, as the sampler appends them."""

from __future__ import annotations

from array import array

import numpy as np
from numpy.typing import NDArray

__all__ = ["ResourceLog"]

_MAX_SAMPLES = 500_000
_WIDTH = 5


class ResourceLog:
    """Rows of time, CPU percent (100 per core, NaN unknown), resident bytes, processes, gap before (0, 1)."""

    def __init__(self) -> None:
        self._rows = array("d")
        self.dropped = 0

    def append(
        self, time_s: float, cpu_percent: float, rss_bytes: float, n_processes: int, *, gap: bool
    ) -> None:
        """Append one sample; the oldest go beyond half a million."""
        self._rows.extend((time_s, cpu_percent, rss_bytes, n_processes, gap))
        if len(self._rows) > _MAX_SAMPLES * _WIDTH:
            del self._rows[: _MAX_SAMPLES // 10 * _WIDTH]
            self.dropped += _MAX_SAMPLES // 10

    def between(self, start_s: float, stop_s: float | None) -> NDArray[np.float64]:
        """Return the samples of this time as rows of five columns."""
        rows = np.frombuffer(self._rows.tobytes(), np.float64).reshape(-1, _WIDTH)
        inside = rows[:, 0] >= start_s
        if stop_s is not None:
            inside &= rows[:, 0] <= stop_s
        return rows[inside]
