"""What workers of a cluster did for tasks besides computing them, and what they sent to each other."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["ACTIVITIES", "FAILED_ATTEMPT", "NO_ACTIVITIES", "ActivityColumns", "ActivityRows", "Transfer"]

ACTIVITIES = ("transfer", "disk-read", "disk-write", "deserialize", "serialize", "other", "failed-attempt")
"""Kinds of activity by their code; computing is what the rows of tasks say.

A failed attempt is computing that raised and was followed by another attempt, for the task has ``retries``.
"""
FAILED_ATTEMPT = ACTIVITIES.index("failed-attempt")


@dataclass(frozen=True, slots=True, eq=False)
class ActivityRows:
    """Activities as equally long columns.

    Parameters
    ----------
    run, task
        ``i4``: the run, and the task's number in its graph.
    lane
        ``u2``: the lane of the task.
    kind
        ``u1`` codes into `ACTIVITIES`.
    start
        ``f8`` seconds after the recorder's zero.
    duration
        ``f4`` seconds.
    source
        ``u4``: the worker that data came from, or what a failed attempt raised, as a place in
        `ActivityColumns.sources`; 0 for none.
    nbytes
        ``f8``: how much came from there, NaN where unknown.
    """

    run: NDArray[np.int32]
    task: NDArray[np.int32]
    lane: NDArray[np.uint16]
    kind: NDArray[np.uint8]
    start: NDArray[np.float64]
    duration: NDArray[np.float32]
    source: NDArray[np.uint32]
    nbytes: NDArray[np.float64]

    def __len__(self) -> int:
        """Return the number of activities."""
        return len(self.start)

    def part(self, rows: slice | NDArray[np.generic]) -> ActivityRows:
        """Return these rows."""
        return ActivityRows(*(getattr(self, f.name)[rows] for f in fields(self)))

    @staticmethod
    def empty() -> ActivityRows:
        """Return no rows."""
        codes = ("i4", "i4", "u2", "u1", "f8", "f4", "u4", "f8")
        return ActivityRows(*(np.empty(0, code) for code in codes))


@dataclass(frozen=True, slots=True, eq=False)
class ActivityColumns:
    """Activities, and the names that they refer to.

    Parameters
    ----------
    rows
        The activities.
    sources
        Addresses of workers, and what failed attempts raised; the first is none.
    dropped
        How many older activities are no longer held.
    """

    rows: ActivityRows
    sources: tuple[str, ...]
    dropped: int = 0


NO_ACTIVITIES = ActivityColumns(ActivityRows.empty(), ("",))
"""What a recording has where nothing but computing was seen."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """Data that went from one worker to another, as one of them logged it.

    Parameters
    ----------
    worker
        The address of the worker whose log it is.
    peer
        The address of the other one; ``""`` for a client or the scheduler, which fetched a result.
    direction
        Whether it came to the worker or left it.
    start_s, stop_s
        Seconds after the recorder's zero.
    nbytes
        How much it was, as the worker measures results.
    compressed_bytes
        How much it was on the wire; only the sender knows.
    n_keys
        How many results.
    keys
        Texts of some of them.
    """

    worker: str
    peer: str
    direction: Literal["incoming", "outgoing"]
    start_s: float
    stop_s: float
    nbytes: float | None
    compressed_bytes: float | None
    n_keys: int
    keys: tuple[str, ...]
