"""Ctrl-C and SystemExit, wherever they come: the user gets them, and nothing is left open."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from typing import Any

import dask
import pytest
from dask._task_spec import Task, TaskRef
from distributed import Client, LocalCluster

import taskscope
from taskscope.profiling.block import Block
from taskscope.record import Recorder, RunLog
from taskscope.session import current
from taskscope.sources.local import source as local_module
from tests.support.computes.local_computes import run_facts, statuses

STATUS = {KeyboardInterrupt: "interrupted", SystemExit: "erred"}


@pytest.fixture(params=STATUS)
def end(request: pytest.FixtureRequest) -> BaseException:
    made: BaseException = request.param()
    return made


def graph(work: Callable[[int], int] = abs) -> dict[str, Any]:
    return {"a": Task("a", int, "7"), "b": Task("b", work, TaskRef("a"))}


def raising(end: BaseException) -> Callable[..., Any]:
    def come(*_: object, **__: object) -> Any:
        raise end

    return come


@contextmanager
def ended_by(end: BaseException) -> Iterator[None]:
    """See to it that exactly this comes out."""
    with pytest.raises(type(end)) as caught:
        yield
    assert caught.value is end


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_in_a_task_it_ends_task_and_run(recorder: Recorder, scheduler: str, end: BaseException) -> None:
    get = dask.base.get_scheduler(scheduler=scheduler)
    with ThreadPoolExecutor(2) as pool, ended_by(end):
        get(graph(raising(end)), "b", **({"pool": pool} if scheduler == "threads" else {}))
    assert (end.__cause__, end.__context__) == (None, None)
    status = STATUS[type(end)]
    assert (statuses(recorder), run_facts(recorder, "status")) == (
        {"a": "finished", "b": status},
        [(status,)],
    )
    assert not recorder.is_active()


@pytest.mark.parametrize("hook", range(5))
def test_in_a_callback_of_the_user_s_it_ends_the_run(
    recorder: Recorder, hook: int, end: BaseException
) -> None:
    hooks: list[Callable[..., Any] | None] = [None] * 5
    hooks[hook] = raising(end)
    with ended_by(end):
        dask.get(graph(), "b", callbacks=[tuple(hooks)])
    # The user's own comes first: what it ends at the start never began; at the finish all was done already.
    began = [] if hook == 0 else [("finished",)] if hook == 4 else [(STATUS[type(end)],)]
    assert run_facts(recorder, "status") == began
    assert not recorder.is_active()


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (local_module, "current_cell"),
        (local_module, "find_scheduler"),
        (local_module, "_graph_source"),
        (local_module, "TimedTask"),
        (RunLog, "open_lane"),
    ],
)
def test_in_code_of_ours_it_is_the_user_s_and_the_next_compute_is_recorded(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch, owner: object, name: str, end: BaseException
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, raising(end))
        with ended_by(end):
            dask.get(graph(), "b")
    assert dask.get(graph(), "b") == 7
    assert run_facts(recorder, "status")[-1] == ("finished",)
    assert [log for log in recorder.runs() if log.status == "running"] == []


def test_in_a_block_it_comes_out_and_the_recording_is_there(end: BaseException) -> None:
    run = taskscope.profile(display=False)
    with ended_by(end), run:
        assert dask.get(graph(), "b") == 7
        raising(end)()
    assert run.recording.to_pandas("tasks")["key"].tolist() == ["a", "b"]
    assert run.recording.metadata["interrupted"] is isinstance(end, KeyboardInterrupt)
    assert not current().held


def test_a_block_that_is_closed_before_its_cluster_has_told_all_says_so_and_nobody_else_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    goes_on, interrupt = Event(), KeyboardInterrupt()
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        run = taskscope.profile(display=False)
        with ended_by(interrupt), run:
            assert client.submit(abs, -1).result() == 1
            said = current().recorder.messages
            cluster.loop.add_callback(goes_on.wait)
            future = client.submit(abs, -2)
            monkeypatch.setattr(Block, "leave", raising(interrupt))
        goes_on.set()
        assert future.result() == 2
    assert run.recording.to_pandas("messages")["text"].tolist() == [
        "interrupted before the cluster's last answers: tasks may be missing here, or shown as running"
    ]
    assert (current().held, current().recorder.messages) == (False, said)
