"""What workers of a cluster say of themselves: CPU, and what their memory holds."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["WorkerSample"]


@dataclass(frozen=True, slots=True)
class WorkerSample:
    """One worker at one moment, as it told the scheduler; None is unknown.

    Parameters
    ----------
    time_s
        Seconds after the recorder's zero.
    worker, name
        Its address, and what its cluster calls it.
    n_threads
        How many tasks it runs at a time; 0: it was found to have left the cluster.
    n_executing
        How many it was running.
    cpu_percent
        100 per core, over the half second before.
    rss_bytes
        Memory of its process.
    managed_bytes
        Results that it holds in memory, as Dask measures them.
    unmanaged_bytes
        The rest of the process's memory; 0 where results are measured larger than the process.
    spilled_bytes
        Results that it has written to disk, as they were in memory.
    limit_bytes
        How much memory it may use.
    """

    time_s: float
    worker: str
    name: str
    n_threads: int
    n_executing: int | None
    cpu_percent: float | None
    rss_bytes: float | None
    managed_bytes: float | None
    unmanaged_bytes: float | None
    spilled_bytes: float | None
    limit_bytes: float | None
