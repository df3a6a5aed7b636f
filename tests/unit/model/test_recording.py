from __future__ import annotations

import dataclasses
import gc
import sys
import weakref

import dask
import pytest

from taskscope import profile
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


def test_a_recording_that_was_explained_is_freed_when_it_is_deleted() -> None:
    with profile(display=False) as block:
        dask.delayed(sum)([dask.delayed(abs)(-1)]).compute(scheduler="synchronous")
    recording = block.recording
    recording.explain()
    deleted = weakref.ref(recording)
    del block, recording
    gc.collect()
    assert deleted() is None
