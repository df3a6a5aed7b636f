"""Measurements of a cluster's workers, and its scheduler's counts of tasks that wait."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from taskscope.schema import About

METERED = tuple(
    f"{name}{end}"
    for name in (
        *("thread", "executor", "failed", "other", "offload", "network", "network-write", "transfer", "send"),
        *("memory-read", "disk-read", "disk-write", "p2p-disk-read", "p2p-shards", "process", "idle"),
        *("dumps", "serialize", "deserialize", "compress", "decompress"),
    )
    for end in ("", "-cpu", "-noncpu")
)
"""distributed's names of what it meters; tasks may meter by names of their own."""


@dataclass(frozen=True, slots=True)
class Metric:
    """The sum of one activity in executing tasks of one prefix on one worker."""

    run: Annotated[
        int, About("The compute; of several that have such tasks the last one.", refers="runs.run")
    ]
    worker: Annotated[str, About("The worker's address.", private="address")]
    prefix: Annotated[str, About("The prefix of the tasks.")]
    activity: Annotated[
        str,
        About(
            "What distributed's fine performance metrics call it: `thread-cpu` and `thread-noncpu` are what "
            "the tasks' own calls took on the CPU and off it, less what was metered inside of them; "
            "`executor` is waiting for a thread; all of a task that raised is `failed`.",
            known=METERED,
        ),
    ]
    seconds: Annotated[float, About("How long.", unit="s")]
    nbytes: Annotated[float, About("How much it moved.", unit="bytes")]
    count: Annotated[float, About("How often, where that is counted.")]


@dataclass(frozen=True, slots=True)
class PrefixSeconds:
    """How long all workers together spent on one activity in executing tasks of one prefix."""

    run: Annotated[int, About("The compute.", refers="runs.run")]
    prefix: Annotated[str, About("The prefix of the tasks.")]
    activity: Annotated[str, About("What was metered.", known=METERED)]
    seconds: Annotated[float, About("How long it took.", unit="s")]


LogLevel: TypeAlias = Literal["debug", "info", "warning", "error", "critical"]


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line in the log of a cluster's scheduler or of one of its workers."""

    time_s: Annotated[float, About("When it was written.", unit="s", is_time=True)]
    worker: Annotated[str | None, About("The worker's address; none: the scheduler.", private="address")]
    level: Annotated[LogLevel, About("How much it matters, as in `logging`.")]
    text: Annotated[str, About("The line.", private="words")]


@dataclass(frozen=True, slots=True)
class WorkerSample:
    """One worker at one moment, as it reported to the scheduler."""

    time_s: Annotated[float, About("When it was.", unit="s", is_time=True)]
    worker: Annotated[str, About("The worker's address.", private="address")]
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
            page=False,
        ),
    ]
    spilled_bytes: Annotated[
        float | None, About("Results that it has written to disk, as they were in memory.", unit="bytes")
    ]
    limit_bytes: Annotated[float | None, About("How much memory it may use.", unit="bytes")]
    tick_s: Annotated[
        float | None,
        About(
            "How far apart the ticks of its event loop were, which is meant to be 0.02 s; more is lag.",
            unit="s",
        ),
    ] = None
    gil_contention: Annotated[
        float | None,
        About(
            "Share of time that threads waited for the interpreter's lock, 0 to 1; workers meter it where "
            "gilknocker is installed."
        ),
    ] = None
    net_read_bps: Annotated[
        float | None, About("What its machine received from the network.", unit="bytes/s")
    ] = None
    net_write_bps: Annotated[float | None, About("What its machine sent to the network.", unit="bytes/s")] = (
        None
    )
    disk_read_bps: Annotated[float | None, About("What its machine read from disks.", unit="bytes/s")] = None
    disk_write_bps: Annotated[float | None, About("What its machine wrote to disks.", unit="bytes/s")] = None
    n_fds: Annotated[float | None, About("How many file descriptors its process has open.")] = None
    gpu_percent: Annotated[float | None, About("How busy its GPU is.", unit="percent")] = None
    gpu_bytes: Annotated[float | None, About("Memory of its GPU that is in use.", unit="bytes")] = None


@dataclass(frozen=True, slots=True)
class Scheduled:
    """How many tasks that have not ended wait, and for what.

    Examples
    --------
    >>> sum_scheduled([Scheduled(1.0, 5, True, 3, 2, 0), Scheduled(2.0, 1, True, 0, 0, 1)])
    Scheduled(time_s=1.0, asked=6, is_all=True, queued=3, waiting=2, no_worker=1)
    """

    time_s: float
    asked: int
    is_all: bool
    queued: int
    waiting: int
    no_worker: int


def sum_scheduled(parts: Iterable[Scheduled | None]) -> Scheduled | None:
    """Return the sums over the known parts; None where all are unknown."""
    parts = list(parts)
    known = [part for part in parts if part is not None]
    if not known:
        return None
    return Scheduled(
        time_s=min(part.time_s for part in known),
        asked=sum(part.asked for part in known),
        is_all=len(known) == len(parts) and all(part.is_all for part in known),
        queued=sum(part.queued for part in known),
        waiting=sum(part.waiting for part in known),
        no_worker=sum(part.no_worker for part in known),
    )
