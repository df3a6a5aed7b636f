"""Activities and transfers in a ``.taskscope`` file."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

import taskscope
from taskscope.model.tables.activities import ActivityColumns, ActivityRows, Transfer
from taskscope.model.tables.workers import WorkerSample
from taskscope.recording import Recording
from tests.support.recordings.spelled_out import recording_of
from tests.support.recordings.task_blocks import Row

ROWS = ActivityRows(
    run=np.array([0, 0, 0], np.int32),
    task=np.array([0, 0, 0], np.int32),
    lane=np.array([0, 0, 0], np.uint16),
    kind=np.array([0, 2, 6], np.uint8),
    start=np.array([1.5, 2.5, 3.5]),
    duration=np.array([0.25, 0.5, 0.125], np.float32),
    source=np.array([1, 0, 2], np.uint32),
    nbytes=np.array([80.0, np.nan, np.nan]),
    group=np.array([0, 0, 0], np.uint32),
)
FAILURE = "ValueError: no luck (attempt 1)"
SAID = WorkerSample(1.5, "tcp://b:1", "b", 2, 1, 150.0, 9e9, 8e9, 1e9, 0.0, None)
SENT = Transfer("tcp://b:1", "tcp://a:1", "outgoing", 1.5, 1.75, 80.0, 60.0, 2, ("x-1", "x-2"))


def with_activities(rows: ActivityRows = ROWS) -> Recording:
    activities = ActivityColumns(rows, ("", "tcp://b:1", FAILURE), dropped=3)
    return replace(recording_of([Row(key="x-1")]), activities=activities, transfers=(SENT,), workers=(SAID,))


def columns(recording: Recording, table: str) -> dict[str, list[object]]:
    return {name: list(map(str, values)) for name, values in recording.table(table).items()}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.taskscope"


def test_a_file_gives_back_every_activity_and_transfer(path: Path) -> None:
    recording = with_activities()
    recording.save(path)
    loaded = taskscope.load(path)
    assert (loaded.transfers, loaded.workers) == ((SENT,), (SAID,))
    assert loaded.activities.dropped == 3
    for name, values in asdict(ROWS).items():
        np.testing.assert_array_equal(getattr(loaded.activities.rows, name), values)
    assert columns(loaded, "activities") == columns(recording, "activities")
    kinds = ["compute", "transfer", "disk-write", "failed-attempt"]
    assert columns(loaded, "activities")["activity"] == kinds
    assert columns(loaded, "activities")["source"] == ["None", "tcp://b:1", "None", "None"]
    assert columns(loaded, "activities")["error"] == [*["None"] * 3, FAILURE]


def test_what_was_received_without_a_log_is_among_the_transfers(path: Path) -> None:
    recording = with_activities(replace(ROWS, nbytes=np.full(3, np.nan)))
    found = recording.table("transfers")
    zero = recording.zero_s
    assert list(found["direction"]) == ["outgoing", "incoming"]
    assert list(found["peer"]) == ["tcp://a:1", "tcp://b:1"]
    assert list(found["start_s"]) == [1.5 - zero, 1.5 - zero]
    assert str(np.asarray(found["nbytes"]).tolist()) == "[80.0, nan]"
