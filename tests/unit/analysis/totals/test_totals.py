from __future__ import annotations

import math
import sys

import pytest

from taskscope.analysis.totals import PrefixTotal, Totals, measure_totals, prefix_progress
from taskscope.model.tables.records import PrefixProgress
from taskscope.recording import Recording
from tests.support.recordings.spelled_out import recording_of, run_of
from tests.support.recordings.task_blocks import Row

ROWS = [
    Row(key=("inc-1", 0), start_s=0.0, stop_s=1.0, cpu_s=0.5),
    Row(key=("inc-1", 1), lane=1, start_s=0.0, stop_s=2.0, cpu_s=0.25),
    Row(key="add-1", start_s=1.0, stop_s=2.0, status="erred"),
]


def test_totals_add_up_and_unknown_stays_unknown() -> None:
    run = run_of(n_tasks=5, stop_s=2.0, status="erred", error="ValueError: no")
    recording = recording_of(ROWS, [run], resources=[(0.0, math.nan, 5e6, 1, 0.0), (1.0, 50.0, 7e6, 1, 0.0)])
    assert measure_totals(recording) == Totals(
        state="erred",
        schedulers=("threads",),
        n_workers=2,
        n_runs=1,
        n_tasks=5,
        outcomes={"failed": 1, "not started": 2},
        n_failed_attempts=0,
        dropped=0,
        makespan_s=2.0,
        task_s=4.0,
        cpu_s=0.75,
        n_cpu_unknown=1,
        busy_fraction=1.0,
        peak_rss_bytes=7e6,
        prefixes=(
            PrefixTotal("inc", 2, 0, 3.0, 0.75, 1.5, 2.0, 0.75),
            PrefixTotal("add", 1, 1, 1.0, 0.25, 1.0, 1.0, None),
        ),
        errors=("ValueError: no",),
    )


def test_a_task_that_computes_inside_itself_is_one_busy_worker() -> None:
    outer, inner = Row(key="outer", stop_s=1.0), Row(key="inner", start_s=0.25, stop_s=0.75, run=1)
    runs = [run_of(n_tasks=1), run_of(1, n_tasks=1, start_s=0.25, stop_s=0.75)]
    assert measure_totals(recording_of([outer, inner], runs)).busy_fraction == 0.5


def _beside_each_other(lanes: list[int], *, start_s: float = 0.0) -> Recording:
    """Return computes of a task in each of two of these lanes, one so much later than the one before."""
    starts = [start_s * i for i in range(len(lanes) // 2)]
    rows = [
        Row(key=f"x-{i}", run=i // 2, lane=lane, start_s=starts[i // 2] + 1 / 32, stop_s=starts[i // 2] + 1.0)
        for i, lane in enumerate(lanes)
    ]
    runs = [
        run_of(i, n_tasks=2, n_workers=2, start_s=at_s, stop_s=at_s + 1.0) for i, at_s in enumerate(starts)
    ]
    return recording_of(rows, runs)


@pytest.mark.parametrize(
    ("lanes", "start_s", "n_workers"),
    [([0, 1, 2, 3, 4, 5], 0.0, 6), ([0, 1, 2, 3, 4, 5], 1.0, 2), ([0, 1, 0, 1], 0.0, 2)],
)
def test_computes_beside_each_other_have_the_threads_of_all_in_summary_and_findings(
    lanes: list[int], start_s: float, n_workers: int
) -> None:
    recording = _beside_each_other(lanes, start_s=start_s)
    totals = measure_totals(recording)
    assert (totals.n_workers, totals.busy_fraction) == (n_workers, 31 / 32)
    assert f" · {n_workers} threads · " in recording.summary()
    assert f". {n_workers} threads ran tasks " in recording.explain().answer


def test_explaining_twice_as_many_computes_takes_about_twice_as_many_calls() -> None:
    def n_calls(n: int) -> int:
        calls = 0

        def count(_frame: object, event: str, _value: object) -> None:
            nonlocal calls
            calls += event == "call"

        rows = [Row(key=f"x-{i}", run=i, start_s=2.0 * i, stop_s=2.0 * i + 1.0) for i in range(n)]
        runs = [run_of(i, n_tasks=1, start_s=2.0 * i, stop_s=2.0 * i + 1.0, n_workers=1) for i in range(n)]
        recording = recording_of(rows, runs)
        before = sys.getprofile()
        sys.setprofile(count)
        try:
            recording.summary()
            recording.explain()
        finally:
            sys.setprofile(before)
        return calls

    # Modules are loaded by the first call.
    n_calls(2)
    assert n_calls(200) < 2.5 * n_calls(100)


def test_what_a_worker_was_given_and_has_not_ended_is_no_time_of_tasks() -> None:
    ended = Row(key=("inc-1", 0), start_s=0.0, stop_s=1.0)
    waits = [
        Row(key=("inc-1", 1), lane=1, start_s=0.0, stop_s=2.0, status="running", observed_by="scheduler"),
        Row(key="add-1", lane=2, start_s=0.0, stop_s=2.0, status="interrupted", observed_by="scheduler"),
    ]
    runs_there = Row(key=("inc-1", 2), start_s=1.0, stop_s=2.0, status="running")
    totals = measure_totals(recording_of([ended, *waits, runs_there], [run_of(n_tasks=4, stop_s=2.0)]))
    assert (totals.task_s, totals.busy_fraction) == (2.0, 0.5)
    assert totals.prefixes == (PrefixTotal("inc", 2, 0, 2.0, 1.0, 1.0, 1.0, None),)


def test_without_computes_everything_is_unknown_or_none() -> None:
    assert measure_totals(recording_of([])) == Totals(
        "waiting", (), None, 0, 0, {}, 0, 0, None, 0.0, None, 0, None, None, (), ()
    )


def test_counts_per_compute_and_prefix_are_those_of_a_live_recorder() -> None:
    assert prefix_progress(recording_of(ROWS)) == [
        PrefixProgress(0, "inc", 2, 2, 0, 0, 0, 3.0, first_s=100.0),
        PrefixProgress(0, "add", 1, 0, 1, 0, 0, 1.0, first_s=101.0),
    ]
