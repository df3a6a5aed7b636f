"""What blocks share: one watch over Dask, and the options that several of them want."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import threading
from importlib.metadata import version
from types import ModuleType
from typing import Any

import dask
import dask.local
import psutil
import pytest
from dask.callbacks import Callback

import taskscope
from tests.support.child_process import in_forked_child
from tests.support.computes.local_computes import run_facts, statuses, watching

original = dask.local.local_callbacks


def compute(key: str) -> None:
    dask.get({key: (int, "7")}, key)


def own_threads() -> list[str]:
    return [t.name for t in threading.enumerate() if t.name.startswith("taskscope")]


def test_dask_is_watched_from_the_first_block_to_the_end_of_the_last() -> None:
    compute("before")
    outer, inner = watching(), watching()
    outer.__enter__()
    inner.__enter__()
    outer.__exit__(None, None, None)
    compute("inside")
    inner.__exit__(None, None, None)
    compute("after")
    assert (dask.local.local_callbacks, Callback.active, own_threads()) == (original, set(), [])
    assert (statuses(outer), statuses(inner)) == ({}, {"inside": "finished"})


def test_the_shortest_interval_the_largest_bound_and_the_latest_metric_win() -> None:
    def rows(_result: object) -> float:
        return 1.0

    def effective(block: taskscope.profile) -> tuple[object, ...]:
        compute("x")
        return tuple(block.recording.metadata[name] for name in ("dt_s", "max_tasks", "metric"))

    with watching(dt=0.5, max_tasks=10, metric="count") as first:
        seen = [effective(first)]
        with watching(dt=0.1, max_tasks=5, metric=rows) as second:
            seen.append(effective(second))
            with watching(dt=2.0, max_tasks=20) as third:
                seen.append(effective(third))
            seen.append(effective(second))
        seen.append(effective(first))
    assert seen == [
        (0.5, 10, "count"),
        (0.1, 10, "rows"),
        (0.1, 20, "nbytes"),
        (0.1, 10, "rows"),
        (0.5, 10, "count"),
    ]


def test_of_more_tasks_than_are_kept_the_oldest_go_and_are_counted() -> None:
    with watching(max_tasks=3) as run:
        for key in "abcde":
            compute(key)
    assert (statuses(run), run.recording.dropped) == (dict.fromkeys("cde", "finished"), 2)
    assert "only 3 of 5 tasks are kept" in run.recording.summary()


def test_a_compute_has_a_first_and_a_last_sample() -> None:
    with watching() as run:
        compute("x")
    ((stop_s,),) = run_facts(run, "stop_s")
    times = run.recording.to_pandas("resources")["time_s"].tolist()
    assert times[0] <= stop_s <= times[-1]


def test_metadata_say_what_where_and_how_it_was_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    with watching(dt=0.5, metric="count", max_tasks=7) as run:
        compute("x")
    facts: dict[str, Any] = dict(run.recording.metadata)
    assert 0 < facts.pop("memory_limit_bytes") <= psutil.virtual_memory().total
    expected = {
        "taskscope": version("taskscope"),
        "dask": version("dask"),
        "numpy": version("numpy"),
        "python": platform.python_version(),
        "platform": sys.platform,
        "host": platform.node(),
        "pid": os.getpid(),
        "n_cores": dask.system.CPU_COUNT,
        "metric": "count",
        "dt_s": 0.5,
        "max_tasks": 7,
        "thread_limits": {"OPENBLAS_NUM_THREADS": "1"},
    }
    assert {name: facts[name] for name in expected} == expected


def test_a_compute_that_outlives_its_block_leaves_no_thread_and_no_rows() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow() -> None:
        begun.set()
        go_on.wait()

    computing = threading.Thread(target=lambda: dask.get({"slow": (slow,)}, "slow"))
    with watching():
        computing.start()
        begun.wait()
    go_on.set()
    computing.join()
    assert own_threads() == []
    with watching() as run:
        compute("x")
    assert statuses(run) == {"x": "finished"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
class TestFork:
    def test_a_child_starts_with_a_fresh_session_and_the_parent_is_unaffected(self) -> None:
        def child() -> tuple[object, ...]:
            compute("in no block of the child")
            with watching() as own:
                compute("child")
            return statuses(own), set(own.recording.table("tasks")["worker"]) == {str(os.getpid())}

        with watching() as run:
            compute("before")
            assert in_forked_child(child) == ({"child": "finished"}, True)
            compute("after")
        assert statuses(run) == {"before": "finished", "after": "finished"}

    def test_a_task_may_fork_and_its_child_may_compute(self) -> None:
        def forks() -> int:
            answer: int = in_forked_child(lambda: dask.get({"inner": (int, "7")}, "inner"))
            return answer

        with watching() as run:
            assert dask.get({"outer": (forks,)}, "outer") == 7
        assert statuses(run) == {"outer": "finished"}


def test_a_recording_is_taken_while_another_thread_imports_distributed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", ModuleType("distributed"))
    with taskscope.profile() as run:
        dask.delayed(len)("ab").compute(scheduler="sync")
    assert "distributed" not in run.recording.metadata


_LEAVES = """
import atexit, threading
atexit.register(lambda: print([t.name for t in threading.enumerate() if t.name.startswith("taskscope")]))
from dask import delayed
from distributed import Client
from taskscope.session import current

current().hold("the extension")
with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0"):
    assert delayed(abs)(-1).compute() == 1
    print([t.name for t in threading.enumerate() if t.name == "taskscope-pump"])
"""


def test_no_thread_is_left_when_python_ends() -> None:
    done = subprocess.run([sys.executable, "-c", _LEAVES], capture_output=True, text=True, check=False)
    assert (done.stdout.splitlines(), done.returncode) == (["['taskscope-pump']", "[]"], 0), done.stderr
