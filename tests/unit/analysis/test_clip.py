"""Of a compute from before a block, what the block has seen of it."""

from __future__ import annotations

import pytest

from taskscope.analysis.clip import clipped
from tests.support.recordings.spelled_out import recording_of, run_of
from tests.support.recordings.task_blocks import Row


@pytest.mark.parametrize(
    ("stops", "n_known"),
    [
        ([-2.0, 0.5, 1.0], 1),
        # Of these one was known to have ended; of the other only a clock that may be wrong says so.
        ([-0.3, -0.03, 1.0], 1),
    ],
)
def test_tasks_that_were_not_known_to_have_ended_are_left(stops: list[float], n_known: int) -> None:
    rows = [Row(key=f"x-{i}", start_s=stop_s - 1.0, stop_s=stop_s) for i, stop_s in enumerate(stops)]
    recording = recording_of(rows, [run_of(n_tasks=3, start_s=-9.0, stop_s=max(stops))])
    found = clipped(recording, 1, {0: n_known})
    assert found.table("tasks")["key"].tolist() == ["x-1", "x-2"]
    assert found.runs[0].n_tasks == 2
