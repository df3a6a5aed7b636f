"""What travels between processes, without any: both ends in this one."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from dask._task_spec import Task

from taskscope.record import Recorder, RunLog
from taskscope.sources.local import shipped
from taskscope.sources.local.shipped import ShippedTimes
from taskscope.sources.local.timing import TimedTask
from tests.support.signal_pipe import SignalPipe
from tests.support.waiting import PATIENCE_S

OUTSIDE = 1_000.0
"""Wall clocks this far apart are of different machines, in seconds."""


@pytest.fixture(params=["in memory", "named"])
def kind_of_file(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Have times in a file of each kind that some system has."""
    if request.param == "named":
        monkeypatch.setattr(shipped, "_in_memory", lambda: None)
    elif sys.platform != "linux":
        pytest.skip("files in memory are Linux's")
    return str(request.param)


@pytest.fixture
def log(kind_of_file: str) -> Any:
    log = Recorder().begin()
    log.shipped = ShippedTimes(log)
    yield log
    log.shipped.close()


def sent(log: RunLog, key: str = "x", text: str = "7") -> Any:
    """Return a task as the process that runs it sees it."""
    task = TimedTask()
    task.key, task.inner, task.log = key, Task(key, int, text), log
    return pickle.loads(pickle.dumps(task))


def test_a_task_that_ends_after_its_run_is_over_writes_into_no_file_that_came_to_its_path(
    log: RunLog, tmp_path: Path
) -> None:
    task = sent(log)
    mine = tmp_path / "mine"
    mine.write_text("the user's own")
    task.path = str(mine)
    assert task({}) == 7
    assert mine.read_text() == "the user's own"


def test_a_task_whose_times_have_no_file_is_sent_as_it_is(
    log: RunLog, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(shipped, "_in_memory", lambda: None)
    monkeypatch.setattr(shipped.tempfile, "tempdir", str(tmp_path / "none"))  # type: ignore[attr-defined]  # it imports tempfile
    task = sent(log)
    assert type(task) is Task
    assert task({}) == 7
    assert list(log.submitted) == ["x"]


@pytest.mark.parametrize(("offset_s", "shift_s"), [(0.0, 0.0), (0.9, 0.0), (-0.9, 0.0), (OUTSIDE, OUTSIDE)])
def test_times_of_another_machine_are_shifted_to_this_one_s_axis(
    log: RunLog, monkeypatch: pytest.MonkeyPatch, offset_s: float, shift_s: float
) -> None:
    task = sent(log)
    here = shipped.wall_offset
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(shipped, "wall_offset", lambda: here() + offset_s)
        before = log.perf_counter()
        task({})
        after = log.perf_counter()
    assert log.shipped is not None
    log.shipped.landed("x")
    start = log.remote[3]
    assert isinstance(start, float)
    assert before + shift_s - 0.1 <= start <= after + shift_s + 0.1
    if not shift_s:
        assert before <= start <= after


def test_a_line_that_a_full_disk_has_cut_short_loses_that_task_s_times_only(log: RunLog) -> None:
    first, second = sent(log, "first"), sent(log, "second")
    with Path(first.path).open("a") as file:
        file.write("[0, 1.5, 42\n")
    second({})
    assert log.shipped is not None
    log.shipped.landed("first")
    log.shipped.landed("second")
    assert log.remote[0] == "second"
    assert list(log.submitted) == ["first"]


COMPUTING = """
import sys
import dask, taskscope
from dask._task_spec import Task
from tests.support.computes.process_tasks import pass_through

if __name__ == "__main__":
    with taskscope.profile(display=False, stacks=False):
        graph = {"waits": Task("waits", pass_through, sys.argv[1])}
        dask.multiprocessing.get(graph, "waits", num_workers=1)
"""


@pytest.mark.parametrize("killed", ["worker", "main process"])
def test_a_process_that_is_killed_leaves_no_file_behind(killed: str, tmp_path: Path) -> None:
    folder, script = tmp_path / "temporary", tmp_path / "computing.py"
    folder.mkdir()
    script.write_text(COMPUTING)
    with SignalPipe(tmp_path / "pipe") as pipe:
        main = subprocess.Popen(
            [sys.executable, script, pipe.path],
            env={**os.environ, "TMPDIR": str(folder), "PYTHONPATH": str(Path(__file__).parents[4])},
            stderr=subprocess.PIPE,
            text=True,
        )
        with main:
            # Once it listens a task has begun, and so its times have a file.
            listening = os.open(pipe.path, os.O_WRONLY)
            family = psutil.Process(main.pid).children(recursive=True)
            try:
                for process in filter(_is_worker, family) if killed == "worker" else [main]:
                    process.kill()
                main.wait(PATIENCE_S)
            finally:
                main.kill()
                for process in family:
                    with suppress(psutil.NoSuchProcess):
                        process.kill()
                os.close(listening)
            said = main.communicate()[1]
    assert (main.returncode, "BrokenProcessPool" in said) == (
        (1, True) if killed == "worker" else (-9, False)
    )
    left = [path.name for path in folder.iterdir()]
    assert [name for name in left if name.startswith("taskscope")] == []


def _is_worker(process: psutil.Process) -> bool:
    try:
        return "spawn_main" in " ".join(process.cmdline())
    except psutil.NoSuchProcess:  # what a library asked of the system at its import, say, and has ended
        return False
