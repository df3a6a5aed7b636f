"""Ctrl-C: the user gets it, and the next block works and records exactly its own rows."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import dask
import pytest
from dask.callbacks import Callback
from distributed import Client

import taskscope
from taskscope import diagnostics
from taskscope.record import RunLog
from taskscope.session import current
from taskscope.sources.local import source as local_module
from tests.support.shell import shell_with_taskscope

Compute = Callable[[], object]


def profiled(compute: Compute, _folder: Path) -> None:
    with taskscope.profile(display=False):
        compute()


def in_a_coroutine(compute: Compute, _folder: Path) -> None:
    async def main() -> None:
        async with taskscope.profile(display=False):
            compute()

    asyncio.run(main())


def in_a_cell(compute: Compute, _folder: Path) -> None:
    with shell_with_taskscope() as shell:
        shell.user_ns["compute"] = compute
        shell.run_cell("%%profile -q\ncompute()").raise_error()


def in_profilers(compute: Compute, _folder: Path) -> None:
    with (
        diagnostics.Profiler(),
        diagnostics.CacheProfiler(),
        diagnostics.ResourceProfiler(dt=0.01),
        diagnostics.ProgressBar(out=io.StringIO()),
    ):
        compute()


def registered(compute: Compute, _folder: Path) -> None:
    with ExitStack() as stack:
        for callback in (diagnostics.Profiler(), diagnostics.ProgressBar(out=io.StringIO())):
            callback.register()
            stack.callback(callback.unregister)
        compute()


def in_a_report(compute: Compute, folder: Path) -> None:
    with diagnostics.performance_report(folder / "report.html"):
        compute()


def in_a_sampled_block(compute: Compute, _folder: Path) -> None:
    with diagnostics.MemorySampler().sample("one", interval=0.01):
        compute()


def beside_a_widget(compute: Compute, _folder: Path) -> None:
    widget = taskscope.Dashboard()
    try:
        compute()
    finally:
        widget.close()


SURFACES = (
    *(profiled, in_a_coroutine, in_a_cell, in_profilers, registered),
    *(in_a_report, in_a_sampled_block, beside_a_widget),
)


def raising(end: BaseException) -> Callable[..., Any]:
    def come(*_: object, **__: object) -> Any:
        raise end

    return come


def interrupted_compute(end: BaseException) -> Compute:
    return lambda: dask.get({"interrupted": (raising(end),)}, "interrupted")


def assert_the_next_block_is_its_own() -> None:
    with taskscope.profile(display=False) as run:
        assert dask.get({"next": (abs, -1)}, "next") == 1
    assert run.recording.to_pandas("tasks")[["key", "status"]].to_numpy().tolist() == [["next", "finished"]]
    assert [one.status for one in run.recording.runs] == ["finished"]
    assert (current().held, Callback.active) == (False, set())
    assert not current().recorder.is_active()


@pytest.mark.parametrize("surface", SURFACES)
def test_in_a_task_it_comes_out_and_the_next_block_is_its_own(
    surface: Callable[[Compute, Path], None], tmp_path: Path
) -> None:
    end = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt) as caught:
        surface(interrupted_compute(end), tmp_path)
    assert caught.value is end
    assert (end.__cause__, end.__context__) == (None, None)
    assert_the_next_block_is_its_own()


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (local_module, "find_scheduler"),
        (local_module, "_graph_source"),
        (local_module._Logs, "of"),
        (RunLog, "open_lane"),
        (local_module.LocalSource, "_end"),
    ],
)
def test_in_a_hook_of_taskscope_it_comes_out_and_the_next_block_is_its_own(
    owner: object, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    end = KeyboardInterrupt()
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, raising(end))
        with pytest.raises(KeyboardInterrupt) as caught:
            profiled(lambda: dask.get({"interrupted": (abs, -1)}, "interrupted"), tmp_path)
    assert caught.value is end
    assert_the_next_block_is_its_own()


def test_a_block_that_is_interrupted_on_a_cluster_has_its_recording_and_the_next_one_its_own() -> None:
    end = KeyboardInterrupt()
    with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0") as client:
        run = taskscope.profile(display=False)

        def interrupted() -> None:
            with run:
                assert client.submit(abs, -1, key="first").result() == 1
                raise end

        with pytest.raises(KeyboardInterrupt) as caught:
            interrupted()
        assert caught.value is end
        assert run.recording.to_pandas("tasks")["key"].tolist() == ["first"]
        assert run.recording.metadata["interrupted"] is True
        with taskscope.profile(display=False) as again:
            assert client.submit(abs, -2, key="second").result() == 2
        assert again.recording.to_pandas("tasks")["key"].tolist() == ["second"]
    assert not current().held
