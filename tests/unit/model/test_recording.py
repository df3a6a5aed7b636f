from __future__ import annotations

import dataclasses
import sys

import pytest

from taskscope.errors import MissingDependencyError
from taskscope.record import Recorder
from tests.support.recordings.run_writing import record_run


def test_without_pandas_a_table_is_still_there_and_a_frame_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recorder = Recorder()
    record_run(recorder, ["x"])
    recording = recorder.snapshot()
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert list(recording.table("tasks")["key"]) == ["x"]
    with pytest.raises(
        MissingDependencyError, match=r"^to_pandas needs pandas; install it: pip install pandas$"
    ):
        recording.to_pandas("tasks")


def test_a_recording_cannot_be_changed() -> None:
    recording = Recorder().snapshot()
    with pytest.raises(dataclasses.FrozenInstanceError):
        recording.dropped = 1  # type: ignore[misc]  # that is the point
