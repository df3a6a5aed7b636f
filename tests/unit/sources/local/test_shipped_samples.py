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
from pathlib import Path
from typing import Any

import dask
import pytest
from dask import delayed

from taskscope.options import Options
from taskscope.recording import Recording
from taskscope.session import Session
from taskscope.sources.local.shipped_samples import ProcessSampler
from tests.support.waiting import until

LONG_S = 0.3


def burn(seconds: float) -> None:
    stop = time.thread_time() + seconds
    while time.thread_time() < stop:
        pass


def outer(_: int) -> tuple[int, float]:
    burn(LONG_S)
    return os.getpid(), sys.getswitchinterval()


def fails(_: int) -> None:
    burn(LONG_S)
    raise ValueError("of the user's")


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
def session() -> Iterator[Session]:
    session = Session()
    session.hold(session, Options(stacks=True, profile_interval=0.002))
    yield session
    session.release(session)


@pytest.fixture(params=["spawn", "fork"])
def pool(request: pytest.FixtureRequest) -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(2, mp_context=get_context(request.param)) as pool:
        # Before there is a thread of ours, which a process must not be forked beside.
        list(pool.map(abs, range(2)))
        yield pool


def recorded(session: Session) -> Recording:
    return Recording.of(session.recorder.snapshot())


def lines_of(session: Session) -> dict[str, set[str | None]]:
    return {
        each.function.name: {line.source and line.source.strip() for line in each.lines}
        for each in recorded(session).lines().functions
    }


def test_lines_of_tasks_come_back_beside_their_results(session: Session, pool: ProcessPoolExecutor) -> None:
    ran = dask.compute(*[delayed(outer)(n) for n in range(4)], scheduler="processes", pool=pool)
    found = recorded(session)
    lines, profile = found.lines(), found.profile()
    assert lines.note is profile.note is None
    assert lines.n_samples == profile.n_samples >= 4
    assert "burn(LONG_S)" in lines_of(session)["outer"]
    assert set(found.table("lines")["worker"]) <= {str(pid) for pid, _ in ran}
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
    session: Session, pool: ProcessPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell, main = "<a cell>", vars(sys.modules["__main__"])
    monkeypatch.setitem(linecache.cache, cell, (len(DEFINED), None, DEFINED.splitlines(keepends=True), cell))
    for name in ("Model", "in_cell", "time"):
        monkeypatch.setitem(main, name, None)
    exec(compile(DEFINED, cell, "exec"), main)
    dask.compute(*[delayed(main["in_cell"])(n) for n in range(4)], scheduler="processes", pool=pool)
    assert {each.function.file for each in recorded(session).lines().functions} == {cell}
    found = lines_of(session)
    inner = found.pop("Model.fitted.<locals>.inner")
    assert found == {"in_cell": {"return Model().fitted"}, "Model.fitted": {"inner()"}}
    assert inner & {"while time.thread_time() < stop:", "pass"}


def test_nothing_of_ours_stays_in_a_process(session: Session, pool: ProcessPoolExecutor) -> None:
    before_s = sys.getswitchinterval()
    dask.compute(*[delayed(outer)(n) for n in range(4)], scheduler="processes", pool=pool)
    assert [pool.submit(is_as_before, before_s).result() for _ in range(4)] == [True] * 4


def test_a_task_that_fails_has_lines_and_its_own_exception(
    session: Session, pool: ProcessPoolExecutor
) -> None:
    with pytest.raises(ValueError, match=r"^of the user's$"):
        delayed(fails)(0).compute(scheduler="processes", pool=pool)
    assert "burn(LONG_S)" in lines_of(session)["fails"]


def test_what_was_sampled_is_lost_with_a_process_that_is_killed_and_that_is_said(session: Session) -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool, pytest.raises(BrokenProcessPool):
        delayed(dies)(0).compute(scheduler="processes", pool=pool)
    found = recorded(session)
    assert list(found.table("tasks")["status"]) == ["lost"]
    assert [m.text for m in found.messages] == [
        "a process was killed: what was sampled of the tasks that it ran is lost"
    ]
    assert found.lines().n_samples == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is nothing to fork on Windows")
def test_a_task_may_fork_while_it_is_sampled(session: Session) -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert delayed(forks)(0).compute(scheduler="processes", pool=pool) == 0


def test_processes_are_not_sampled_where_nobody_wants_that(session: Session) -> None:
    session.hold(session, Options(stacks=False))
    delayed(outer)(0).compute(scheduler="processes")
    assert recorded(session).profile().n_samples == 0


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


def test_a_stack_begins_with_what_the_task_calls_and_has_the_lines(sampler: ProcessSampler) -> None:
    sampler.begin(0.001)
    Task().run(lambda: burn(LONG_S))
    sampled = sampler.end()
    assert sampled is not None
    names = [(name.rpartition(".")[2], Path(file).name) for name, file, _ in sampled["functions"]]
    here = Path(__file__).name
    assert {*names} <= {("burn", here), ("<lambda>", here)}
    for _, calls, n, seconds, squares, cpu_s, known_s in sampled["stacks"]:
        assert [names[place][0] for place, _ in calls] in (["burn", "<lambda>"], ["<lambda>"])
        assert n >= 1
        assert seconds**2 >= squares > 0
        assert 0 <= cpu_s <= known_s <= seconds


def test_of_a_task_that_was_not_met_there_is_nothing(sampler: ProcessSampler) -> None:
    assert sampler.end() is None
    sampler.begin(60.0)
    assert sampler.end() is None
    sampler._thread.stop()


def test_stacks_beyond_a_bound_count_for_the_tasks_own_function(
    sampler: ProcessSampler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("taskscope.sources.local.shipped_samples._MAX_STACKS", 0)
    sampler.begin(0.001)
    Task().run(lambda: burn(LONG_S))
    sampled = sampler.end()
    assert sampled is not None
    assert {(at, len(calls)) for at, calls, *_ in sampled["stacks"]} == {(0.0, 1)}


def test_without_the_global_lock_no_thread_begins(
    sampler: ProcessSampler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    sampler.begin(0.001)
    assert (threads_of_ours(), sampler.end()) == ([], None)


def test_a_fault_ends_the_samples_and_not_the_task(
    sampler: ProcessSampler, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("broken")

    monkeypatch.setattr("taskscope.sources.stacks.task_stack", fail)
    sampler.begin(0.001)
    until(lambda: not threads_of_ours())
    assert sampler.end() is None
