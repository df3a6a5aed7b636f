"""A recording of a cluster, spelled out: two workers, one of which leaves, and all kinds of activity."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from taskscope.model.recording import RecordedData
from taskscope.model.tables.activities import ActivityColumns, ActivityRows
from taskscope.model.tables.cache_usage import CacheRows
from taskscope.model.tables.records import CLUSTER, Lane
from taskscope.model.tables.workers import WorkerSample
from taskscope.recording import Recording
from tests.support.recordings.spelled_out import ZERO_S, recording_of, run_of
from tests.support.recordings.task_blocks import Row

__all__ = ["FAILURE", "A", "B", "cluster_recording", "rows"]


def rows(recording: RecordedData, table: str, *columns: str) -> list[tuple[Any, ...]]:
    """Return these columns of a table, row by row."""
    found = recording.table(table)
    return list(zip(*(list(found[c]) for c in columns), strict=True))


A, B = "tcp://10.0.0.1:4001", "tls://10.0.0.2:4002"
FAILURE = "ValueError: no luck (attempt 1)"

_ROWS = [
    Row(key="('load-1', 0)", lane=0, start_s=0.25, stop_s=1.0),
    Row(key="('load-1', 1)", lane=2, start_s=0.25, stop_s=1.5),
    Row(key="add-2", lane=1, start_s=2.0, stop_s=2.5),
]
_ACTIVITIES = [
    # run, task, lane, kind, start_s, duration_s, source, nbytes
    (0, 2, 1, 0, 1.5, 0.5, 2, 8e6),
    (0, 2, 1, 0, 1.5, 0.25, 2, np.nan),
    (0, 2, 1, 1, 1.25, 0.125, 0, np.nan),
    (0, 0, 0, 2, 1.0, 0.0625, 0, np.nan),
    (0, 1, 2, 3, 0.125, 0.125, 0, np.nan),
    (0, 1, 2, 4, 1.5, 0.125, 0, np.nan),
    (0, 2, 3, 5, 1.75, 0.125, 1, np.nan),
    (0, 1, 2, 6, 1.75, 0.25, 3, np.nan),
]
_SAMPLES = [
    WorkerSample(0.5, A, "a", 2, 1, 150.0, 3e8, 1e8, 2e8, 0.0, 4e9),
    WorkerSample(0.75, B, "7", 2, 2, 90.0, 5e8, 4e8, 1e8, 2e8, None),
    WorkerSample(1.5, A, "a", 2, None, None, 4e8, None, None, None, 4e9),
    WorkerSample(2.0, B, "7", 0, None, None, None, None, None, None, None),
]
_HOLDINGS = [
    # run, group, time_s, n_keys, nbytes, n_unsized
    (0, 0, 1.25, 1, 8e6, 0),
    (0, 0, 1.75, 3, 1.6e7, 1),
    (0, 0, 2.75, 0, 0.0, 0),
    (0, 1, 2.75, 1, 512.0, 0),
]


def cluster_recording() -> Recording:
    """Return the recording."""
    rows = ActivityRows.of([(*row, 0) for row in _ACTIVITIES])
    rows = replace(rows, start=rows.start + ZERO_S)
    lanes = tuple(
        Lane(2 * w + t, address, 50 + t, f"worker {name}, thread {t + 1}")
        for w, (address, name) in enumerate([(A, "a"), (B, "7")])
        for t in range(2)
    )
    return replace(
        recording_of(_ROWS, [replace(run_of(n_tasks=3, stop_s=3.0), scheduler=CLUSTER)]),
        lanes=lanes,
        activities=ActivityColumns(rows, ("", A, B, FAILURE), dropped=4),
        holdings=_holdings(),
        workers=tuple(replace(s, time_s=s.time_s + ZERO_S) for s in _SAMPLES),
    )


def _holdings() -> CacheRows:
    run, group, time_s, n_keys, nbytes, n_unsized = (np.array(c) for c in zip(*_HOLDINGS, strict=True))
    counts = n_keys.astype("u4")
    return CacheRows(
        run=run.astype("i4"),
        group=group.astype("u4"),
        time=time_s + ZERO_S,
        n_keys=counts,
        nbytes=nbytes,
        n_unsized=n_unsized.astype("u4"),
        value=np.zeros(len(run)),
        n_unvalued=counts,
    )
