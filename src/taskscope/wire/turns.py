"""Tasks of an offline page, told so that they compress to about three bytes each.

Rows come in the order in which tasks began. A lane is told by whose turn it was, the one that has been idle
for longest first, for mostly it was that one's; a time by how long after the last stop in the lane it was.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taskscope.model.streams import CPU_SHARES


def turns(tasks: Mapping[str, Any], tick_s: float) -> dict[str, Any]:
    """Return columns of the table ``turns`` for those of ``tasks``; stops and durations are ticks."""
    lane, stop, duration = tasks["lane"], tasks["stop_s"], tasks["duration_s"]
    cpu, took = tasks["cpu_s"], duration * tick_s
    share = np.divide(cpu, took, out=np.where(np.isnan(cpu), np.nan, 0.0), where=took > 0)
    return {
        **tasks,
        "turn": _turns(lane, stop),
        "gap_s": stop - duration - _before(stop, lane),
        "cpu_share": share * CPU_SHARES,
    }


def _turns(lanes: NDArray[np.uint16], stops: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return each row's lane as its place: those that had a task come first, by when that ended."""
    fresh = list(range(int(lanes.max(initial=0)) + 1))
    idle: list[int] = []
    since: list[int] = []
    found = []
    for lane, stop in zip(lanes.tolist(), stops.tolist(), strict=True):
        if lane in idle:
            turn = idle.index(lane)
            del idle[turn], since[turn]
        else:
            turn = len(idle) + fresh.index(lane)
            fresh.remove(lane)
        found.append(turn)
        place = bisect_right(since, stop)
        since.insert(place, stop)
        idle.insert(place, lane)
    return np.array(found, np.int64)


def _before(values: NDArray[np.int64], kind: NDArray[np.uint16]) -> NDArray[np.int64]:
    """Return for each row the value of the row before it that is of the same kind, 0 for the first."""
    order = np.argsort(kind, kind="stable")
    moved = np.concatenate([[0], values[order][:-1]]) if len(values) else values
    moved[np.flatnonzero(np.diff(kind[order].astype(np.int64), prepend=-1))] = 0
    before = np.empty_like(moved)
    before[order] = moved
    return before
