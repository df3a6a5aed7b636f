"""Allocations at the peak of memory, by task and source line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from taskscope.model.tables.records import Run, end_s
from taskscope.schema import About, Rows


@dataclass(frozen=True, slots=True)
class PeakLine:
    """The memory that a source line had allocated for a task at the peak, and not yet freed."""

    peak: Annotated[int, About("Which peak: each time that memory was recorded has its own.")]
    run: Annotated[
        int | None,
        About("The compute; none: allocated by no task.", refers="runs.run"),
    ]
    key: Annotated[str | None, About("The task; none: no task, or several, as few are told apart.")]
    prefix: Annotated[str | None, About("The task's prefix.")]
    file: Annotated[str | None, About("The file of the line; none: no task, or no Python line of one.")]
    function: Annotated[str | None, About("The function that the line is in.")]
    line: Annotated[int | None, About("The number of the line in its file.")]
    nbytes: Annotated[int, About("How much, with what libraries allocated for it.", unit="bytes")]
    n_allocations: Annotated[int, About("In how many pieces.")]


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """The limits of this process; None where unknown."""

    n_cores: int | None = None
    memory_bytes: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ResourceRows(Rows):
    """Samples of the process and its children."""

    time: Annotated[NDArray[np.float64], About("When it was.", unit="s", is_time=True)]
    cpu_percent: Annotated[
        NDArray[np.float64],
        About(
            "CPU since the sample before, 100 per core, without taskscope's own threads (Linux).",
            unit="percent",
            optional=True,
        ),
    ]
    rss_bytes: Annotated[NDArray[np.float64], About("Memory in use.", unit="bytes")]
    n_processes: Annotated[NDArray[np.float64], About("How many processes these are.", kind="whole number")]
    gap: Annotated[
        NDArray[np.float64], About("Whether samples are missing before this one.", kind="yes or no")
    ]
    ready_threads: Annotated[
        NDArray[np.float64],
        About(
            "Threads that ran, or would have if a core had been free, on average since the last sample that "
            "has this: by the kernel's account of each. Linux only.",
            optional=True,
            page=False,
        ),
    ]
    peak_bytes: Annotated[
        NDArray[np.float64],
        About(
            "The most memory since the sample before, where the process never had as much before: by the "
            "kernel's mark, which other tools read, too, so it is never reset. Linux only.",
            unit="bytes",
            optional=True,
        ),
    ]
    beside_percent: Annotated[
        NDArray[np.float64],
        About(
            "The part of `cpu_percent` that no task used: older threads that run no task, such "
            "as event loops and the thread that waits for the compute, and children that run no task.",
            unit="percent",
            optional=True,
            page=False,
        ),
    ]

    def between(self, start_s: float, stop_s: float) -> ResourceRows:
        return self.part((self.time >= start_s) & (self.time <= stop_s))

    def most_bytes(self) -> NDArray[np.float64]:
        """Return the most memory up to each sample, since the one before where the kernel saw that."""
        # The kernel counts in steps of its own: its mark can be a little below the resident memory.
        return np.fmax(self.rss_bytes, self.peak_bytes)

    def until(self, stop_s: float) -> ResourceRows:
        """Return the samples up to the first one after a time, which is taken right after computes end."""
        return self.part(slice(int(np.searchsorted(self.time, stop_s)) + 1))

    def peak_place(self, runs: Iterable[Run]) -> int | None:
        """Return the place of the sample with the most memory until these computes ended.

        It is the one peak that every view shows.
        """
        most = self.until(end_s(runs)).most_bytes()
        return int(np.nanargmax(most)) if np.isfinite(most).any() else None
