"""Graphs that grow while they are computed, and tasks that run more than once, as on a cluster."""

from __future__ import annotations

import numpy as np

from taskscope.model.tables.records import FINISHED, LOST, Run
from taskscope.record import GraphSource, LaneActivity, LaneKey, Recorder, RunLog
from tests.support.fakes.clock import FakeClock
from tests.support.recordings.run_writing import report_task

LANE = LaneKey(0, 7, label="worker 0, thread 1", worker="tcp://a:1")


def begun(clock: FakeClock) -> tuple[Recorder, RunLog]:
    recorder = Recorder(clock=clock)
    log = recorder.begin()
    log.graph_source = GraphSource({"x-0": ()}, frozenset(["x-0"]), {}, grows=True)
    return recorder, log


def finish(log: RunLog, key: str, at: float) -> None:
    start = log.start + at
    report_task(log, key, LANE, start, start + 1.0)
    log.landed.extend((key, start + 1.0))


def test_keys_that_come_later_have_their_rows_dependencies_and_totals(fake_clock: FakeClock) -> None:
    recorder, log = begun(fake_clock)
    finish(log, "x-0", 0.0)
    recorder.pull(1.0)
    seen = recorder.graph_shape(log.run)
    for i in (1, 2):
        log.graph_growth.append(GraphSource({f"y-{i}": (f"x-{i - 1}",) if i == 1 else ()}, frozenset(), {}))
        finish(log, f"y-{i}", float(i))
    recorder.pull(1.0)
    # What was handed out before stays as it was.
    assert seen is not None
    assert seen.group.tolist() == [0]
    log.stop, log.status = log.start + 3.0, "finished"
    recording = recorder.snapshot()
    table = recording.table("tasks")
    assert list(zip(table["key"], table["prefix"], table["worker"], table["start_s"], strict=True)) == [
        ("x-0", "x", "tcp://a:1", 0.0),
        ("y-1", "y", "tcp://a:1", 1.0),
        ("y-2", "y", "tcp://a:1", 2.0),
    ]
    edges = recording.table("dependencies")
    assert list(zip(edges["key"], edges["dependency"], strict=True)) == [("y-1", "x-0")]
    assert [lane.label for lane in recording.lanes] == ["worker 0, thread 1"]
    assert not recorder.is_active()


def test_tasks_of_a_group_that_is_in_another_span_by_then_have_the_span_they_came_in(
    fake_clock: FakeClock,
) -> None:
    recorder, log = begun(fake_clock)
    for i, span in ((1, "load"), (2, "store"), (3, "store"), (4, "load"), (5, None)):
        log.graph_growth.append(GraphSource({f"y-{i}": ()}, frozenset(), {}, spans={"y": span}))
    for key in ("x-0", "y-1", "y-2", "y-3", "y-4", "y-5"):
        finish(log, key, float(key[-1]))
    recorder.pull(1.0)
    log.stop, log.status = log.start + 6.0, "finished"
    table = recorder.snapshot().table("tasks")
    assert list(zip(table["key"], table["span"], strict=True)) == [
        ("x-0", None),
        ("y-1", "load"),
        ("y-2", "store"),
        ("y-3", "store"),
        ("y-4", "load"),
        ("y-5", None),
    ]


def test_a_task_that_was_lost_and_ran_again_has_two_rows_and_counts_once(fake_clock: FakeClock) -> None:
    recorder, log = begun(fake_clock)
    log.submitted["x-0"] = log.start
    log.sent_to["x-0"] = ("tcp://b:1", "worker 1")
    log.end_unreported("x-0", log.start + 0.5, "lost", "worker 1 died")
    log.superseded.extend(("x-0", LOST, "x-0", FINISHED))
    finish(log, "x-0", 1.0)
    finish(log, "x-0", 2.0)
    recorder.pull(1.0)
    (row,) = recorder.progress()
    assert (row.total, row.finished, row.interrupted, row.running, row.again) == (1, 1, 0, 0, 2)
    table = recorder.snapshot().table("tasks")
    assert sorted(zip(table["status"], table["worker"], strict=True)) == [
        ("finished", "tcp://a:1"),
        ("finished", "tcp://a:1"),
        ("lost", "tcp://b:1"),
    ]
    assert "worker 1, thread unknown 1" in [lane.label for lane in recorder.lanes]


def test_bytes_that_are_heard_of_later_reach_their_activity(fake_clock: FakeClock) -> None:
    recorder, log = begun(fake_clock)
    for token in (1, 2):
        log.activities.append(LaneActivity("x-0", LANE, 0, log.start, log.start + 0.5, "tcp://b:1", token))
    log.activity_bytes.append((2, 300.0))
    recorder.pull(1.0)
    log.activity_bytes.append((1, 100.0))
    recorder.pull(1.0)
    columns = recorder.snapshot().activities
    assert columns.rows.nbytes.tolist() == [100.0, 300.0]
    assert columns.rows.duration.tolist() == [0.5, 0.5]
    assert [columns.sources[place] for place in columns.rows.source] == ["tcp://b:1"] * 2
    recorder.clear()
    assert np.size(recorder.activities.columns([log.run]).rows.start) == 0


def test_a_run_without_any_key_ends(fake_clock: FakeClock) -> None:
    recorder = Recorder(clock=fake_clock)
    log = recorder.begin()
    log.graph_source = GraphSource({}, frozenset(), {}, grows=True)
    log.stop, log.status = log.start, "finished"
    runs: list[Run] = list(recorder.snapshot().runs)
    assert [(r.n_tasks, r.status) for r in runs] == [(0, "finished")]
    assert not recorder.is_active()
