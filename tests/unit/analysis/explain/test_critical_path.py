from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given

from taskscope.analysis.explain.critical_path import PathStep
from taskscope.errors import UnknownNameError
from taskscope.model.tables.activities import FAILED_ATTEMPT, ActivityColumns, ActivityRows
from taskscope.model.tables.records import CLUSTER
from taskscope.recording import Recording
from tests.support.clusters.recordings import cluster_recording
from tests.support.recordings.schedules import GRAPHS, Plan, greedy, recorded, with_dependencies
from tests.support.recordings.spelled_out import ZERO_S, recording_of, run_of
from tests.support.recordings.task_blocks import Row


def chains_to_the_end(plan: Plan, rows: Sequence[Row]) -> set[tuple[int, ...]]:
    """Return every way back from a last task, from each to a latest one that it needs or follows."""
    needs = {i: {number_of(rows, other) for other in plan.needs[task_of(row)]} for i, row in enumerate(rows)}
    last_s = max(row.stop_s for row in rows)
    found: set[tuple[int, ...]] = set()
    waiting: list[tuple[int, ...]] = [(i,) for i, row in enumerate(rows) if row.stop_s == last_s]
    while waiting:
        chain = waiting.pop()
        first = chain[0]
        same_lane = [i for i in range(first) if rows[i].lane == rows[first].lane]
        before = needs[first] | set(same_lane[-1:])
        if not before:
            found.add(chain)
        latest_s = max((rows[i].stop_s for i in before), default=0.0)
        waiting += [(i, *chain) for i in before if rows[i].stop_s == latest_s]
    return found


def task_of(row: Row) -> int:
    assert isinstance(row.key, tuple)
    return int(row.key[1])


def number_of(rows: Sequence[Row], task: int) -> int:
    return next(i for i, row in enumerate(rows) if task_of(row) == task)


@given(GRAPHS)
def test_the_path_is_one_of_those_that_a_search_of_all_finds_and_its_steps_add_up(plan: Plan) -> None:
    assume(any(plan.seconds) or any(plan.lags))
    rows = greedy(plan)
    path = recorded(plan).critical_path()
    assert int(path.steps_ns.sum()) == path.makespan_ns == int(max(row.stop_s for row in rows)) * 10**9
    assert tuple(step.row for step in path.steps if step.row is not None) in chains_to_the_end(plan, rows)
    if not any(plan.lags):
        assert path.wait_s == {}


@given(GRAPHS)
def test_the_steps_follow_each_other_without_a_gap(plan: Plan) -> None:
    path = recorded(plan).critical_path()
    ends = [round(step.start_s + step.duration_s) for step in path.steps]
    assert [round(step.start_s) for step in path.steps] == [0, *ends][: len(ends)]
    assert path.task_s + sum(path.wait_s.values()) == path.makespan_s


def ends_later(plan: Plan, rows: Sequence[Row], late: int, by_s: float) -> bool:
    """Say whether the compute ends later if a task ends later; waits stay, and so do lanes."""
    needs = {i: {number_of(rows, other) for other in plan.needs[task_of(row)]} for i, row in enumerate(rows)}
    stop: list[float] = []
    for i, row in enumerate(rows):
        lane = [j for j in range(i) if rows[j].lane == row.lane][-1:]
        needed_s = max((rows[j].stop_s for j in needs[i]), default=-1.0)
        lane_s = max((rows[j].stop_s for j in lane), default=-1.0)
        bound_s = max(needed_s, lane_s)
        # Of several that ended last it waited for the one that landed last.
        candidates = [j for j in sorted(needs[i]) if rows[j].stop_s == bound_s] or lane
        start = row.start_s
        for j in {*needs[i], *lane}:
            lag = row.start_s - rows[j].stop_s if candidates and j == candidates[-1] else 0.0
            start = max(start, stop[j] + lag)
        stop.append(start + row.stop_s - row.start_s + (by_s if i == late else 0.0))
    return max(stop) > max(row.stop_s for row in rows)


def test_slack_is_no_less_than_nothing_where_clocks_have_a_task_begin_before_its_inputs_end() -> None:
    rows = [
        Row(key=name, lane=lane, stop_s=stop_s)
        for lane, (name, stop_s) in enumerate([("a", 2.0), ("b", 1.75)])
    ]
    rows.append(Row(key="c", lane=2, start_s=1.5, stop_s=3.0))
    path = with_dependencies(rows, {2: [0, 1]}, [run_of(n_tasks=3, stop_s=3.0)]).critical_path()
    assert path.slack_s.tolist() == [0.0, 0.0, 0.0]


@given(GRAPHS)
def test_slack_is_what_a_task_can_be_late_by(plan: Plan) -> None:
    rows = greedy(plan)
    slack_s = recorded(plan).critical_path().slack_s.tolist()
    for i, spare_s in enumerate(slack_s):
        assert not ends_later(plan, rows, i, spare_s)
        assert ends_later(plan, rows, i, spare_s + 1)


def test_tasks_and_waits_say_what_they_are() -> None:
    rows = [
        Row(key="load", lane=0, start_s=1.0, stop_s=2.0),
        Row(key="other", lane=1, start_s=1.0, stop_s=4.0),
        Row(key="sum", lane=0, start_s=2.5, stop_s=4.5),
        Row(key="out", lane=1, start_s=4.5, stop_s=5.0),
    ]
    recording = with_dependencies(rows, {2: [0], 3: [2]}, [run_of(n_tasks=4, stop_s=6.0)])
    path = recording.critical_path()
    assert path.steps == (
        PathStep("wait", 0, 0.0, 1.0, cause="graph"),
        PathStep("task", 0, 1.0, 1.0, "load", "load", 0, 0, None),
        PathStep("wait", 0, 2.0, 0.5, cause="dispatch"),
        PathStep("task", 0, 2.5, 2.0, "sum", "sum", 0, 2, "dependency"),
        PathStep("task", 0, 4.5, 0.5, "out", "out", 1, 3, "dependency"),
        PathStep("wait", 0, 5.0, 1.0, cause="results"),
    )
    assert path.slack_s.tolist() == [0.0, 0.5, 0.0, 0.0]
    assert [line.split() for line in str(path).splitlines()] == [
        ["critical", "path", "·", "6", "s", "·", "3", "tasks"],
        [],
        ["sum", "2", "s", "33%"],
        ["load", "1", "s", "17%"],
        ["waiting:", "graph", "1", "s", "17%"],
        ["waiting:", "results", "1", "s", "17%"],
        ["out", "500", "ms", "8%"],
        ["waiting:", "dispatch", "500", "ms", "8%"],
    ]
    assert "<td" in path._repr_html_()
    assert json.loads(json.dumps(path.to_dict()))["prefix_s"] == {"sum": 2.0, "load": 1.0, "out": 0.5}
    assert path.to_pandas()["cause"].dropna().tolist() == ["graph", "dispatch", "results"]


def test_a_wait_while_all_workers_were_busy_is_a_queue() -> None:
    rows = [
        Row(key="a", lane=0, start_s=0.0, stop_s=1.0),
        Row(key="b", lane=1, start_s=0.0, stop_s=5.0),
        Row(key="c", lane=2, start_s=1.0, stop_s=5.0),
        Row(key="d", lane=0, start_s=5.0, stop_s=6.0),
    ]
    path = recording_of(rows, [run_of(n_tasks=4, stop_s=6.0)]).critical_path()
    assert [(s.key, s.cause, s.duration_s) for s in path.steps] == [
        ("a", None, 1.0),
        (None, "queue", 4.0),
        ("d", None, 1.0),
    ]


def test_an_attempt_that_failed_is_waited_for_by_the_next_task_in_its_lane() -> None:
    rows = [Row(key="a", start_s=1.5, stop_s=2.5), Row(key="b", start_s=2.5, stop_s=3.5)]
    attempt = (0, 1, 0, FAILED_ATTEMPT, ZERO_S + 0.5, 1.0, 0, np.nan, 0)
    run = replace(run_of(n_tasks=2, stop_s=3.5, n_workers=1), scheduler=CLUSTER)
    recording = replace(
        recording_of(rows, [run]), activities=ActivityColumns(ActivityRows.of([attempt]), ("",))
    )
    assert [(s.key, s.cause, s.duration_s) for s in recording.critical_path().steps] == [
        (None, "graph", 0.5),
        (None, "failed-attempt", 1.0),
        ("a", None, 1.0),
        ("b", None, 1.0),
    ]
    assert [(f.cause, f.worth_s) for f in recording.explain()] == [("lost-work", 1.0)]


def test_on_a_cluster_a_wait_is_what_the_worker_did_for_the_task() -> None:
    rows = [Row(key="a", stop_s=1.0), Row(key="b", lane=1, start_s=3.0, stop_s=4.0)]
    activities = ActivityRows.of(
        [(0, 1, 1, 0, ZERO_S + 1.25, 1.0, 0, np.nan, 0), (0, 1, 1, 3, ZERO_S + 2.0, 0.5, 0, np.nan, 0)]
    )
    run = replace(run_of(n_tasks=2, stop_s=4.0), scheduler=CLUSTER)
    recording = replace(
        with_dependencies(rows, {1: [0]}, [run]), activities=ActivityColumns(activities, ("",))
    )
    assert [(s.key or s.cause, s.duration_s) for s in recording.critical_path().steps] == [
        ("a", 1.0),
        ("dispatch", 0.25),
        ("transfer", 1.0),
        ("deserialize", 0.25),
        ("dispatch", 0.5),
        ("b", 1.0),
    ]


def test_between_computes_it_was_the_program_and_one_compute_alone_can_be_asked_for() -> None:
    rows = [Row(key="a", stop_s=1.0), Row(key="b", run=1, start_s=3.0, stop_s=4.0)]
    runs = [run_of(n_tasks=1), run_of(1, n_tasks=1, start_s=3.0, stop_s=4.0)]
    recording = recording_of(rows, runs)
    found = [(s.run, s.key, s.cause, s.duration_s) for s in recording.critical_path().steps]
    assert found == [(0, "a", None, 1.0), (None, None, "client", 2.0), (1, "b", None, 1.0)]
    alone = recording.critical_path(run=1)
    assert ([s.key for s in alone.steps], alone.makespan_s) == (["b"], 1.0)
    assert np.array_equal(alone.slack_s, [np.nan, 0.0], equal_nan=True)
    with pytest.raises(UnknownNameError, match="unknown run 7"):
        recording.critical_path(run=7)


def test_a_compute_inside_of_a_task_is_time_of_that_task() -> None:
    rows = [Row(key="outer", stop_s=4.0), Row(key="inner", lane=1, run=1, start_s=1.0, stop_s=3.0)]
    runs = [run_of(n_tasks=1, stop_s=4.0), run_of(1, n_tasks=1, start_s=1.0, stop_s=3.0)]
    assert [s.key for s in recording_of(rows, runs).critical_path().steps] == ["outer"]


def test_a_task_that_needs_what_has_no_row_waited_for_something_unknown() -> None:
    rows = [Row(key="lost", stop_s=1.0), Row(key="b", start_s=3.0, stop_s=4.0)]
    recording = with_dependencies(rows, {1: [0]}, [run_of(n_tasks=2, stop_s=4.0)])
    block = recording.blocks[0]
    partial = replace(recording, blocks=(block.part(np.array([1])),), dropped=1)
    path = partial.critical_path()
    assert [(s.key or s.cause, s.duration_s) for s in path.steps] == [("graph", 3.0), ("b", 1.0)]
    assert path.notes == ("1 task of finished computes has no row: waits for it are of unknown cause",)


EMPTY = recording_of([])
ONE = recording_of([Row(key="x", stop_s=1.0)])


@pytest.mark.parametrize(
    ("recording", "steps"),
    [
        (EMPTY, []),
        (ONE, ["x"]),
        (recording_of([], [run_of(n_tasks=0)]), ["graph"]),
        (recording_of([], [run_of(n_tasks=3)]), ["unknown"]),
        (recording_of([Row(key="x", stop_s=9.0)], [run_of(n_tasks=1, status="interrupted")]), ["x"]),
        (
            recording_of(
                [Row(key="x", status="running")], [run_of(n_tasks=2, stop_s=None, status="running")]
            ),
            ["x", "unknown"],
        ),
        (
            recording_of([Row(key="x", status="erred", stop_s=0.5)], [run_of(n_tasks=2, status="erred")]),
            ["x", "unknown"],
        ),
        (
            recording_of(
                [Row(key="x"), Row(key="x", start_s=1.0, stop_s=2.0)], [run_of(n_tasks=1, stop_s=2.0)]
            ),
            ["x", "x"],
        ),
    ],
    ids=["nothing", "one task", "no task", "no row", "interrupted", "running", "failed", "twice"],
)
def test_whatever_is_missing_there_is_an_answer(recording: Recording, steps: list[str]) -> None:
    path = recording.critical_path()
    assert [step.key or step.cause for step in path.steps] == steps
    assert int(path.steps_ns.sum()) == path.makespan_ns


def test_without_a_compute_it_says_that_it_cannot() -> None:
    path = EMPTY.critical_path()
    assert (path.reason, path.slack_s.tolist()) == ("no Dask computation was recorded", [])
    assert str(path) == "cannot say what set the makespan, because no Dask computation was recorded"


def test_rows_of_a_cluster_whose_clocks_differ_have_a_path_that_adds_up() -> None:
    path = cluster_recording().critical_path()
    assert int(path.steps_ns.sum()) == path.makespan_ns == 3 * 10**9
    rows = [Row(key="a", start_s=0.5, stop_s=1.5), Row(key="b", lane=1, start_s=0.25, stop_s=1.5)]
    crossed = with_dependencies(rows, {0: [1], 1: [0]}, [run_of(n_tasks=2, stop_s=2.0)]).critical_path()
    assert (int(crossed.steps_ns.sum()), crossed.makespan_ns) == (2 * 10**9, 2 * 10**9)
