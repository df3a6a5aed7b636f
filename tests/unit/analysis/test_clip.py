"""Of a compute from before a block, what the block has seen of it."""

from __future__ import annotations

import pytest

from taskscope.analysis.clip import clipped
from taskscope.model.tables.records import RunStatus
from tests.support.recordings.spelled_out import recording_of, run_of
from tests.support.recordings.task_blocks import Row


@pytest.mark.parametrize(
    ("stops", "n_known", "status", "left"),
    [
        ([-2.0, 0.5, 1.0], 1, "finished", ["x-1", "x-2"]),
        # Of these one is known to have ended before; of the other only a clock that may be wrong says so.
        ([-0.3, -0.03, 1.0], 1, "finished", ["x-1", "x-2"]),
        ([-1.5, -1.4, 1.0], 0, "finished", ["x-2"]),
        # It was waited for: that its last task ended before is the clock of its cluster's.
        ([-2.0, -0.5, -0.03], 3, "finished", ["x-2"]),
        ([-2.0, -0.03, -0.5], 3, "erred", ["x-1"]),
        # Those that had ended may have done so long ago.
        ([-2.0, -0.5, -0.03], 3, "interrupted", []),
    ],
)
def test_tasks_that_ended_in_the_block_are_left_and_the_last_one_of_a_run_that_came_to_its_end(
    stops: list[float], n_known: int, status: RunStatus, left: list[str]
) -> None:
    rows = [Row(key=f"x-{i}", start_s=stop_s - 1.0, stop_s=stop_s) for i, stop_s in enumerate(stops)]
    recording = recording_of(rows, [run_of(n_tasks=3, start_s=-9.0, stop_s=max(stops), status=status)])
    found = clipped(recording, 1, {0: n_known})
    assert found.table("tasks")["key"].tolist() == left
    assert found.runs[0].n_tasks == len(left)
