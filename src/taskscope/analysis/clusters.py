"""What only clusters have, of a recording for a browser: few rows, and said where some are left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from taskscope.model.activities import ActivityRows
from taskscope.model.recording import Recording
from taskscope.model.workers import WorkerSample
from taskscope.wire import ActivityPart, ClusterPart, WorkerPart
from taskscope.wire.cluster import changed_workers

__all__ = [
    "MAX_ACTIVITIES",
    "MAX_WORKER_SAMPLES",
    "activity_groups",
    "cluster_part",
    "few_samples",
    "thinned_note",
]

MAX_ACTIVITIES = 50_000
"""Activities sent of a recording, about 27 bytes each before they are deflated: the longest ones."""

MAX_WORKER_SAMPLES = 20_000
"""About as many samples of workers are sent of a recording, 53 bytes each."""


def activity_groups(recording: Recording) -> NDArray[np.uint32]:
    """Return the group of the task of every activity."""
    rows = recording.activities.rows
    groups = np.zeros(len(rows), np.uint32)
    for run in np.unique(rows.run).tolist():
        mine = rows.run == run
        groups[mine] = recording.graphs[run].group[rows.task[mine]]
    return groups


def cluster_part(
    recording: Recording,
    groups: NDArray[np.uint32],
    group_ids: NDArray[np.uint32],
    lane_ids: NDArray[np.uint16],
) -> ClusterPart:
    """Return activities and samples with times after the recording's zero.

    Parameters
    ----------
    recording
        What was recorded.
    groups
        Its `activity_groups`.
    group_ids, lane_ids
        The groups and lanes of the recording in the order in which the browser numbers them.
    """
    return ClusterPart(
        activities=_activities(recording, groups, group_ids, lane_ids), workers=_workers(recording)
    )


def _activities(
    recording: Recording,
    groups: NDArray[np.uint32],
    group_ids: NDArray[np.uint32],
    lane_ids: NDArray[np.uint16],
) -> ActivityPart:
    columns = recording.activities
    group = np.searchsorted(group_ids, groups).astype(np.uint32)
    kept = _longest(columns.rows)
    rows = columns.rows.part(kept)
    n_left_out = len(columns.rows) - len(rows)
    return ActivityPart(
        first=columns.dropped + n_left_out,
        dropped=columns.dropped + n_left_out,
        rows=replace(
            rows,
            lane=np.searchsorted(lane_ids, rows.lane).astype(np.uint16),
            start=rows.start - recording.zero_s,
            group=group[kept],
        ),
        sources=list(enumerate(columns.sources))[1:] if len(rows) else [],
    )


def _longest(rows: ActivityRows) -> NDArray[np.int64]:
    """Return the places of the longest ones, in the order of their start."""
    longest = np.argsort(-rows.duration, kind="stable")[:MAX_ACTIVITIES]
    order: NDArray[np.int64] = longest[np.argsort(rows.start[longest], kind="stable")]
    return order


def _workers(recording: Recording) -> WorkerPart:
    known: dict[str, tuple[int, str, str, int]] = {}
    samples = [replace(s, time_s=s.time_s - recording.zero_s) for s in few_samples(recording.workers)]
    changed = changed_workers(known, samples)
    return WorkerPart(
        samples=samples, numbers={address: row[0] for address, row in known.items()}, workers=changed
    )


def thinned_note(recording: Recording, shown: int) -> str | None:
    """Return what to say where not all samples of workers are shown, but this number; None where all are."""
    n = len(recording.workers)
    if shown == n:
        return None
    return (
        f"the chart of workers shows {shown:,} of {n:,} samples: of each worker and stretch of time the last "
        "and the one of most memory; the table `workers` has all"
    )


def few_samples(samples: Sequence[WorkerSample], limit: int = MAX_WORKER_SAMPLES) -> Sequence[WorkerSample]:
    """Return at most about `limit` samples: of each worker and stretch the last, and the one of most memory.

    What says that a worker has left stays.
    """
    if len(samples) <= limit:
        return samples
    addresses = {sample.worker for sample in samples}
    n_stretches = max(limit // (2 * len(addresses)), 1)
    start_s, stop_s = samples[0].time_s, max(sample.time_s for sample in samples)
    stretch_s = max((stop_s - start_s) / n_stretches, 1e-9)
    last: dict[tuple[str, int], int] = {}
    most: dict[tuple[str, int], int] = {}
    gone = set()
    for place, sample in enumerate(samples):
        where = sample.worker, int((sample.time_s - start_s) / stretch_s)
        last[where] = place
        known = most.get(where)
        if known is None or (sample.rss_bytes or 0.0) > (samples[known].rss_bytes or 0.0):
            most[where] = place
        if not sample.n_threads:
            gone.add(place)
    return [samples[place] for place in sorted({*last.values(), *most.values(), *gone})]
