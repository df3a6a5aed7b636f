"""What samples stand for: the measured time of the tasks of their prefix."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from taskscope.analysis.calls import in_proportion
from taskscope.model.tables.records import Lane
from taskscope.model.tables.stacks import LineRows
from tests.support.recordings.spelled_out import recording_of, run_of
from tests.support.recordings.stacks import Sample, stacks_of
from tests.support.recordings.task_blocks import Row


def seconds_of(rows: list[Row], samples: list[Sample], **more: Any) -> list[float]:
    made = replace(recording_of(rows), stacks=stacks_of(samples), **more)
    found: list[float] = in_proportion(made).stacks.rows.seconds.tolist()
    return found


def test_samples_of_a_prefix_add_up_to_the_measured_time_of_its_tasks() -> None:
    tasks = [Row(key="x-1", stop_s=3.0), Row(key="x-2", start_s=3.0, stop_s=6.0), Row(key="y-1", stop_s=1.0)]
    samples = [
        Sample(("f",), seconds=1.0, prefix="x"),
        Sample(("g",), seconds=2.0, prefix="x"),
        Sample(("f",), seconds=4.0, prefix="y"),
    ]
    assert seconds_of(tasks, samples) == [2.0, 4.0, 1.0]


def test_lines_are_scaled_with_their_squares_and_the_share_of_cpu_stays() -> None:
    line = (0, 0, 0, 0, 7, 2, 2.0, 1.0, 0.5, 2.0, 4.0, 2.0)
    stacks = replace(
        stacks_of([Sample(("f",), seconds=1.0)]),
        lines=LineRows.of([line, (0, 0, 0, 0, 8, 1, 1.0, 1.0, 0, 0, 1.0, 1.0)]),
    )
    recording = replace(recording_of([Row(key="x-1", stop_s=6.0)]), stacks=stacks)
    lines = in_proportion(recording).stacks.lines
    assert lines.part(np.array([True, False])).arrays() == {
        **LineRows.of([(0, 0, 0, 0, 7, 2, 6.0, 3.0, 1.5, 6.0, 36.0, 18.0)]).arrays()
    }


def test_once_more_changes_nothing() -> None:
    recording = replace(recording_of([Row(key="x-1", stop_s=6.0)]), stacks=stacks_of([Sample(("f",))]))
    once = in_proportion(recording)
    assert in_proportion(once).stacks.rows.seconds.tolist() == once.stacks.rows.seconds.tolist() == [6.0]


def test_a_task_has_not_the_time_of_a_compute_within_it() -> None:
    tasks = [
        Row(key="outer-1", start_s=0.0, stop_s=10.0, lane=0),
        Row(key="inner-1", start_s=1.0, stop_s=4.0, lane=1),
        Row(key="inner-2", start_s=4.0, stop_s=9.0, lane=1),
        Row(key="outer-2", start_s=10.0, stop_s=11.0, lane=0),
    ]
    samples = [Sample(("f",), prefix="outer"), Sample(("g",), prefix="inner")]
    one_thread = (Lane(0, "1234", 50, "thread"), Lane(1, "1234", 50, "thread, nested"))
    assert seconds_of(tasks, samples, lanes=one_thread) == [3.0, 8.0]
    assert seconds_of(tasks, samples) == [11.0, 8.0]


def test_samples_of_a_cluster_and_of_this_process_are_scaled_apart() -> None:
    tasks = [Row(key="x-1", stop_s=2.0), Row(key="x-2", stop_s=5.0, run=1)]
    runs = (run_of(0, n_tasks=1), run_of(1, n_tasks=1, scheduler="distributed"))
    samples = [Sample(("f",), seconds=4.0), Sample(("f",), seconds=0.01, run=1)]
    assert seconds_of(tasks, samples, runs=runs) == [2.0, 5.0]


@pytest.mark.parametrize(("prefix", "dropped"), [("gone", 0), ("x", 3)])
def test_samples_of_tasks_of_which_not_all_is_known_stay_as_they_are(prefix: str, dropped: int) -> None:
    assert seconds_of([Row(key="x-1")], [Sample(("f",), prefix=prefix)], dropped=dropped) == [0.01]
