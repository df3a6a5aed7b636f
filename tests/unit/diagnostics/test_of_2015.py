"""The document of ``dask.diagnostics`` of July 2015, sentence by sentence."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from operator import add, mul
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import dask.multiprocessing
import dask.threaded
import numpy as np
import pytest
from bokeh.plotting import figure

from taskscope import diagnostics
from taskscope.diagnostics import Callback, Profiler, ResourceProfiler, process_prof, thread_prof
from taskscope.errors import OptionError
from tests.support.computes.process_tasks import pid

GRAPH = {"x": 1, "y": (add, "x", 10), "z": (mul, "y", 2)}
Call = tuple[object, ...]


class Seeing(Callback):
    """Keeps the calls of the hooks that the document describes."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def start_callback(self, key: object, dask: dict[Any, Any], state: dict[str, Any]) -> None:
        self.calls.append(("start", key, key is None or key in dask, "running" in state))

    def end_callback(self, key: object, dask: dict[Any, Any], state: dict[str, Any], id: object) -> None:  # noqa: A002 - the document's name
        self.calls.append(("end", key, key is None or key in dask, "running" in state, id))


@pytest.mark.parametrize("get", [dask.get, dask.threaded.get, dask.multiprocessing.get])
def test_schedulers_accept_two_callbacks(get: Callable[..., Any]) -> None:
    seeing = Seeing()
    with seeing:
        worker = get({"p": (pid,)}, "p", num_workers=1)
    threads = {thread.ident for thread in threading.enumerate()}
    ids: dict[object, set[Any]] = {
        dask.get: {None},
        dask.threaded.get: threads,
        dask.multiprocessing.get: {worker},
    }
    assert seeing.calls[:2] == [("start", "p", True, True), ("end", "p", True, True, seeing.calls[1][-1])]
    assert seeing.calls[1][-1] in ids[get]


def test_they_are_called_for_every_task_and_a_final_time_with_none() -> None:
    seeing = Seeing()
    with seeing:
        assert dask.get(GRAPH, "z") == 22
    every = [call for key in ("y", "z", None) for call in (("start", key), ("end", key))]
    assert [call[:2] for call in seeing.calls] == every
    assert seeing.calls[-2:] == [("start", None, True, True), ("end", None, True, True, None)]


def test_a_compute_that_fails_has_no_final_call() -> None:
    seeing = Seeing()
    with pytest.raises(ZeroDivisionError), seeing:
        dask.get({"a": (abs, -1), "b": (divmod, "a", 0)}, "b")
    assert [call[:2] for call in seeing.calls] == [("start", "a"), ("end", "a"), ("start", "b")]


def test_one_callback_alone_and_functions_by_keyword_beside_hooks_of_today() -> None:
    calls: list[Call] = []
    today = Callback(finish=lambda _dsk, _state, failed: calls.append(("finish", failed)))
    started = Callback(start_callback=lambda key, _dask, _state: calls.append(("start", key)))
    ended = Callback(end_callback=lambda key, _dask, _state, worker: calls.append(("end", key, worker)))
    for callback in (today, started, ended):
        callback.register()
        assert callback._callback == callback._callback
        dask.get({"x": (abs, -1)}, "x")
        callback.unregister()
    dask.get({"x": (abs, -1)}, "x")
    finals = [("start", None), ("end", "x", None), ("end", None, None)]
    assert calls == [("finish", False), ("start", "x"), *finals]


def test_a_profiler_is_created_from_a_scheduler_and_its_get_works_like_that_scheduler() -> None:
    calls: list[Call] = []
    prof = Profiler(dask.threaded.get)
    answer = prof.get(
        GRAPH,
        ["y", ["z"]],
        num_workers=1,
        start_callback=lambda key, _dask, _state: calls.append(("start", key)),
        end_callback=lambda key, _dask, _state, _id: calls.append(("end", key)),
    )
    assert list(answer) == [11, (22,)]
    assert calls == [call for key in ("y", "z", None) for call in (("start", key), ("end", key))]
    with pytest.raises(ZeroDivisionError):
        prof.get({"a": (divmod, 1, 0)}, "a")


def test_profilers_of_threads_and_processes_are_there_and_made_when_they_are_used() -> None:
    assert diagnostics.thread_prof is thread_prof
    assert thread_prof.get(GRAPH, "z") == 22
    assert {row.worker_id for row in thread_prof.results()} <= {t.ident for t in threading.enumerate()}
    answer = dask.delayed(pid)(dask_key_name="p").compute(scheduler=process_prof.get, num_workers=1)
    assert answer != os.getpid()
    assert [(row.key, row.worker_id) for row in process_prof.results()] == [("p", answer)]
    heavy = ("IPython", "bokeh", "distributed", "ipywidgets", "pandas", "pyarrow")
    program = f"""
import sys
import taskscope.diagnostics as d
print([name for name in {heavy} if name in sys.modules], "thread_prof" in vars(d), "thread_prof" in d.__all__)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[] False True\n"


def test_the_example_is_computed_and_recorded_with_seconds_since_the_epoch() -> None:
    before = time.time()
    a = da.random.random(size=(400, 40), chunks=(40, 40))
    q, r = da.linalg.qr(a)
    a2 = q.dot(r)
    out = a2.compute(scheduler=thread_prof.get)
    after = time.time()
    np.testing.assert_allclose(out, a.compute(scheduler="synchronous"))
    prof_data = thread_prof.results()
    assert isinstance(prof_data, list)
    assert len(prof_data) > 10
    for row in prof_data:
        assert type(row).__name__ == "TaskData"
        assert row._fields == ("key", "task", "start_time", "end_time", "worker_id")
        assert before - 0.01 < row.start_time <= row.end_time < after + 0.01
        assert row.task.key == row.key


def test_results_are_one_list_that_begins_afresh_with_each_get() -> None:
    prof = Profiler(dask.get)
    assert prof.results() == prof.results == []
    prof.get({"a": (abs, -1)}, "a")
    prof.get(GRAPH, "z")
    assert [row.key for row in prof.results()] == ["y", "z"]
    assert prof.results() is prof.results
    assert prof.results[0] == prof.results()[0]
    assert b"taskscope" not in pickle.dumps(prof.results())
    copy = pickle.loads(pickle.dumps(prof))
    assert [row[:1] + row[2:] for row in copy.results()] == [row[:1] + row[2:] for row in prof.results()]
    prof.clear()
    assert prof.results() == []


def test_results_can_be_viewed_in_a_bokeh_plot_also_above_profilers_of_today(tmp_path: Path) -> None:
    prof = Profiler(dask.get)
    with ResourceProfiler() as rprof:
        prof.get(GRAPH, "z")
    path = tmp_path / "profile.html"
    assert isinstance(prof.visualize(filename=path, show=False), figure)
    assert path.stat().st_size > 10_000
    both: Any = diagnostics.visualize([prof, rprof], show=False, save=False)
    plot = both.children[0][0]
    bars = plot.renderers[0].data_source.data
    # On the axis of the time of the run, not of seconds since the epoch.
    assert 0 <= bars["x"][0] <= bars["x"][1] <= plot.x_range.end < 60


def test_a_profiler_that_was_made_as_today_names_the_next_step() -> None:
    with pytest.raises(OptionError, match=r"make the profiler as Profiler\(dask\.threaded\.get\)"):
        Profiler().get(GRAPH, "z")
    with pytest.raises(
        OptionError, match=r"get must be a scheduler, such as dask\.threaded\.get, got 'threads'"
    ):
        Profiler("threads")  # type: ignore[arg-type]  # what this test is about
