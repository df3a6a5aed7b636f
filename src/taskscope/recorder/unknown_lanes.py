"""Lanes for tasks of which only the submission is known, not who ran them."""

from __future__ import annotations

import os

from taskscope.recorder.appended import LaneKey

__all__ = ["UnknownLanes"]

_MAX_LANES = 200


class UnknownLanes:
    """Puts tasks of unknown threads into lanes in which no two overlap.

    Parameters
    ----------
    free_from
        When the last task of every lane so far ended, by worker; ``""`` where that is not known either.
    """

    def __init__(self, free_from: dict[str, list[float]] | None = None) -> None:
        self._free_from = free_from or {}

    def place(self, start: float, stop: float, worker: str = "", label: str = "") -> LaneKey:
        """Return the lane of a task; beyond 200 lanes of a worker all share the last."""
        free = self._free_from.setdefault(worker, [])
        lane = next((i for i, since in enumerate(free) if since <= start), len(free))
        free[lane : lane + 1] = [stop]
        number = 1 + min(lane, _MAX_LANES)
        if worker:
            return LaneKey(0, -number, label=f"{label}, thread unknown {number}", worker=worker)
        return LaneKey(os.getpid(), -number, label=f"worker unknown {number}")

    def copy(self) -> UnknownLanes:
        """Return lanes with the same tasks in them."""
        return UnknownLanes({worker: list(free) for worker, free in self._free_from.items()})
