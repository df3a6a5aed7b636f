"""What writers append to a run: the rows of tasks and activities, and the lanes that they belong to."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from taskscope.model.tables.columns import MEASURED

__all__ = ["FailedTask", "LaneActivity", "LaneBuffer", "LaneKey", "ReportedTasks", "UnseenTask"]


@dataclass(frozen=True, slots=True)
class LaneKey:
    """What makes a lane: the process, the thread, and how deep this compute is nested in that thread.

    A thread of a cluster's worker is known by the worker's address instead of a process. Where it runs
    several tasks at a time, each has a slot of its own.
    """

    pid: int
    thread: int
    depth: int = 0
    label: str = field(default="", compare=False)
    worker: str = ""
    slot: int = 0


class LaneBuffer(list[object]):
    """Rows of one thread in one compute, flat: key, start, stop, and what is measured (`MEASURED`)."""

    __slots__ = ("folded", "key", "open")
    WIDTH = 3 + len(MEASURED)

    def __init__(self, key: LaneKey) -> None:
        self.key = key
        self.open: tuple[object, float] | None = None
        """The key and start of the task that is being run right now."""
        self.folded: tuple[object, float] | None = None
        """The key and start of the last row that was read."""


@dataclass(frozen=True, slots=True, eq=False)
class ReportedTasks:
    """Tasks that a cluster's workers finished, whose lanes may be thousands."""

    keys: list[object]
    lanes: list[LaneKey]
    start: NDArray[np.float64]
    stop: NDArray[np.float64]
    measured: Mapping[str, NDArray[np.float64]]

    def __len__(self) -> int:
        """Return how many they are."""
        return len(self.keys)


@dataclass(frozen=True, slots=True)
class FailedTask:
    """A task that raised."""

    key: object
    lane: LaneKey
    start: float
    stop: float
    cpu: float
    interrupted: bool
    error: str


@dataclass(frozen=True, slots=True)
class UnseenTask:
    """A task whose end no worker reported: only the scheduler saw it being submitted, and how it ended."""

    key: object
    start: float
    stop: float
    status: Literal["finished", "erred", "interrupted", "lost"]
    error: str | None
    """What the scheduler says it raised."""
    worker: str = ""
    """The address of the cluster's worker it was sent to."""
    worker_label: str = ""
    lane: LaneKey | None = None
    """Where its worker last said that it ran."""


@dataclass(frozen=True, slots=True)
class LaneActivity:
    """What a worker of a cluster did for a task besides computing it."""

    key: object
    lane: LaneKey
    kind: int
    start: float
    stop: float
    source: str = ""
    token: int | None = None
    nbytes: float = math.nan
