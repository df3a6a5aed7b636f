"""A small block that shows nothing: its recording is made when it is read first."""

from __future__ import annotations

import gc

import dask
import pytest

import taskscope
from taskscope.session import current
from tests.support.child_process import in_forked_child
from tests.support.computes.local_computes import statuses, watching


def compute(key: str) -> None:
    dask.get({key: (int, "7")}, key)


def left(key: str) -> taskscope.profile:
    """Return a block that was left after it computed one task."""
    with watching(label=key) as run:
        compute(key)
    return run


def test_each_of_several_has_its_own_tasks_whenever_it_is_read() -> None:
    first, second, third = left("a"), left("b"), left("c")
    found = [statuses(run) for run in (third, first, second)]
    assert found == [{"c": "finished"}, {"a": "finished"}, {"b": "finished"}]
    assert [run.recording.metadata["label"] for run in (first, second, third)] == ["a", "b", "c"]


def test_it_has_the_time_of_its_block_not_of_its_reader() -> None:
    run = left("a")
    before_s = current().recorder.now_s()
    recording = run.recording
    wall_s = recording.metadata["wall_s"]
    assert isinstance(wall_s, float)
    assert recording.now_s == pytest.approx(recording.zero_s + wall_s)
    assert (recording.now_s <= before_s, recording.completion) == (True, None)


def test_the_recording_alone_is_enough_to_read_it() -> None:
    recording = left("a").recording
    gc.collect()
    left("b")
    assert list(recording.table("tasks")["key"]) == ["a"]


def test_a_forked_child_can_read_it() -> None:
    run = left("a")
    assert in_forked_child(lambda: statuses(run)) == {"a": "finished"}
    assert statuses(run) == {"a": "finished"}
