"""What a worker of a cluster said of itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from taskscope.schema import About

__all__ = ["WorkerSample"]


@dataclass(frozen=True, slots=True)
class WorkerSample:
    """One worker at one moment, as it told the scheduler."""

    time_s: Annotated[float, About("When it was.", unit="s", is_time=True)]
    worker: Annotated[str, About("The worker's address.")]
    name: Annotated[str, About("What its cluster calls it.")]
    n_threads: Annotated[
        int, About("How many tasks it runs at a time; 0: it was found to have left the cluster.")
    ]
    n_executing: Annotated[int | None, About("How many it was running.")]
    cpu_percent: Annotated[
        float | None, About("CPU over the half second before, 100 per core.", unit="percent")
    ]
    rss_bytes: Annotated[float | None, About("Memory of its process.", unit="bytes")]
    managed_bytes: Annotated[
        float | None, About("Results that it holds in memory, as Dask measures them.", unit="bytes")
    ]
    unmanaged_bytes: Annotated[
        float | None,
        About(
            "The rest of the process's memory; 0 where results are measured larger than the process.",
            unit="bytes",
        ),
    ]
    spilled_bytes: Annotated[
        float | None, About("Results that it has written to disk, as they were in memory.", unit="bytes")
    ]
    limit_bytes: Annotated[float | None, About("How much memory it may use.", unit="bytes")]
