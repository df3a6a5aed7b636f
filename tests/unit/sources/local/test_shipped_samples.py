"""Tasks of other processes are sampled there, and nothing of ours stays behind."""

from __future__ import annotations

import linecache
import multiprocessing
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any

import dask
import pytest
from dask import delayed

import taskscope
from taskscope.sources.local.shipped import ProcessSampler
from tests.support.computes.local_computes import watching
from tests.support.waiting import until

LONG_S = 0.3


def burn(seconds: float) -> None:
    stop = time.thread_time() + seconds
    while time.thread_time() < stop:
        pass


def outer(_: int) -> tuple[int, float]:
    burn(LONG_S)
    return os.getpid(), sys.getswitchinterval()


def dies(_: int) -> None:
    burn(LONG_S)
    os.kill(os.getpid(), signal.SIGKILL)


def forks(_: int) -> int:
    """Fork while being sampled, as who starts processes in a task does."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        until(lambda: "taskscope-sampler" in threads_of_ours())
        child = multiprocessing.get_context("fork").Process(target=burn, args=(0.01,))
        child.start()
        child.join()
        return child.exitcode or 0


def threads_of_ours() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("taskscope")]


def is_as_before(switch_interval_s: float) -> bool:
    until(lambda: not threads_of_ours())
    return sys.getswitchinterval() == switch_interval_s


@pytest.fixture
def run() -> Iterator[taskscope.profile]:
    with watching(profile_interval=0.002) as run:
        yield run


@pytest.fixture(scope="module", params=["spawn", "fork"])
def pool(request: pytest.FixtureRequest) -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(2, mp_context=get_context(request.param)) as pool:
        # Before there is a thread of ours, which a process must not be forked beside.
        list(pool.map(abs, range(2)))
        yield pool


def lines_of(run: taskscope.profile) -> dict[str, set[str | None]]:
    return {
        each.function.name: {line.source and line.source.strip() for line in each.lines}
        for each in run.recording.lines().functions
    }


def test_lines_of_tasks_come_back_beside_their_results(
    run: taskscope.profile, pool: ProcessPoolExecutor
) -> None:
    ran = dask.compute(*[delayed(outer)(n) for n in range(4)], scheduler="processes", pool=pool)
    found = run.recording
    lines, profile = found.lines(), found.profile()
    assert lines.note is profile.note is None
    assert lines.n_samples == profile.n_samples >= 4
    assert "burn(LONG_S)" in lines_of(run)["outer"]
    # The thread of the block is sampled, too, between its computes.
    lines_of_tasks = found.to_pandas("lines").query("prefix == 'outer'")
    assert set(lines_of_tasks["worker"]) <= {str(pid) for pid, _ in ran}
    (top,) = profile.root.children
    assert [(top.name, child.name) for child in top.children] == [("outer", "outer")]
    assert list(found.table("tasks")["status"]) == ["finished"] * 4


DEFINED = """
import time
class Model:
    @property
    def fitted(self):
        def inner():
            stop = time.thread_time() + 0.3
            while time.thread_time() < stop:
                pass
        inner()
def in_cell(_):
    return Model().fitted
"""


def test_functions_of_a_notebook_which_are_sent_as_code_have_their_cell_and_its_source(
    run: taskscope.profile, pool: ProcessPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell, main = "<a cell>", vars(sys.modules["__main__"])
    monkeypatch.setitem(linecache.cache, cell, (len(DEFINED), None, DEFINED.splitlines(keepends=True), cell))
    for name in ("Model", "in_cell", "time"):
        monkeypatch.setitem(main, name, None)
    exec(compile(DEFINED, cell, "exec"), main)
    dask.compute(*[delayed(main["in_cell"])(n) for n in range(4)], scheduler="processes", pool=pool)
    assert {each.function.file for each in run.recording.lines().functions} == {cell}
    found = lines_of(run)
    inner = found.pop("Model.fitted.<locals>.inner")
    assert found == {"in_cell": {"return Model().fitted"}, "Model.fitted": {"inner()"}}
    assert inner & {"while time.thread_time() < stop:", "pass"}


def test_nothing_of_ours_stays_in_a_process(run: taskscope.profile, pool: ProcessPoolExecutor) -> None:
    before_s = sys.getswitchinterval()
    dask.compute(*[delayed(outer)(n) for n in range(4)], scheduler="processes", pool=pool)
    assert [pool.submit(is_as_before, before_s).result() for _ in range(4)] == [True] * 4


def test_what_was_sampled_is_lost_with_a_process_that_is_killed_and_that_is_said(
    run: taskscope.profile,
) -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool, pytest.raises(BrokenProcessPool):
        delayed(dies)(0).compute(scheduler="processes", pool=pool)
    found = run.recording
    assert list(found.table("tasks")["status"]) == ["lost"]
    (message,) = found.messages
    # How often that was so in this session may follow.
    assert message.text.startswith("a process was killed: the samples of its tasks are lost")
    assert found.lines().n_samples == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is nothing to fork on Windows")
def test_a_task_may_fork_while_it_is_sampled(run: taskscope.profile) -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert delayed(forks)(0).compute(scheduler="processes", pool=pool) == 0


def test_processes_are_not_sampled_where_nobody_wants_that() -> None:
    with watching(stacks=False) as run:
        delayed(outer)(0).compute(scheduler="processes")
    assert run.recording.profile().n_samples == 0


# --------------------------------------------------------------------------------- the sampler of a process


class Task:
    """A task of this process: what runs it is what the sampler knows tasks by."""

    def run(self, function: Any) -> Any:
        return function()


@pytest.fixture
def sampler() -> Iterator[ProcessSampler]:
    before_s = sys.getswitchinterval()
    sampler = ProcessSampler(Task.run.__code__)
    yield sampler
    until(lambda: not threads_of_ours())
    assert sys.getswitchinterval() == before_s
