from __future__ import annotations

import numpy as np
import pytest

from taskscope.model.tables.records import Message
from taskscope.recording import Recording
from tests.support.recordings.spelled_out import ZERO_S, recording_of, run_of
from tests.support.recordings.task_blocks import Row


@pytest.fixture
def recording() -> Recording:
    rows = [
        Row(key=("inc-1", 0, 7), stop_s=1.0, cpu_s=0.5, size_bytes=8.0),
        Row(key="=cmd|'/c'!A1", lane=1, stop_s=0.5, status="erred"),
        Row(key=("add-1",), run=1, start_s=1.0, stop_s=1.5, observed_by="scheduler"),
    ]
    runs = [run_of(n_tasks=2, status="erred", error="ValueError: no"), run_of(1, n_tasks=1, start_s=1.0)]
    return recording_of(
        rows,
        runs,
        resources=[(0.5, np.nan, 7e6, 1, 0.0)],
        messages=[Message(ZERO_S, "info", "hello")],
        metadata={"label": "x", "dt_s": 0.25},
    )
