"""Task blocks spelled out row by row, for tests of everything that carries them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taskscope.model.tables.records import FLAGS, flag_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One task; defaults are those of a task that nothing is known about."""

    key: object = "x"
    group: int = 0
    lane: int = 0
    run: int = 0
    start_s: float = 0.0
    stop_s: float = 1.0
    cpu_s: float = math.nan
    size_bytes: float = math.nan
    status: str = "finished"
    observed_by: str = "worker"
    error: str | None = None


def flags_of(rows: Sequence[Row]) -> NDArray[np.uint8]:
    return np.array([sum(flag_of(name, getattr(row, name)) for name in FLAGS) for row in rows], np.uint8)
