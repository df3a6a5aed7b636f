"""A small block that shows nothing: its recording is made when it is read first."""

from __future__ import annotations

import gc

import dask
import pytest

import taskscope
from taskscope.record import Recorder
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


@pytest.fixture
def snapshots(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """Return the labels of the recordings that were made, in order; blocks of other tests have none."""
    made: list[str | None] = []
    snapshot = Recorder.snapshot

    def noted(self: Recorder, *window: int, **about: object) -> object:
        label = about["metadata"]["label"]  # type: ignore[index]  # metadata is a mapping
        made.extend([] if label is None else [label])
        return snapshot(self, *window, **about)  # type: ignore[arg-type]  # as it was called

    monkeypatch.setattr(Recorder, "snapshot", noted)
    return made


def test_a_recording_that_is_never_read_is_never_made(snapshots: list[str | None]) -> None:
    left("a")
    gc.collect()
    second = left("b")
    assert snapshots == []
    assert (statuses(second), snapshots) == ({"b": "finished"}, ["b"])


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


def test_the_session_has_no_computes_after_a_block_that_was_not_read() -> None:
    run = left("a")
    assert list(taskscope.runs()) == []
    assert statuses(run) == {"a": "finished"}


def test_a_forked_child_can_read_it() -> None:
    run = left("a")
    assert in_forked_child(lambda: statuses(run)) == {"a": "finished"}
    assert statuses(run) == {"a": "finished"}


def test_it_is_made_at_once_where_another_block_goes_on(snapshots: list[str | None]) -> None:
    with watching(label="outer", max_tasks=2):
        inner = left("a")
        assert snapshots == ["a"]
        compute("b")
        compute("c")
    assert statuses(inner) == {"a": "finished"}
