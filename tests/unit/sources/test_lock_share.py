"""How often the interpreter's lock was held is measured for each compute in threads."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import Any

import dask
import numpy as np
import pytest

import taskscope
from taskscope.record import pump
from taskscope.session import current
from taskscope.sources import stacks
from tests.support.waiting import PATIENCE_S

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts how often a thread slept")

_ENOUGH = 20
"""How often the lock is looked at in a second; on a busy machine it takes longer."""


def _is_known() -> bool:
    return any(log.lock_looks[0] >= _ENOUGH for log in current().recorder.going())


def _turn() -> None:
    stop = time.perf_counter() + PATIENCE_S
    while not _is_known():
        assert time.perf_counter() < stop
        sum(range(200_000))


@pytest.mark.parametrize("stacks", [True, False])
def test_threads_that_run_python_are_seen_to_hold_the_lock(*, stacks: bool) -> None:
    with taskscope.profile(display=False, stacks=stacks) as run:
        dask.compute([dask.delayed(_turn)() for _ in range(2)], scheduler="threads", num_workers=2)
    assert 0.8 < run.recording.to_pandas("runs").lock_share[0] <= 1.0


def test_the_lock_share_of_a_short_compute_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pump, "TICK_S", 3600.0)  # shorter than a beat, however busy the machine
    with taskscope.profile(display=False) as run:
        dask.delayed(int)().compute(scheduler="threads")
    assert np.isnan(run.recording.to_pandas("runs").lock_share[0])


def test_the_lock_share_is_unknown_where_the_system_does_not_count_how_often_a_thread_slept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stacks, "_THREAD", None)
    with taskscope.profile(display=False) as run:
        dask.delayed(time.sleep)(0.5).compute(scheduler="threads")
    assert np.isnan(run.recording.to_pandas("runs").lock_share[0])


def _explained(before: str, graph: str) -> dict[str, Any]:
    """Return the lock's share and the causes of a compute of four threads in a new process."""
    code = f"""
import ctypes, json, threading, time
import dask, taskscope

def compute():
    stop = time.thread_time() + 0.03
    while time.thread_time() < stop:
        sum(i * i for i in range(300))

{before}
with taskscope.profile(display=False) as run:
    dask.compute({graph}, scheduler="threads", num_workers=4)
found = run.recording.explain()
print(json.dumps([run.recording.runs[0].lock_share, [f.cause for f in found], found.verdict]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(zip(("share", "causes", "verdict"), json.loads(done.stdout), strict=True))


_SLEEPS = "[dask.delayed(time.sleep)(0.05, dask_key_name=f'sleep-{i}') for i in range(80)]"
_COMPUTES = "[dask.delayed(compute)(dask_key_name=f'compute-{i}') for i in range(60)]"


@linux_only
def test_a_timer_that_is_late_is_no_lock_that_is_held() -> None:
    found = _explained("ctypes.CDLL(None).prctl(29, 400_000, 0, 0, 0)", _SLEEPS)
    assert (found["share"] < 0.2, found["causes"][:1]) == (True, ["waiting"])
    assert "interpreter-lock" not in found["causes"]


@linux_only
def test_tasks_that_sleep_are_not_in_python_while_another_thread_is() -> None:
    busy = "threading.Thread(target=lambda: [compute() for _ in range(200)], daemon=True).start()"
    assert "interpreter-lock" not in _explained(busy, _SLEEPS)["causes"]


@linux_only
def test_threads_that_take_turns_in_python_are_found_also_beside_a_child_that_rests() -> None:
    found = _explained(
        "from multiprocessing.resource_tracker import ensure_running; ensure_running()", _COMPUTES
    )
    assert found["causes"][:1] == ["interpreter-lock"]
    assert "C code" not in (found["verdict"] or "")
