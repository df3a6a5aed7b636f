from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taskscope.analysis.totals import Outcome, count_outcomes
from taskscope.model.tables.records import CLUSTER, RunStatus
from taskscope.recording import Recording
from tests.support.clusters.repeated_tasks import record_repeated_tasks
from tests.support.fakes.clock import FakeClock
from tests.support.recordings.spelled_out import recording_of, run_of
from tests.support.recordings.task_blocks import Row


def remarks(recording: Recording) -> list[str]:
    """Return what the summary says below its table."""
    return [line.strip() for line in recording.summary().rpartition("\n\n")[2].split("\n")]


def recorded(rows: list[tuple[int, str]], *, n_tasks: int, status: RunStatus, dropped: int = 0) -> Recording:
    """Return a run of ten keys with rows of these tasks, one after the other."""
    keys = [Row(key=("x-1", i), stop_s=1.0) for i in range(10)]
    recording = recording_of(
        keys, [run_of(n_tasks=n_tasks, status=status, scheduler=CLUSTER)], dropped=dropped
    )
    ends = [Row(key=("x-1", n), start_s=float(i), stop_s=i + 1.0, status=s) for i, (n, s) in enumerate(rows)]
    block = recording_of(ends).blocks[0] if ends else recording.blocks[0].part(slice(0, 0))
    task = np.array([n for n, _ in rows], "i4")
    return replace(recording, blocks=(replace(block, run=0, task=task),))


def test_a_task_that_was_lost_and_ran_again_is_not_among_those_that_did_not_finish(
    fake_clock: FakeClock,
) -> None:
    recording = Recording.of(record_repeated_tasks(fake_clock)[0].snapshot())
    assert len(recording.tasks) == 6
    assert count_outcomes(recording) == {"skipped": 2}
    assert remarks(recording) == [
        "2 tasks skipped: already computed, or not needed",
    ]


@pytest.mark.parametrize(
    ("rows", "status", "expected"),
    [
        # Two ran twice, which makes as many rows as there are tasks.
        ([(i, "finished") for i in (0, 1, 0, 1)], "interrupted", {"not started": 2}),
        (
            [(0, "lost"), (0, "finished"), (1, "erred"), (1, "finished")],
            "interrupted",
            {"not started": 2},
        ),
        (
            [(0, "finished"), (1, "erred"), (1, "erred"), (2, "lost")],
            "erred",
            {"failed": 1, "lost": 1, "not started": 1},
        ),
        (
            [(0, "finished"), (0, "interrupted")],
            "interrupted",
            {"interrupted": 1, "not started": 3},
        ),
        ([(0, "lost"), *((i, "finished") for i in range(4))], "finished", {}),
        ([(0, "finished")], "running", {"background": 3}),
    ],
)
def test_each_task_counts_once_as_what_it_was_last(
    rows: list[tuple[int, str]], status: RunStatus, expected: dict[Outcome, int]
) -> None:
    assert count_outcomes(recorded(rows, n_tasks=4, status=status)) == expected


def test_a_task_that_a_worker_was_given_is_not_said_to_have_run() -> None:
    whole = [Row(key=("x-1", 0), stop_s=1.0), Row(key=("x-1", 1), status="interrupted")]
    given = [
        Row(key=("x-1", n), stop_s=2.0, status=status, observed_by="scheduler")
        for n, status in enumerate(("interrupted", "running"), start=2)
    ]
    run = run_of(n_tasks=5, status="interrupted", scheduler=CLUSTER)
    recording = recording_of([*whole, *given], [run])
    assert count_outcomes(recording) == {"interrupted": 1, "given": 2, "not started": 1}
    assert remarks(recording) == [
        "1 task interrupted, 2 given to a worker (whether they ran is not known), 1 not started"
    ]


def test_what_went_down_with_a_worker_is_lost_also_where_no_worker_was_sampled() -> None:
    recording = recorded([(0, "lost"), (0, "lost")], n_tasks=1, status="erred")
    assert remarks(recording)[0] == "1 task lost"
    assert "  on workers     2 executions lost with a worker" in recording.summary().split("\n")


def test_of_a_compute_that_finished_it_is_not_known_whether_tasks_without_a_record_ran() -> None:
    recording = recorded([(i, "finished") for i in range(7)], n_tasks=10, status="finished")
    assert count_outcomes(recording) == {"unrecorded": 3}
    assert remarks(recording) == [
        "3 tasks of computes that finished without a record: whether they ran is not known"
    ]


def test_what_is_no_longer_held_is_neither_unfinished_nor_unknown() -> None:
    rows = [(i, "finished") for i in range(7)]
    for status in ("finished", "erred"):
        assert count_outcomes(recorded(rows, n_tasks=10, status=status, dropped=3)) == {}
