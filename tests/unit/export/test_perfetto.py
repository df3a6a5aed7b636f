"""A trace in Perfetto's format has every task, read back by a reader that shares nothing with the writer."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import dask
import numpy as np

import taskscope
from taskscope.model.public_tables import TABLES
from taskscope.model.tables.activities import FAILED_ATTEMPT, ActivityColumns, ActivityRows
from taskscope.recording import Recording
from tests.support.files.perfetto import Trace, read_trace
from tests.support.recordings.spelled_out import ZERO_S, recording_of, run_of
from tests.support.recordings.task_blocks import Row
from tests.support.waiting import PATIENCE_S


def trace_of(recording: Recording, folder: Path) -> Trace:
    recording.to_perfetto(folder / "a.pftrace", overwrite=True)
    return read_trace((folder / "a.pftrace").read_bytes())


def test_every_task_of_a_real_compute_is_one_slice_of_its_thread(tmp_path: Path) -> None:
    def add(*values: int) -> int:
        return sum(values)

    with taskscope.profile(display=False, label="sum") as run:
        firsts = [dask.delayed(add)(i, dask_key_name=("first", i, -i)) for i in range(300)]
        dask.delayed(add)(*firsts, dask_key_name="größte").compute(scheduler="threads", num_workers=3)
    recording = run.recording
    trace = trace_of(recording, tmp_path)
    tracks = {lane.id: f"worker {lane.worker}/{lane.label}" for lane in recording.lanes}
    tasks = recording.to_pandas("tasks").to_dict("records")
    expected = [
        (
            tracks[task["lane"]],
            task["prefix"],
            round(task["start_s"] * 1e9),
            round(task["stop_s"] * 1e9),
            {name: task[name] for name in ("key", "cpu_s", "result_bytes") if task[name] == task[name]},
        )
        for task in tasks
    ]
    assert len(expected) == 301
    computes = [each for each in trace.slices if each[0] == "computes"]
    found = [each for each in trace.slices if each[0] != "computes"]
    assert sorted(found, key=lambda each: str(each[4])) == sorted(expected, key=lambda each: str(each[4]))
    assert [(each[1], each[4]) for each in computes] == [
        ("sum", {"scheduler": "threads", "status": "finished"})
    ]
    assert trace.zero_ns == {int(recording.started_at.timestamp() * 1e6) * 1000}
    counted = trace.counters["results in memory (nbytes)"]
    assert counted[-1][1] == 0
    assert [time for time, _ in counted] == sorted({time for time, _ in counted})


AT_EXIT = """
import atexit, pathlib, sys, taskscope
recording, folder = taskscope.load(sys.argv[1]), pathlib.Path(sys.argv[1]).parent
atexit.register(recording.save, folder / "at-exit.pftrace")
atexit.register(recording.to_parquet, folder / "tables")
atexit.register(recording.to_html, folder / "at-exit.html")
"""


def test_files_are_the_same_where_the_process_ends_and_no_thread_can_begin(
    recording: Recording, tmp_path: Path
) -> None:
    recording.save(tmp_path / "a.taskscope")
    command = [sys.executable, "-c", AT_EXIT, str(tmp_path / "a.taskscope")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE_S)
    assert done.stderr == ""
    loaded = taskscope.load(tmp_path / "a.taskscope")
    loaded.save(tmp_path / "now.pftrace")
    loaded.save(tmp_path / "now.html")
    for extension in ("pftrace", "html"):
        at_exit, now = ((tmp_path / f"{name}.{extension}").read_bytes() for name in ("at-exit", "now"))
        assert at_exit == now
    assert {path.stem for path in (tmp_path / "tables").iterdir()} == set(TABLES)


def test_an_empty_recording_is_an_empty_trace_and_any_text_can_be_written(tmp_path: Path) -> None:
    assert trace_of(recording_of([]), tmp_path).slices == []
    runs = [replace(run_of(n_tasks=1), label="\ud800")]
    assert trace_of(recording_of([Row()], runs), tmp_path).slices[0][1] == "\\ud800"


def test_what_overlaps_is_in_tracks_below_and_what_is_unknown_is_left_out(tmp_path: Path) -> None:
    rows = [
        Row(key=("inc-1", 0, 7), stop_s=1.0, cpu_s=0.5, size_bytes=8.0),
        Row(key="add", start_s=0.25, stop_s=0.5, status="erred", error="ValueError: ä"),
        Row(key=("inc-1", 1), start_s=0.75, stop_s=2.0),
        Row(key=("dec-1",), lane=1, start_s=1.0, stop_s=1.0, status="interrupted"),
        Row(key=("dec-2",), lane=1, start_s=1.0, stop_s=3.0, status="running"),
    ]
    activities = ActivityRows.of(
        [
            (0, 0, 1, 0, ZERO_S + 1.5, 0.25, 1, 80.0, 0),
            (0, 0, 1, 0, ZERO_S + 1.625, 0.25, 0, math.nan, 0),
            (0, 0, 1, FAILED_ATTEMPT, ZERO_S + 3.5, 0.125, 2, math.nan, 0),
        ]
    )
    recording = recording_of(
        rows,
        [run_of(n_tasks=5, stop_s=None, status="running")],
        resources=[(0.5, np.nan, 7e6, 1, 0.0), (1.5, 150.0, 8e6, 1, 0.0)],
    )
    recording = replace(
        recording,
        activities=ActivityColumns(activities, ("", "tcp://b:1", "ValueError: no")),
        graphs={0: replace(recording.graphs[0], errors={1: "ValueError: ä"})},
    )
    trace = trace_of(recording, tmp_path)
    one, two, below = (f"worker 1234/thread {lane}" for lane in ("0", "1", "0/at the same time"))
    besides = f"{two}/activities"
    milliseconds = [(*each[:2], each[2] / 1e6, each[3] / 1e6, each[4]) for each in trace.slices]
    assert milliseconds == [
        ("computes", "compute 0", 0, 10_000, {"scheduler": "threads", "status": "running"}),
        (one, "inc", 0, 1_000, {"key": "('inc-1', 0, 7)", "cpu_s": 0.5, "result_bytes": 8.0}),
        (below, "add", 250, 500, {"key": "add", "status": "erred", "error": "ValueError: ä"}),
        (below, "inc", 750, 2_000, {"key": "('inc-1', 1)"}),
        (two, "dec", 1_000, 1_000, {"key": "('dec-1',)", "status": "interrupted"}),
        (two, "dec", 1_000, 10_000, {"key": "('dec-2',)", "status": "running"}),
        (besides, "transfer", 1_500, 1_750, {"source": "tcp://b:1", "nbytes": 80.0}),
        (besides, "failed-attempt", 3_500, 3_625, {"error": "ValueError: no"}),
        (f"{besides}/at the same time", "transfer", 1_625, 1_875, {}),
    ]
    assert {name: counted for name, counted in trace.counters.items() if name[:3] in {"CPU", "mem"}} == {
        "CPU (%)": [(1_500_000_000, 150.0)],
        "memory (bytes)": [(500_000_000, 7e6), (1_500_000_000, 8e6)],
    }


def test_a_counter_of_many_changes_keeps_the_highest_of_each_stretch(tmp_path: Path) -> None:
    samples = [(i / 1_000, float(i % 7), 1e6 + i % 11, 1, 0.0) for i in range(30_000)]
    recording = recording_of([Row(stop_s=30.0)], resources=samples)
    counted = trace_of(recording, tmp_path).counters["memory (bytes)"]
    assert len(counted) == 10_000
    assert counted[:3] == [(0, 1e6 + 2), (3_000_000, 1e6 + 5), (6_000_000, 1e6 + 8)]
