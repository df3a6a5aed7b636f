"""A recording of a run with every kind of row, and of one that runs."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from typing import Any

import numpy as np

from taskscope.model.tables.records import Lane, Message
from taskscope.recording import Recording
from tests.support.recordings.spelled_out import ZERO_S, recording_of, run_of
from tests.support.recordings.task_blocks import Row

METADATA = {"pid": 4242, "memory_limit_bytes": 2**34}


def recording_of_every_row() -> Recording:
    own = str(os.getpid())
    rows = [
        Row(key="given"),
        Row(key=("load-1", 0), start_s=0.5, stop_s=1.0, cpu_s=0.25, size_bytes=800.0),
        Row(key="total-ab12", start_s=1.0, stop_s=1.5, cpu_s=0.125, status="erred"),
        Row(key=("load-1", 1), lane=1, start_s=0.25, stop_s=2.0, status="lost", observed_by="scheduler"),
    ]
    first = run_of(n_tasks=3, stop_s=2.0, status="erred", error="ValueError: no")
    later = run_of(1, n_tasks=1, start_s=2.0, stop_s=None, status="running", n_workers=None)
    made = recording_of(
        rows,
        [replace(first, label="quick", cell="cell-1"), replace(later, scheduler=None)],
        resources=[
            (0.0, math.nan, 1e6, 1, False, *[math.nan] * 3),
            (2.0, 150.0, 2e6, 3, True, 2.5, 3e6, 25.0),
        ],
        messages=[Message(ZERO_S + 2.0, "warning", "mind the gap")],
        metadata=METADATA,
    )
    # The last but one needs the first two, of which one was given.
    graph: dict[str, Any] = {
        "n_dependencies": np.array([0, 0, 2, 0], "u1"),
        "edges": np.array([1, 0], "i4"),
        "enter": np.array([ZERO_S, ZERO_S + 1.0, np.nan, np.nan]),
        "kept": np.array([2], "i4"),
        "data": np.array([0], "i4"),
        "data_sizes": np.array([64.0]),
    }
    return replace(
        made,
        blocks=(made.blocks[0].part(np.array([1, 2, 3])),),
        graphs={0: replace(made.graphs[0], **graph)},
        lanes=(Lane(0, own, 7, "thread 7"), Lane(1, own, -1, "process")),
    )
