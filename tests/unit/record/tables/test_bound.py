from __future__ import annotations

import os
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskscope.errors import OptionError
from taskscope.model.tables.records import GroupTotal
from taskscope.options import DEFAULT_MAX_TASKS
from taskscope.record import LaneKey, Recorder, RunLog, UnseenTask
from taskscope.record import intake as intake_module
from taskscope.record.tables import log as log_module
from tests.support.fakes.clock import FakeClock
from tests.support.recordings.run_writing import (
    begin_run,
    end_run,
    independent,
    record_run,
    report_task,
    write_task,
)


def held(recorder: Recorder) -> list[str]:
    """Return the keys that are held, oldest first, as the tasks table shows them."""
    return [str(key) for key in recorder.snapshot().table("tasks")["key"]]


def numbered(n: int, name: str = "x") -> list[str]:
    return [f"{name}{i}" for i in range(n)]


def test_the_oldest_tasks_go_first_and_are_counted(fake_clock: FakeClock) -> None:
    recorder = Recorder(max_tasks=3, clock=fake_clock)
    record_run(recorder, numbered(5))
    assert held(recorder) == ["x2", "x3", "x4"]
    assert (recorder.cursor, recorder.dropped) == (5, 2)
    record_run(recorder, numbered(2, "y"))
    assert held(recorder) == ["x4", "y0", "y1"]
    assert (recorder.cursor, recorder.dropped) == (7, 4)


def test_a_recording_says_how_many_of_its_own_tasks_were_dropped(fake_clock: FakeClock) -> None:
    recorder = Recorder(max_tasks=3, clock=fake_clock)
    record_run(recorder, numbered(5))
    record_run(recorder, numbered(2, "y"))
    assert [recorder.snapshot(n, n).dropped for n in (0, 1)] == [4, 0]
    assert recorder.snapshot().dropped == 4


def test_rows_of_one_run_that_go_at_once_from_several_blocks_are_all_counted(
    fake_clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_module, "_SMALL", 0)
    recorder = Recorder(max_tasks=3, clock=fake_clock)
    log = begin_run(recorder, independent(numbered(3)))
    for key in numbered(3):
        write_task(log, key, 100.0, 101.0)
        recorder.pull()
    end_run(log)
    record_run(recorder, numbered(3, "y"))
    assert (held(recorder), recorder.snapshot(0, 0).dropped) == (["y0", "y1", "y2"], 3)
    # Nothing of the first is left, so its graph is not kept.
    assert list(recorder.snapshot().graphs) == [1]


def test_as_long_as_any_run_has_rows_to_fold_there_is_more(fake_clock: FakeClock) -> None:
    recorder = Recorder(clock=fake_clock)
    logs = [begin_run(recorder, independent(keys)) for keys in (numbered(30_000), ["y0"])]
    for key in numbered(30_000):
        write_task(logs[0], key, 100.0, 101.0)
    assert recorder.pull(0.0)
    while recorder.pull(0.0):
        pass
    assert recorder.cursor == 30_000


def test_of_a_run_whose_tasks_are_all_gone_the_graph_goes_and_the_counts_stay(fake_clock: FakeClock) -> None:
    recorder = Recorder(max_tasks=3, clock=fake_clock)
    record_run(recorder, numbered(5))
    counts = recorder.progress()
    record_run(recorder, numbered(2, "y"))
    assert list(recorder.snapshot().graphs) == [0, 1]
    record_run(recorder, numbered(1, "z"))
    recording = recorder.snapshot()
    assert [(run.run, run.n_tasks) for run in recording.runs] == [(0, 5), (1, 2), (2, 1)]
    assert (list(recording.graphs), held(recorder)) == ([1, 2], ["y0", "y1", "z0"])
    assert recorder.progress(0, 0) == counts


def test_totals_per_group_stay_exact_after_rows_were_dropped(fake_clock: FakeClock) -> None:
    recorder = Recorder(max_tasks=2, clock=fake_clock)
    keys = [("load-1", i) for i in range(10)]
    log = begin_run(recorder, independent([*keys, "sum"]))
    for key in keys:
        write_task(log, key, 100.0, 100.5, cpu=0.25, size=8.0)
    write_task(log, "sum", 101.0, 103.0)
    end_run(log, stop=103.0)
    expected = [
        GroupTotal("load-1", "load", 10, 0, 5.0, 2.5, 80.0),
        GroupTotal("sum", "sum", 1, 0, 2.0, 0.0, 0.0),
    ]
    assert (recorder.snapshot().totals, held(recorder)) == (tuple(expected), ["('load-1', 9)", "sum"])
    recorder.clear()
    assert recorder.totals() == expected


def test_totals_of_a_group_are_the_sums_of_all_that_was_folded(fake_clock: FakeClock) -> None:
    recorder = Recorder(clock=fake_clock)
    log = begin_run(recorder, independent([("load-1", i) for i in range(3)]))
    for i in range(3):
        write_task(log, ("load-1", i), 100.0 + i, 100.5 + i, cpu=0.25, size=8.0)
        recorder.pull()
    assert recorder.totals() == [GroupTotal("load-1", "load", 3, 0, 1.5, 0.75, 24.0)]


def test_small_neighbours_of_one_run_are_kept_as_one_block(
    fake_clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_module, "_SMALL", 3)
    recorder = Recorder(clock=fake_clock)
    for sizes in ([2, 1, 2], [1]):
        keys = numbered(sum(sizes))
        log = begin_run(recorder, independent(keys))
        for size in sizes:
            for _ in range(size):
                write_task(log, keys.pop(), 100.0, 101.0)
            recorder.pull()
        end_run(log)
    assert [(block.run, len(block)) for block in recorder.snapshot().blocks] == [(0, 3), (0, 2), (1, 1)]


def test_whoever_wrote_a_row_it_is_in_its_lane_and_in_narrow_columns(fake_clock: FakeClock) -> None:
    recorder = Recorder(clock=fake_clock)
    lane, key = LaneKey(1, 2), "x"
    writers: list[Callable[[RunLog], None]] = [
        lambda log: write_task(log, key, 100.0, 101.0, thread=4),
        lambda log: log.remote.extend((key, 1, 3, 100.0, 101.0, 0.5, 8.0)),
        lambda log: report_task(log, key, lane, 100.0, 101.0),
        lambda log: log.fail(key, lane, 100.0, 101.0, 0.5, ValueError("no")),
        lambda log: log.unseen.append(UnseenTask(key, 100.0, 101.0, "lost", None)),
    ]
    for write in writers:
        log = begin_run(recorder, independent([key]))
        write(log)
        end_run(log, stop=102.0)
    blocks = recorder.snapshot().blocks
    columns = ("task", "start", "duration", "cpu_s", "lane", "flags")
    types = [tuple(getattr(block, name).dtype.str[1:] for name in columns) for block in blocks]
    assert types == [("i4", "f8", "f4", "f4", "u2", "u1")] * len(writers)
    lanes = [recorder.lanes[int(block.lane[0])] for block in blocks]
    mine = str(os.getpid())
    expected = [(mine, 4), ("1", 3), ("1", 2), ("1", 2), (mine, -1)]
    assert [(lane.worker, lane.thread) for lane in lanes] == expected


@given(st.lists(st.integers(1, 9), max_size=8), st.integers(1, 12))
def test_held_and_dropped_add_up_to_all_that_was_seen(sizes: list[int], max_tasks: int) -> None:
    recorder = Recorder(max_tasks=max_tasks, clock=FakeClock())
    seen: list[str] = []
    for n, size in enumerate(sizes):
        keys = numbered(size, f"run{n}.")
        record_run(recorder, keys)
        seen += keys
        assert recorder.cursor == len(seen)
        assert len(held(recorder)) + recorder.dropped == recorder.cursor
        assert held(recorder) == seen[-max_tasks:]


def test_a_higher_bound_holds_more_from_then_on(fake_clock: FakeClock) -> None:
    recorder = Recorder(max_tasks=1, clock=fake_clock)
    record_run(recorder, numbered(2))
    recorder.max_tasks = 3
    record_run(recorder, numbered(2, "y"))
    assert (recorder.max_tasks, held(recorder)) == (3, ["x1", "y0", "y1"])


def test_a_lower_bound_lets_go_of_the_oldest(fake_clock: FakeClock) -> None:
    recorder = Recorder(max_tasks=5, clock=fake_clock)
    record_run(recorder, numbered(5))
    recorder.max_tasks = 2
    record_run(recorder, ["y0"])
    assert (held(recorder), recorder.dropped) == (["x4", "y0"], 4)


@pytest.mark.parametrize("value", [0, -1, 1.5, "many", True, None])
def test_a_bound_that_cannot_work_is_refused(value: int) -> None:
    message = re.escape(f"max_tasks must be a positive whole number of tasks, got {value!r}")
    with pytest.raises(OptionError, match=f"^{message}$"):
        Recorder(max_tasks=value)
    recorder = Recorder()
    with pytest.raises(OptionError, match=f"^{message}$"):
        recorder.max_tasks = value
    assert recorder.max_tasks == DEFAULT_MAX_TASKS == 1_000_000


def test_clearing_forgets_rows_and_ended_runs_but_counts_on(fake_clock: FakeClock) -> None:
    recorder = Recorder(clock=fake_clock)
    record_run(recorder, numbered(3))
    log = begin_run(recorder, independent(["slow", "next"]))
    write_task(log, "slow", 100.0, 101.0)
    recorder.clear()
    assert (recorder.cursor, recorder.dropped, held(recorder)) == (4, 4, [])
    assert [run.run for run in recorder.runs()] == [1]
    write_task(log, "next", 101.0, 102.0)
    end_run(log)
    assert (held(recorder), recorder.snapshot(1).dropped) == (["next"], 1)
    assert recorder.next_run == 2


def test_the_runs_held_are_bounded_and_a_forgotten_run_takes_its_rows_along(
    fake_clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake_module, "_MAX_RUNS", 2)
    recorder = Recorder(clock=fake_clock)
    for n in range(4):
        record_run(recorder, numbered(2, f"run{n}."))
    first, rows = recorder.tasks_since(0, 100)
    assert (first, rows.run.tolist()) == (4, [2, 2, 3, 3])
    assert (recorder.cursor, recorder.dropped) == (8, 4)
    assert [run.run for run in recorder.runs()] == [2, 3]
    assert held(recorder) == ["run2.0", "run2.1", "run3.0", "run3.1"]
    recorder.max_tasks = 1
    record_run(recorder, ["last"])
    assert (held(recorder), recorder.dropped) == (["last"], 8)


def test_a_run_that_was_folded_in_slices_is_forgotten_with_all_its_rows(
    fake_clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake_module, "_MAX_RUNS", 1)
    recorder = Recorder(clock=fake_clock)
    log = begin_run(recorder, independent(["a", "b"]))
    for key in ("a", "b"):
        write_task(log, key, 100.0, 101.0)
        recorder.pull()
    end_run(log)
    recorder.pull()
    record_run(recorder, ["c"])
    assert (held(recorder), recorder.dropped, [run.run for run in recorder.runs()]) == (["c"], 2, [1])


def test_a_run_whose_rows_were_cleared_can_be_forgotten(
    fake_clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake_module, "_MAX_RUNS", 1)
    recorder = Recorder(clock=fake_clock)
    log = begin_run(recorder, independent(["slow"]))
    write_task(log, "slow", 100.0, 101.0)
    recorder.clear()
    end_run(log)
    for name in ("a", "b"):
        record_run(recorder, [name])
    assert ([run.run for run in recorder.runs()], held(recorder)) == ([2], ["b"])


def test_a_run_that_goes_on_is_not_forgotten(fake_clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake_module, "_MAX_RUNS", 2)
    recorder = Recorder(clock=fake_clock)
    log = begin_run(recorder, independent(["slow"]))
    for n in range(3):
        record_run(recorder, numbered(1, f"run{n}."))
    assert [run.run for run in recorder.snapshot().runs] == [0, 1, 2, 3]
    write_task(log, "slow", 100.0, 101.0)
    end_run(log)
    assert held(recorder) == ["run0.0", "run1.0", "run2.0", "slow"]
    record_run(recorder, ["last"])
    # Rows go in the order they came, so those before the forgotten one's went with it.
    assert [run.run for run in recorder.runs()] == [3, 4]
    assert (held(recorder), recorder.snapshot().dropped) == (["last"], 1)
