from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskscope.model.keys import key_text
from taskscope.model.tables.process import ResourceRows
from taskscope.model.tables.records import Group, Lane, PrefixProgress, Run, RunningTask
from taskscope.record import LaneKey, Recorder, UnseenTask
from tests.support.fakes.clock import FakeClock
from tests.support.recordings.run_writing import (
    begin_run,
    end_run,
    independent,
    lane_of,
    record_run,
    write_task,
)


def run_record(run: int, **changes: object) -> Run:
    fields: dict[str, object] = {
        "run": run,
        "label": None,
        "cell": None,
        "scheduler": None,
        "n_workers": None,
        "n_tasks": 1,
        "start_s": 0.0,
        "stop_s": None,
        "status": "running",
        "error": None,
    }
    return Run(**(fields | changes))  # type: ignore[arg-type]  # fields vary by test


@pytest.fixture
def recorder(fake_clock: FakeClock) -> Recorder:
    return Recorder(clock=fake_clock)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=5), st.integers(1, 7), st.integers(1, 40))
def test_pages_give_every_row_once_and_in_order(sizes: list[int], limit: int, max_tasks: int) -> None:
    recorder = Recorder(clock=FakeClock(), max_tasks=max_tasks)
    keys = [("x", run, i) for run, size in enumerate(sizes) for i in range(size)]
    for run in range(len(sizes)):
        record_run(recorder, [key for key in keys if key[1] == run])
    cursor, paged = 0, []
    while cursor < recorder.cursor:
        first, rows = recorder.tasks_since(cursor, limit)
        assert first >= cursor
        assert len(rows) == min(limit, recorder.cursor - first)
        paged += list(rows.keys.iter_text(["x"] * len(rows)))
        cursor = first + len(rows)
    assert paged == [key_text(key) for key in keys][-max_tasks:]
    assert recorder.tasks_since(cursor, limit)[0] == cursor
    assert len(recorder.tasks_since(cursor, limit)[1]) == 0


def test_rows_that_were_dropped_are_skipped_and_the_first_one_says_so(fake_clock: FakeClock) -> None:
    recorder = Recorder(clock=fake_clock, max_tasks=2)
    record_run(recorder, ["a", "b", "c"])
    first, rows = recorder.tasks_since(0, 10)
    assert (first, list(rows.keys.iter_text([""] * 2))) == (1, ["b", "c"])


def test_rows_can_be_read_before_their_graph_was_counted(recorder: Recorder) -> None:
    keys = [("x", i) for i in range(5_000)]
    log = begin_run(recorder, independent(keys))
    write_task(log, keys[4_999], 100.0, 101.0)
    assert recorder.pull(budget_s=0.0)
    _, rows = recorder.tasks_since(0, 10)
    assert (list(rows.keys.iter_text(["x"])), rows.group.tolist()) == (["('x', 4999)"], [0])


def test_rows_say_what_tasks_raised_while_the_run_lasts_and_after(recorder: Recorder) -> None:
    log = begin_run(recorder, independent(["a", "b", "c", "d", "e"]))
    write_task(log, "a", 100.0, 101.0)
    log.fail("b", LaneKey(os.getpid(), 2), 100.0, 101.0, 0.5, ValueError("no"))
    log.fail("c", LaneKey(os.getpid(), 3), 100.0, 101.0, 0.5, OSError("never"))
    log.unseen.append(UnseenTask("d", 100.0, 101.0, "lost", None))
    log.unseen.append(UnseenTask("e", 100.0, 101.0, "erred", "KeyError: 1"))
    recorder.pull()
    live = recorder.tasks_since(0, 10)[1]
    end_run(log, "erred", 102.0)
    recorder.pull()
    names = ["a", "b", "c", "d", "e"]
    assert list(live.keys.iter_text(names)) == names
    errors = {1: "ValueError: no", 2: "OSError: never", 4: "KeyError: 1"}
    assert live.errors == recorder.tasks_since(0, 10)[1].errors == errors
    assert recorder.tasks_since(1, 1)[1].errors == {0: "ValueError: no"}


def test_a_pull_folds_a_slice_and_says_that_more_waits(recorder: Recorder) -> None:
    keys = [("x", i) for i in range(30_000)]
    log = begin_run(recorder, independent(keys))
    for key in keys:
        write_task(log, key, 100.0, 101.0)
    end_run(log)
    seen = []
    while recorder.pull(budget_s=0.0):
        seen.append(recorder.cursor)
    assert seen[0] == 10_000
    assert (recorder.cursor, recorder.is_active(), recorder.pull()) == (30_000, False, False)


def test_runs_are_told_when_new_and_when_changed_and_never_twice(
    recorder: Recorder, fake_clock: FakeClock
) -> None:
    assert recorder.runs_since(0) == (0, [])
    log = begin_run(recorder, {"x": ()})
    recorder.pull()
    version, runs = recorder.runs_since(0)
    assert runs == [run_record(0)]
    assert recorder.runs_since(version) == (version, [])
    other = begin_run(recorder, {"y": ()})
    recorder.pull()
    write_task(log, "x", 100.0, 101.0)
    fake_clock.advance(2.0)
    end_run(log)
    recorder.pull()
    newer, runs = recorder.runs_since(version)
    assert newer > version
    assert runs == [run_record(1), run_record(0, stop_s=2.0, status="finished")]
    assert recorder.runs_since(newer) == (newer, [])
    write_task(other, "y", 102.0, 103.0)
    other.error = "ValueError: no"
    end_run(other, "erred")
    recorder.pull()
    ended = run_record(1, stop_s=2.0, status="erred", error="ValueError: no")
    assert recorder.runs_since(newer)[1] == [ended]
    assert recorder.runs_since(0)[1] == [runs[1], ended]


def test_a_compute_goes_on_from_its_beginning_to_its_stop_folded_or_not(recorder: Recorder) -> None:
    seen = [(recorder.is_computing(), recorder.is_active())]
    log = begin_run(recorder, independent(["a"]))
    seen.append((recorder.is_computing(), recorder.is_active()))
    recorder.pull()
    seen.append((recorder.is_computing(), recorder.is_active()))
    write_task(log, "a", 100.0, 101.0)
    end_run(log)
    seen.append((recorder.is_computing(), recorder.is_active()))
    while recorder.pull():
        pass
    seen.append((recorder.is_computing(), recorder.is_active()))
    assert seen == [(False, False), (True, True), (True, True), (False, True), (False, False)]


def test_the_next_run_gets_the_number_that_was_foretold(recorder: Recorder) -> None:
    assert recorder.next_run == 0
    begin_run(recorder, {"x": ()})
    assert recorder.next_run == begin_run(recorder, {"x": ()}).run == 1
    assert recorder.next_run == 2


def test_progress_counts_each_prefix_by_state(recorder: Recorder, fake_clock: FakeClock) -> None:
    keys = [("load-1", i) for i in range(6)]
    log = begin_run(recorder, {**independent(keys), "given": (), "sum": ()}, data={"given": 8.0})
    write_task(log, keys[0], 100.0, 101.0)
    write_task(log, keys[1], 101.0, 101.5)
    log.fail(keys[2], LaneKey(os.getpid(), 1), 101.0, 101.5, 0.5, ValueError("no"))
    log.unseen.append(UnseenTask(keys[3], 101.0, 102.0, "lost", None))
    log.unseen.append(UnseenTask(keys[4], 101.0, 102.0, "interrupted", None))
    lane_of(log).open = (keys[5], 102.0)
    log.submitted["sum"] = 101.0
    recorder.pull()
    load = PrefixProgress(0, "load", 6, 2, 1, 1, 2, 4.0, first_s=0.0)
    assert recorder.progress() == [load, PrefixProgress(0, "sum", 1, 0, 0, 1, 0, 0.0)]
    record_run(recorder, ["later"])
    assert recorder.progress(first_run=1) == [PrefixProgress(1, "later", 1, 1, 0, 0, 0, 1.0, first_s=0.0)]
    assert recorder.progress(last_run=0)[0] == load


def test_tasks_in_flight_are_told_longest_running_first(recorder: Recorder) -> None:
    log = begin_run(recorder, independent([("x-1", 0), "y", "z"]))
    lane_of(log).open = (("x-1", 0), 102.0)
    log.submitted["y"] = 101.0
    recorder.pull()
    assert recorder.running() == [RunningTask(0, None, 1, "y", 1.0), RunningTask(0, 0, 0, "('x-1', 0)", 2.0)]
    assert recorder.groups == [Group(0, "x-1", "x", 0), Group(1, "y", "y", 1), Group(2, "z", "z", 2)]
    assert recorder.lanes == [Lane(0, str(os.getpid()), 1, "thread 1")]
    lane_of(log).open = None
    log.submitted.clear()
    assert recorder.running() == []


def test_a_snapshot_of_a_running_compute_shows_tasks_in_flight_as_rows(
    recorder: Recorder, fake_clock: FakeClock
) -> None:
    log = begin_run(recorder, independent(["done", "open", "sent"]))
    write_task(log, "done", 100.0, 100.5)
    lane_of(log).open = ("open", 100.5)
    log.submitted["sent"] = 100.25
    fake_clock.advance(2.0)
    table = recorder.snapshot().to_pandas("tasks")
    assert table[["key", "status", "observed_by", "start_s"]].to_numpy().tolist() == [
        ["done", "finished", "worker", 0.0],
        ["open", "running", "worker", 0.5],
        ["sent", "running", "scheduler", 0.25],
    ]
    assert table["stop_s"].isna().tolist() == [False, True, True]
    end_run(log, "interrupted")
    assert recorder.snapshot().to_pandas("tasks")["status"].tolist() == [
        "finished",
        "interrupted",
        "interrupted",
    ]


def test_a_task_in_flight_overlaps_no_other_in_the_lanes_of_unknown_workers(recorder: Recorder) -> None:
    log = begin_run(recorder, independent(["ended", "sent"]))
    log.submitted.update(ended=101.0, sent=102.0)
    log.end_unreported("ended", 103.0, "finished")
    tasks = recorder.snapshot().to_pandas("tasks")
    assert tasks[["key", "status", "thread"]].to_numpy().tolist() == [
        ["ended", "finished", -1],
        ["sent", "running", -2],
    ]


def test_tasks_that_workers_of_a_cluster_run_are_in_the_lanes_that_these_told(recorder: Recorder) -> None:
    log = begin_run(recorder, independent(["waits", "runs", "moved", "dies"]))
    for key, worker in {"waits": "a", "runs": "a", "moved": "b", "dies": "a"}.items():
        log.submitted[key], log.sent_to[key] = 101.0, (worker, f"worker {worker}")
    lanes = [LaneKey(0, thread, label=f"worker a, thread {thread}", worker="a") for thread in (1, 2, 3)]
    log.running_on = {
        "moved": (lanes[0], 101.5),
        "runs": (lanes[1], 102.0),
        "dies": (lanes[2], 102.5),
        "ended": (lanes[2], 101.5),
    }
    table = recorder.snapshot().to_pandas("tasks")
    columns = ["key", "worker", "thread", "observed_by", "start_s"]
    assert sorted(table[columns].to_numpy().tolist()) == [
        ["dies", "a", 3, "worker", 2.5],
        ["moved", "b", -1, "scheduler", 1.0],
        ["runs", "a", 2, "worker", 2.0],
        ["waits", "a", -1, "scheduler", 1.0],
    ]
    running = {task.key_text: (task.lane is None, task.start_s) for task in recorder.running()}
    assert running == {"dies": (False, 2.5), "moved": (True, 1.0), "runs": (False, 2.0), "waits": (True, 1.0)}
    assert [key for _, key, _ in log.sent(3)] == ["moved", "runs", "dies"]
    log.end_unreported("dies", 103.0, "lost", "worker a died")
    recorder.pull()
    table = recorder.snapshot().to_pandas("tasks")
    lost = table[table["status"] == "lost"][["key", "worker", "thread", "start_s", "stop_s"]]
    assert lost.to_numpy().tolist() == [["dies", "a", 3, 2.5, 3.0]]


def test_a_task_that_was_written_but_not_yet_closed_is_one_task(recorder: Recorder) -> None:
    log = begin_run(recorder, independent(["done", "bad", "next"]))
    write_task(log, "done", 100.5, 101.0)
    lane_of(log).open = ("done", 100.5)
    log.fail("bad", LaneKey(os.getpid(), 2), 100.0, 101.0, 0.5, ValueError("no"))
    lane_of(log, 2).open = ("bad", 100.0)
    tasks = recorder.snapshot().to_pandas("tasks")
    assert tasks[["key", "status"]].to_numpy().tolist() == [["done", "finished"], ["bad", "erred"]]
    assert recorder.running() == []
    lane_of(log).open = ("next", 101.0)
    assert [task.key_text for task in recorder.running()] == ["next"]


def test_a_task_in_flight_when_its_compute_failed_is_interrupted_once_it_ends(recorder: Recorder) -> None:
    log = begin_run(recorder, independent(["last", "late"]))
    write_task(log, "last", 101.0, 102.0, thread=2)
    lane_of(log).open = ("late", 101.0)
    end_run(log, "erred", stop=102.0)
    recorder.pull()
    assert recorder.is_active()
    write_task(log, "late", 101.0, 105.0)
    lane_of(log).open = None
    recorder.pull()
    assert not recorder.is_active()
    table = recorder.snapshot().to_pandas("tasks")
    assert table[["key", "status", "start_s", "stop_s"]].to_numpy().tolist() == [
        ["last", "finished", 1.0, 2.0],
        ["late", "interrupted", 1.0, 5.0],
    ]


def test_every_task_of_a_finished_compute_is_finished_whatever_a_worker_s_clock_said(
    recorder: Recorder,
) -> None:
    log = begin_run(recorder, independent(["x"]))
    write_task(log, "x", 101.0, 103.0)
    end_run(log, "finished", stop=102.0)
    assert recorder.snapshot().to_pandas("tasks")["status"].tolist() == ["finished"]


def test_a_window_holds_its_runs_and_nothing_of_others(recorder: Recorder, fake_clock: FakeClock) -> None:
    for name in ("a", "b", "c"):
        fake_clock.advance(10.0)
        record_run(recorder, [name])
        recorder.resources.append(ResourceRows.of([(recorder.now_s(), 100.0, 1e6, 1, False)]))
        recorder.warn(f"after {name}")
    window = recorder.snapshot(1, 1, start_s=20.0, stop_s=25.0, metadata={"cell": 3})
    assert [(r.run, r.start_s) for r in window.runs] == [(1, 20.0)]
    assert window.to_pandas("tasks")[["key", "start_s"]].to_numpy().tolist() == [["b", 0.0]]
    assert window.to_pandas("resources")["time_s"].tolist() == [0.0]
    assert window.to_pandas("messages")["text"].tolist() == ["after b"]
    assert (dict(window.metadata), window.dropped) == ({"cell": 3}, 0)
    assert recorder.snapshot(1).to_pandas("tasks")["key"].tolist() == ["b", "c"]


def test_clocks_of_the_past_never_give_negative_durations(recorder: Recorder) -> None:
    log = begin_run(recorder, independent(["x"]))
    write_task(log, "x", 101.0, 100.0, cpu=5.0)
    end_run(log)
    tasks = recorder.snapshot().tasks
    assert ((tasks.stop - tasks.start).tolist(), tasks.cpu_s.tolist()) == ([0.0], [0.0])


def test_a_run_says_how_long_the_interpreters_lock_was_waited_for_while_it_ran(
    recorder: Recorder, fake_clock: FakeClock
) -> None:
    recorder.note_lock_wait(recorder.now_s(), 0.5)
    early = begin_run(recorder, independent(["x", "y"]))
    recorder.pull_all()
    before_s = recorder.now_s()
    fake_clock.advance(1.0)
    late = begin_run(recorder, independent(["z"]))
    recorder.pull_all()
    # What was asked for before a run began says nothing of it; nor does an answer that came early.
    for asked_s, seconds in ((before_s, 0.25), (recorder.now_s(), 0.125), (recorder.now_s(), -0.001)):
        recorder.note_lock_wait(asked_s, seconds)
    assert [run.lock_wait_s for run in recorder.runs()] == [None, None]
    end_run(early)
    recorder.note_lock_wait(recorder.now_s(), 4.0)
    end_run(late)
    recorder.pull_all()
    assert [run.lock_wait_s for run in recorder.runs()] == [0.125, 1.375]
