"""A fault of ours is counted and said once; the user's result and exception are what they would have been."""

from __future__ import annotations

from typing import Any

import dask
import pytest
from dask._task_spec import Task, TaskRef

import taskscope
from taskscope.record import RunLog
from taskscope.sources.local import source as local_module
from taskscope.sources.local.sizes import measures
from tests.support.computes.local_computes import messages, run_facts, statuses

GRAPH: dict[str, Any] = {"a": Task("a", int, "7"), "b": Task("b", abs, TaskRef("a"))}


def broken(*_: object, **__: object) -> Any:
    raise RuntimeError("our own fault")


def text(where: str) -> str:
    return f"taskscope failed in {where}: RuntimeError: our own fault; the computation was not affected"


def told(run: taskscope.profile) -> list[str]:
    """Return the messages without how often they came; earlier tests may have caused the same."""
    return [text.partition(" (")[0] for text in messages(run)]


@pytest.mark.parametrize(
    ("owner", "name", "where"),
    [
        (local_module, "current_cell", "_start"),
        (local_module, "find_scheduler", "_start"),
        (local_module, "_graph_source", "_start_state"),
        (local_module._Logs, "of", "pretask"),
        (RunLog, "open_lane", "a task"),
    ],
)
def test_a_fault_at_any_point_leaves_the_result_as_it_was(
    run: taskscope.profile,
    monkeypatch: pytest.MonkeyPatch,
    owner: object,
    name: str,
    where: str,
) -> None:
    monkeypatch.setattr(owner, name, broken)
    assert dask.get(GRAPH, "b") == 7
    assert text(where) in told(run)
    assert not run.recording.runs or run_facts(run, "status") == [("finished",)]


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
    run: taskscope.profile, monkeypatch: pytest.MonkeyPatch, owner: object, name: str, where: str
) -> None:
    monkeypatch.setattr(owner, name, broken)
    with pytest.raises(ValueError, match="invalid literal") as caught:
        dask.get({"bad": Task("bad", int, "no")}, "bad")
    assert (caught.value.__context__, caught.value.__cause__) == (None, None)
    assert told(run) == [text(where)]
    assert run_facts(run, "status") == [("erred",)]


def test_a_broken_measure_leaves_the_size_unknown(
    run: taskscope.profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(measures, int, broken)
    assert dask.get(GRAPH, "b") == 7
    assert run.recording.to_pandas("tasks")["result_bytes"].isna().tolist() == [True, True]
    assert statuses(run) == {"a": "finished", "b": "finished"}
