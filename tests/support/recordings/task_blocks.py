"""Task blocks spelled out row by row, for tests of everything that carries them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taskscope.model.keys import KeyBuilder
from taskscope.model.tables.records import FLAGS, TaskBlock, flag_of


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


def block_of(rows: Sequence[Row]) -> TaskBlock:
    keys = KeyBuilder()
    keys.extend([row.key for row in rows])
    return TaskBlock(
        np.array([r.run for r in rows], "i4"),
        np.array([r.group for r in rows], "u4"),
        np.array([r.lane for r in rows], "u2"),
        np.array([r.start_s for r in rows], "f8"),
        np.array([r.stop_s for r in rows], "f8"),
        flags_of(rows),
        keys.build(),
        {i: row.error for i, row in enumerate(rows) if row.error is not None},
        cpu_s=np.array([r.cpu_s for r in rows], "f4"),
        nbytes=np.array([r.size_bytes for r in rows], "f8"),
    )
