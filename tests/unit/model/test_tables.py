from __future__ import annotations

import math
import os
import re

import numpy as np
import pandas as pd
import pytest

from taskscope.errors import UnknownNameError
from taskscope.model.public_tables import TABLES
from taskscope.model.tables.records import BEFORE
from taskscope.record import Recorder
from taskscope.recording import Recording
from tests.support.fakes.clock import FakeClock
from tests.support.recordings.every_row import recording_of_every_row
from tests.support.recordings.run_writing import DIAMOND, begin_run, end_run, write_task
from tests.support.recordings.spelled_out import recording_of
from tests.support.recordings.task_blocks import Row


def plain(frame: pd.DataFrame) -> list[dict[str, object]]:
    """Return rows as dictionaries, with None for NaN so that they compare."""
    records: list[dict[str, object]] = frame.to_dict("records")  # type: ignore[assignment]  # keys are str here
    return [{k: None if isinstance(v, float) and math.isnan(v) else v for k, v in r.items()} for r in records]


@pytest.fixture
def recording() -> Recording:
    return recording_of_every_row()


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_an_empty_recording_has_the_same_columns_and_types(
    recording: Recording, name: str
) -> None:
    empty = recording_of([]).table(name)
    types = {column: np.asarray(values).dtype for column, values in recording.table(name).items()}
    assert {c: (len(values), np.asarray(values).dtype) for c, values in empty.items()} == {
        column: (0, dtype) for column, dtype in types.items()
    }


def test_runs_say_how_they_were_run_and_how_they_ended(recording: Recording) -> None:
    assert plain(recording.to_pandas("runs")) == [
        {
            "run": 0, "label": "quick", "cell": "cell-1", "scheduler": "threads", "n_workers": 2,
            "n_tasks": 3, "start_s": 0.0, "stop_s": 2.0, "status": "erred", "error": "ValueError: no",
            **dict.fromkeys(BEFORE),
            **dict.fromkeys(("lock_share", "graph_bytes", "largest_argument", "largest_argument_bytes")),
            "called_from": None, "n_runs": 1, "last_run": None, "computing_s": None,
        },
        {
            "run": 1, "label": None, "cell": None, "scheduler": None, "n_workers": None,
            "n_tasks": 1, "start_s": 2.0, "stop_s": None, "status": "running", "error": None,
            **dict.fromkeys(BEFORE),
            **dict.fromkeys(("lock_share", "graph_bytes", "largest_argument", "largest_argument_bytes")),
            "called_from": None, "n_runs": 1, "last_run": None, "computing_s": None,
        },
    ]  # fmt: skip


def test_tasks_say_what_was_measured_and_leave_out_what_was_not(recording: Recording) -> None:
    own = str(os.getpid())
    assert plain(recording.to_pandas("tasks")) == [
        {
            "run": 0, "key": "('load-1', 0)", "prefix": "load", "group": "load-1", "span": None,
            "function": None,
            "lane": 0, "worker": own, "thread": 7, "start_s": 0.5, "stop_s": 1.0,
            "queued_s": 0.5, "cpu_s": 0.25,
            "status": "finished", "observed_by": "worker", "result_bytes": 800.0,
            "error": None,
        },
        {
            "run": 0, "key": "total-ab12", "prefix": "total", "group": "total", "span": None,
            "function": None,
            "lane": 0, "worker": own, "thread": 7, "start_s": 1.0, "stop_s": 1.5,
            "queued_s": 0.0, "cpu_s": 0.125,
            "status": "erred", "observed_by": "worker", "result_bytes": None,
            "error": "ValueError: no",
        },
        {
            "run": 0, "key": "('load-1', 1)", "prefix": "load", "group": "load-1", "span": None,
            "function": None,
            "lane": 1, "worker": own, "thread": -1, "start_s": 0.25, "stop_s": 2.0,
            "queued_s": 0.25, "cpu_s": None,
            "status": "lost", "observed_by": "scheduler", "result_bytes": None,
            "error": None,
        },
    ]  # fmt: skip


def test_a_task_is_queued_from_when_the_last_result_that_it_needs_was_in_memory(
    fake_clock: FakeClock,
) -> None:
    recorder = Recorder(clock=fake_clock)
    log = begin_run(recorder, DIAMOND, data={"data": 8.0})
    starts = {("x", 0): 0.5, ("x", 1): 1.0, "sum": 3.25, "last": 4.5}
    for key, start_s in starts.items():
        write_task(log, key, log.start + start_s, log.start + start_s + 1)
    end_run(log, stop=log.start + 6)
    recorder.pull_all()
    tasks = Recording.of(recorder.snapshot()).to_pandas("tasks").set_index("key")
    assert tasks.queued_s.to_dict() == pytest.approx(
        {"('x', 0)": 0.5, "('x', 1)": 1.0, "sum": 3.25 - 2.0, "last": 4.5 - 4.25}
    )


def test_activities_of_a_local_run_are_its_computations(recording: Recording) -> None:
    activities = recording.to_pandas("activities")
    tasks = recording.to_pandas("tasks")
    shared = ["run", "key", "lane", "start_s", "stop_s", "error"]
    pd.testing.assert_frame_equal(activities[shared], tasks[shared])
    assert [(r["activity"], r["source"], r["nbytes"]) for r in plain(activities)] == [
        ("compute", None, None)
    ] * 3


def test_resources_are_counted_from_the_zero_of_the_recording(recording: Recording) -> None:
    common = {"worker": "4242", "limit_bytes": float(2**34)}
    assert plain(recording.to_pandas("resources")) == [
        {"time_s": 0.0, "cpu_percent": None, "rss_bytes": 1e6, "n_processes": 1, "gap": False}
        | {"ready_threads": None, "peak_bytes": None, "beside_percent": None}
        | common,
        {"time_s": 2.0, "cpu_percent": 150.0, "rss_bytes": 2e6, "n_processes": 3, "gap": True}
        | {"ready_threads": 2.5, "peak_bytes": 3e6, "beside_percent": 25.0}
        | common,
    ]


def test_the_cache_table_holds_what_entered_with_its_size(recording: Recording) -> None:
    assert plain(recording.to_pandas("cache")) == [
        {"run": 0, "key": "given", "prefix": "given", "metric": 64.0, "enter_s": 0.0, "exit_s": 2.0},
        {"run": 0, "key": "('load-1', 0)", "prefix": "load", "metric": 800.0, "enter_s": 1.0, "exit_s": 2.0},
    ]


def test_dependencies_are_those_of_the_graph(recording: Recording) -> None:
    found = {(r["run"], r["key"], r["dependency"]) for r in plain(recording.to_pandas("dependencies"))}
    assert found == {(0, "total-ab12", "('load-1', 0)"), (0, "total-ab12", "given")}


def test_messages_are_counted_from_the_zero_of_the_recording(recording: Recording) -> None:
    assert plain(recording.to_pandas("messages")) == [
        {"time_s": 2.0, "level": "warning", "text": "mind the gap", "worker": None, "event": None}
    ]


def test_an_unknown_table_names_the_nearest_one(recording: Recording) -> None:
    expected = "unknown table 'task'; did you mean 'tasks'? Known: " + ", ".join(map(repr, TABLES))
    with pytest.raises(UnknownNameError, match=f"^{re.escape(expected)}$"):
        recording.table("task")


def test_a_recording_says_what_is_in_it(recording: Recording) -> None:
    assert repr(recording) == "<Recording: 2 runs (erred, running), 3 tasks>"
    assert repr(recording_of([Row()])) == "<Recording: 1 run (finished), 1 task>"
    assert repr(recording_of([])) == "<Recording: 0 runs (empty), 0 tasks>"
