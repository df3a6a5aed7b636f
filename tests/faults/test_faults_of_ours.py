"""A fault of ours is counted and said once; the user's result and exception are what they would have been."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask
import pytest
from dask._task_spec import Task, TaskRef

from taskscope.record import Recorder, RunLog
from taskscope.sources.local import source as local_module
from taskscope.sources.local.sizes import measures
from taskscope.sources.local.source import LocalSource
from tests.support.computes.local_computes import run_facts, statuses

GRAPH: dict[str, Any] = {"a": Task("a", int, "7"), "b": Task("b", abs, TaskRef("a"))}


def broken(*_: object, **__: object) -> Any:
    raise RuntimeError("our own fault")


def text(where: str, times: int = 1) -> str:
    said = f"taskscope failed in {where}: RuntimeError: our own fault; the computation was not affected"
    return said if times == 1 else f"{said} ({times} times)"


@pytest.mark.parametrize(
    ("owner", "name", "where", "times"),
    [
        (local_module, "current_cell", "_start", 1),
        (local_module, "find_scheduler", "_start", 1),
        (local_module, "_graph_source", "_start_state", 1),
        (local_module, "TimedTask", "pretask", 2),
        (RunLog, "open_lane", "a task", 2),
    ],
)
def test_a_fault_at_any_point_leaves_the_result_as_it_was(
    recorder: Recorder,
    monkeypatch: pytest.MonkeyPatch,
    owner: object,
    name: str,
    where: str,
    times: int,
) -> None:
    monkeypatch.setattr(owner, name, broken)
    assert dask.get(GRAPH, "b") == 7
    assert text(where, times) in [message.text for message in recorder.messages]
    assert not recorder.snapshot().runs or run_facts(recorder, "status") == [("finished",)]
    assert not recorder.is_active()


def test_a_recorder_that_cannot_begin_leaves_the_compute_alone(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "new_log", broken)
    assert dask.get(GRAPH, "b") == 7
    assert recorder.snapshot().runs == ()
    assert text("_start") in [message.text for message in recorder.messages]


@pytest.mark.parametrize(
    ("owner", "name", "where"),
    [
        (local_module, "describe", "_finish"),
        (local_module, "find_culprit", "_finish"),
        (local_module, "drop_notes", "_finish"),
        (RunLog, "fail", "a task"),
    ],
)
def test_a_fault_while_noting_a_failure_leaves_the_user_s_exception_as_it_was(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch, owner: object, name: str, where: str
) -> None:
    monkeypatch.setattr(owner, name, broken)
    with pytest.raises(ValueError, match="invalid literal") as caught:
        dask.get({"bad": Task("bad", int, "no")}, "bad")
    assert (caught.value.__context__, caught.value.__cause__) == (None, None)
    assert [message.text for message in recorder.messages] == [text(where)]
    assert run_facts(recorder, "status") == [("erred",)]
    assert not recorder.is_active()


def test_a_broken_measure_leaves_the_size_unknown(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(measures, int, broken)
    assert dask.get(GRAPH, "b") == 7
    assert recorder.snapshot().to_pandas("tasks")["result_bytes"].isna().tolist() == [True, True]
    assert statuses(recorder) == {"a": "finished", "b": "finished"}


@pytest.mark.parametrize("when", ["on_start", "on_stop"])
def test_a_broken_listener_is_a_fault_of_ours(when: str) -> None:
    recorder = Recorder()
    listeners: dict[str, Callable[[object], None]] = {when: broken}
    source = LocalSource(recorder, **listeners)
    source.attach()
    try:
        assert dask.get(GRAPH, "b") == 7
    finally:
        source.detach()
    where = {"on_start": "_start", "on_stop": "_finish"}[when]
    assert [message.text for message in recorder.messages] == [text(where)]
    assert run_facts(recorder, "status") == [("finished",)]
    assert statuses(recorder) == {"a": "finished", "b": "finished"}
