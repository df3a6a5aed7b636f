"""What only clusters have, to JSON and the binary buffers of a batch: activities, and samples of workers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from taskscope.model.activities import ActivityRows
from taskscope.model.workers import WorkerSample
from taskscope.wire.schema import LAST_GROUP, UNKNOWN, ClusterSection
from taskscope.wire.tasks import LAST_LANE, task_runs
from taskscope.wire.text import wire_text

__all__ = ["ActivityPart", "ClusterPart", "WorkerPart", "changed_workers", "encode_cluster"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ActivityPart:
    """Activities for one message.

    Parameters
    ----------
    first, dropped
        Number of the first row, and how many the recorder no longer holds.
    rows
        The activities.
    sources
        Numbers and addresses of senders that are new.
    completed, nbytes
        Numbers of older rows of which the bytes have become known, and these.
    """

    first: int = 0
    dropped: int = 0
    rows: ActivityRows = field(default_factory=ActivityRows.empty)
    sources: Sequence[tuple[int, str]] = ()
    completed: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, "i8"))
    nbytes: NDArray[np.float64] = field(default_factory=lambda: np.empty(0, "f8"))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WorkerPart:
    """Samples of workers for one message.

    Parameters
    ----------
    first
        Number of the first sample.
    samples
        The samples.
    numbers
        The number of each address.
    workers
        Number, address, name and threads of workers that are new, or are called something else now.
    """

    first: int = 0
    samples: Sequence[WorkerSample] = ()
    numbers: Mapping[str, int] = field(default_factory=dict)
    workers: Sequence[tuple[int, str, str, int]] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClusterPart:
    """All of it for one message."""

    activities: ActivityPart = field(default_factory=ActivityPart)
    workers: WorkerPart = field(default_factory=WorkerPart)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to say."""
        activities, workers = self.activities, self.workers
        parts = (activities.rows, activities.sources, activities.completed, workers.samples, workers.workers)
        return not any(len(part) for part in parts)


def changed_workers(
    known: dict[str, tuple[int, str, str, int]], samples: Iterable[WorkerSample]
) -> list[tuple[int, str, str, int]]:
    """Add the workers of samples to those that are known; return number, address, name, threads of the new.

    One that has left keeps its threads.
    """
    changed: dict[str, tuple[int, str, str, int]] = {}
    for sample in samples:
        before = known.get(sample.worker)
        number = len(known) if before is None else before[0]
        n_threads = before[3] if before is not None and not sample.n_threads else sample.n_threads
        row = (number, sample.worker, sample.name, n_threads)
        if row != before:
            changed[sample.worker] = known[sample.worker] = row
    return list(changed.values())


def encode_cluster(part: ClusterPart) -> tuple[ClusterSection, list[bytes]]:
    """Return the JSON part and the buffers."""
    activities, workers = part.activities, part.workers
    section: ClusterSection = {
        "activities": {
            "first": activities.first,
            "count": len(activities.rows),
            "dropped": activities.dropped,
            "n_completed": len(activities.completed),
            "runs": task_runs(activities.rows.run),
            "sources": [(number, wire_text(address)) for number, address in activities.sources],
        },
        "workers": {
            "first": workers.first,
            "count": len(workers.samples),
            "workers": [
                (number, wire_text(address), wire_text(name), n_threads)
                for number, address, name, n_threads in workers.workers
            ],
        },
    }
    return section, [*_activity_buffers(activities), *_worker_buffers(workers)]


def _activity_buffers(part: ActivityPart) -> list[bytes]:
    rows = part.rows
    columns: list[NDArray[np.generic]] = [
        np.minimum(rows.lane, LAST_LANE).astype("<u2"),
        rows.kind.astype("<u1"),
        np.minimum(rows.group, LAST_GROUP).astype("<u2"),
        np.where(rows.source < UNKNOWN, rows.source, UNKNOWN).astype("<u2"),
        rows.start.astype("<f8"),
        rows.duration.astype("<f4"),
        rows.nbytes.astype("<f8"),
        part.completed.astype("<u4"),
        part.nbytes.astype("<f8"),
    ]
    return [column.tobytes() for column in columns]


def _worker_buffers(part: WorkerPart) -> list[bytes]:
    samples = part.samples
    executing = [UNKNOWN if s.n_executing is None else min(s.n_executing, UNKNOWN - 1) for s in samples]
    columns: list[NDArray[np.generic]] = [
        np.array([min(part.numbers[s.worker], UNKNOWN) for s in samples], "<u2"),
        np.array([s.time_s for s in samples], "<f8"),
        np.array([s.n_threads for s in samples], "<u4"),
        np.array(executing, "<u2"),
        _floats([s.cpu_percent for s in samples]).astype("<f4"),
        _floats([s.rss_bytes for s in samples]),
        _floats([s.managed_bytes for s in samples]),
        _floats([s.spilled_bytes for s in samples]),
        _floats([s.limit_bytes for s in samples]),
    ]
    return [column.tobytes() for column in columns]


def _floats(values: Sequence[float | None]) -> NDArray[np.float64]:
    return np.array([np.nan if value is None else value for value in values], "<f8")
