from __future__ import annotations

import math
import os
import re
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest

from taskscope.errors import UnknownNameError
from taskscope.model.public_tables import TABLES
from taskscope.model.recording import RecordedData
from taskscope.model.tables.process import ResourceRows
from taskscope.model.tables.records import BEFORE
from taskscope.record import LaneKey, Recorder, UnseenTask
from tests.support.fakes.clock import FakeClock
from tests.support.recordings.run_writing import begin_run, end_run, write_task

METADATA = {"pid": 4242, "memory_limit_bytes": 2**34}
DESIGNED = {
    "runs": "run label cell scheduler n_workers n_tasks start_s stop_s status error send_s"
    " received_s materialize_s order_s initialize_s pool_start_s lock_share graph_bytes"
    " largest_argument largest_argument_bytes",
    "tasks": "run key prefix group span lane worker thread start_s stop_s cpu_s cpu_from status"
    " observed_by result_bytes error",
    "activities": "run key lane activity start_s stop_s source nbytes error",
    "transfers": "worker peer direction start_s stop_s nbytes compressed_bytes n_keys keys",
    "steals": "time_s run key from_worker to_worker outcome cost_s from_occupancy_s to_occupancy_s",
    "resources": "time_s worker cpu_percent rss_bytes limit_bytes n_processes gap ready_threads "
    "peak_bytes beside_percent",
    "workers": "time_s worker name n_threads n_executing cpu_percent rss_bytes managed_bytes"
    " unmanaged_bytes spilled_bytes limit_bytes tick_s gil_contention net_read_bps net_write_bps"
    " disk_read_bps disk_write_bps n_fds gpu_percent gpu_bytes",
    "metrics": "run worker prefix activity seconds nbytes count",
    "cache": "run key prefix metric enter_s exit_s",
    "holdings": "time_s run prefix group n_keys nbytes n_unsized",
    "lines": "run prefix worker file function line count seconds self_seconds cpu_s cpu_known_s squares "
    "self_squares",
    "measured_lines": "run key prefix worker file function first_line line hits seconds cpu_s counting_s",
    "peak_lines": "peak run key prefix file function line nbytes n_allocations",
    "dependencies": "run key dependency",
    "messages": "time_s level text worker event",
}

BLOCK_TYPES = {
    "run": "i4",
    "group": "u4",
    "lane": "u2",
    "start": "f8",
    "stop": "f8",
    "cpu_s": "f4",
    "nbytes": "f8",
    "flags": "u1",
}


def plain(frame: pd.DataFrame) -> list[dict[str, object]]:
    """Return rows as dictionaries, with None for NaN so that they compare."""
    records: list[dict[str, object]] = frame.to_dict("records")  # type: ignore[assignment]  # keys are str here
    return [{k: None if isinstance(v, float) and math.isnan(v) else v for k, v in r.items()} for r in records]


@pytest.fixture
def recording(fake_clock: FakeClock) -> RecordedData:
    """Return a recording of a run with every kind of row, one that runs, and nothing known of either."""
    recorder = Recorder(clock=fake_clock)
    fake_clock.advance(10.0)
    log = begin_run(
        recorder,
        {"given": (), ("load-1", 0): (), ("load-1", 1): (), "total-ab12": (("load-1", 0), "given")},
        kept={"total-ab12"},
        data={"given": 64.0},
    )
    log.label, log.cell, log.scheduler, log.n_workers = "quick", "cell-1", "threads", 2
    write_task(log, ("load-1", 0), 110.5, 111.0, cpu=0.25, size=800.0, thread=7)
    log.fail("total-ab12", LaneKey(os.getpid(), 7, 0, "thread 7"), 111.0, 111.5, 0.125, ValueError("no"))
    log.unseen.append(UnseenTask(("load-1", 1), 110.25, 112.0, "lost", None))
    log.error = "ValueError: no"
    fake_clock.advance(2.0)
    end_run(log, "erred")
    recorder.resources.append(ResourceRows.of([(10.0, math.nan, 1e6, 1, False)]))
    recorder.resources.append(ResourceRows.of([(12.0, 150.0, 2e6, 3, True, 2.5, 3e6, 25.0)]))
    recorder.warn("mind the gap")
    begin_run(recorder, {"later": ()}, kept={"later"})
    return recorder.snapshot(start_s=10.0, metadata=METADATA)


@pytest.mark.parametrize("name", list(DESIGNED))
def test_a_table_has_exactly_the_columns_of_the_design(recording: RecordedData, name: str) -> None:
    assert list(recording.to_pandas(name).columns) == DESIGNED[name].split()


@pytest.mark.parametrize("name", list(DESIGNED))
def test_a_table_of_an_empty_recording_has_the_same_columns_and_types(
    recording: RecordedData, fake_clock: FakeClock, name: str
) -> None:
    empty = Recorder(clock=fake_clock).snapshot().table(name)
    types = {column: np.asarray(values).dtype for column, values in recording.table(name).items()}
    assert {c: (len(values), np.asarray(values).dtype) for c, values in empty.items()} == {
        column: (0, dtype) for column, dtype in types.items()
    }


def test_there_are_no_tables_but_those_of_the_design() -> None:
    assert list(TABLES) == list(DESIGNED)


def test_runs_say_how_they_were_run_and_how_they_ended(recording: RecordedData) -> None:
    assert plain(recording.to_pandas("runs")) == [
        {
            "run": 0, "label": "quick", "cell": "cell-1", "scheduler": "threads", "n_workers": 2,
            "n_tasks": 3, "start_s": 0.0, "stop_s": 2.0, "status": "erred", "error": "ValueError: no",
            **dict.fromkeys(BEFORE),
            **dict.fromkeys(("lock_share", "graph_bytes", "largest_argument", "largest_argument_bytes")),
        },
        {
            "run": 1, "label": None, "cell": None, "scheduler": None, "n_workers": None,
            "n_tasks": 1, "start_s": 2.0, "stop_s": None, "status": "running", "error": None,
            **dict.fromkeys(BEFORE),
            **dict.fromkeys(("lock_share", "graph_bytes", "largest_argument", "largest_argument_bytes")),
        },
    ]  # fmt: skip


def test_tasks_say_what_was_measured_and_leave_out_what_was_not(recording: RecordedData) -> None:
    own = str(os.getpid())
    assert plain(recording.to_pandas("tasks")) == [
        {
            "run": 0, "key": "('load-1', 0)", "prefix": "load", "group": "load-1", "span": None,
            "lane": 0, "worker": own, "thread": 7, "start_s": 0.5, "stop_s": 1.0, "cpu_s": 0.25,
            "status": "finished", "observed_by": "worker", "cpu_from": "measured", "result_bytes": 800.0,
            "error": None,
        },
        {
            "run": 0, "key": "total-ab12", "prefix": "total", "group": "total", "span": None,
            "lane": 0, "worker": own, "thread": 7, "start_s": 1.0, "stop_s": 1.5, "cpu_s": 0.125,
            "status": "erred", "observed_by": "worker", "cpu_from": "measured", "result_bytes": None,
            "error": "ValueError: no",
        },
        {
            "run": 0, "key": "('load-1', 1)", "prefix": "load", "group": "load-1", "span": None,
            "lane": 1, "worker": own, "thread": -1, "start_s": 0.25, "stop_s": 2.0, "cpu_s": None,
            "status": "lost", "observed_by": "scheduler", "cpu_from": None, "result_bytes": None,
            "error": None,
        },
    ]  # fmt: skip


def test_activities_of_a_local_run_are_its_computations(recording: RecordedData) -> None:
    activities = recording.to_pandas("activities")
    tasks = recording.to_pandas("tasks")
    shared = ["run", "key", "lane", "start_s", "stop_s", "error"]
    pd.testing.assert_frame_equal(activities[shared], tasks[shared])
    assert [(r["activity"], r["source"], r["nbytes"]) for r in plain(activities)] == [
        ("compute", None, None)
    ] * 3


def test_resources_are_counted_from_the_zero_of_the_recording(recording: RecordedData) -> None:
    common = {"worker": "4242", "limit_bytes": float(2**34)}
    assert plain(recording.to_pandas("resources")) == [
        {"time_s": 0.0, "cpu_percent": None, "rss_bytes": 1e6, "n_processes": 1, "gap": False}
        | {"ready_threads": None, "peak_bytes": None, "beside_percent": None}
        | common,
        {"time_s": 2.0, "cpu_percent": 150.0, "rss_bytes": 2e6, "n_processes": 3, "gap": True}
        | {"ready_threads": 2.5, "peak_bytes": 3e6, "beside_percent": 25.0}
        | common,
    ]


def test_the_cache_table_holds_what_entered_with_its_size(recording: RecordedData) -> None:
    assert plain(recording.to_pandas("cache")) == [
        {"run": 0, "key": "given", "prefix": "given", "metric": 64.0, "enter_s": 0.0, "exit_s": 2.0},
        {"run": 0, "key": "('load-1', 0)", "prefix": "load", "metric": 800.0, "enter_s": 1.0, "exit_s": 2.0},
    ]


def test_dependencies_are_those_of_the_graph(recording: RecordedData) -> None:
    found = {(r["run"], r["key"], r["dependency"]) for r in plain(recording.to_pandas("dependencies"))}
    assert found == {(0, "total-ab12", "('load-1', 0)"), (0, "total-ab12", "given")}


def test_messages_are_counted_from_the_zero_of_the_recording(recording: RecordedData) -> None:
    assert plain(recording.to_pandas("messages")) == [
        {"time_s": 2.0, "level": "warning", "text": "mind the gap", "worker": None, "event": None}
    ]


def test_the_zero_of_a_recording_is_the_wall_clock_then(recording: RecordedData) -> None:
    assert recording.started_at == datetime.fromtimestamp(1_700_000_010.0, UTC)


def test_an_unknown_table_names_the_nearest_one(recording: RecordedData) -> None:
    expected = "unknown table 'task'; did you mean 'tasks'? Known: " + ", ".join(map(repr, DESIGNED))
    with pytest.raises(UnknownNameError, match=f"^{re.escape(expected)}$"):
        recording.table("task")


def test_a_recording_says_what_is_in_it(recording: RecordedData, fake_clock: FakeClock) -> None:
    assert repr(recording) == "<Recording: 2 runs (erred, running), 3 tasks>"
    assert repr(Recorder(clock=fake_clock).snapshot()) == "<Recording: 0 runs (empty), 0 tasks>"


def test_tables_of_a_recording_do_not_change_with_the_recorder(fake_clock: FakeClock) -> None:
    recorder = Recorder(clock=fake_clock, max_tasks=2)
    log = begin_run(recorder, {("x", i): () for i in range(4)})
    write_task(log, ("x", 0), 100.0, 101.0)
    before = recorder.snapshot()
    tables = {name: before.to_pandas(name) for name in TABLES}
    for i in range(1, 4):
        write_task(log, ("x", i), 101.0, 102.0, size=2.0**40)
    end_run(log)
    recorder.warn("changed")
    recorder.resources.append(ResourceRows.of([(1.0, 100.0, 1e6, 1, False)]))
    recorder.snapshot()
    for name, table in tables.items():
        pd.testing.assert_frame_equal(before.to_pandas(name), table)


def test_numbers_of_a_task_block_have_the_documented_types(recording: RecordedData) -> None:
    tasks = recording.tasks
    types = {name: getattr(tasks, name).dtype.str[1:] for name in BLOCK_TYPES}
    assert types == BLOCK_TYPES
    assert all(len(getattr(tasks, name)) == len(tasks) == 3 for name in types)
    assert np.isnan(tasks.sizes()).tolist() == [False, True, True]
