"""The history of long computes: files that are kept, listed, bounded, and compared."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import taskscope
from taskscope.history import History
from taskscope.jupyter.feed.actions import Keeping
from taskscope.jupyter.feed.requests import BadRequestError
from taskscope.options import HistoryOptions
from taskscope.session import Session, current
from tests.support.recordings.run_writing import begin_run, end_run, write_task
from tests.support.shell import Shell, shell_with_taskscope
from tests.support.waiting import until

ON = "%taskscope history on --longer 1e-9 --folder"
COMPUTE = "total = dask.delayed(abs)(-1).compute(scheduler='synchronous')"


@pytest.fixture
def shell() -> Iterator[Shell]:
    with shell_with_taskscope() as made:
        shell = Shell(made)
        run(shell, "import dask, time, taskscope")
        yield shell


def run(shell: Shell, cell: str) -> object:
    result = shell.run(cell)
    result.raise_error()
    return result.result


def statuses(folder: Path) -> list[str]:
    return [compute.status for compute in taskscope.runs(history=folder)]


def warnings(folder: Path) -> list[str]:
    """Return the session's messages about a folder: other tests of this process have left theirs."""
    return [message.text for message in current().recorder.messages if str(folder) in message.text]


def test_computes_are_kept_from_when_it_is_on_until_it_is_off_and_listed(
    shell: Shell, tmp_path: Path
) -> None:
    folder = tmp_path / "kept"
    run(shell, COMPUTE)
    assert run(shell, f"{ON} {folder}") == ()
    run(shell, COMPUTE)
    until(lambda: statuses(folder) == ["finished"])
    run(shell, "%taskscope history off")
    run(shell, COMPUTE)
    (kept,) = taskscope.runs(history=folder)
    assert (kept.cell, kept.n_tasks, kept.path) == ("In [4]", 1, str(next(folder.iterdir())))
    assert [run.execution_count for run in kept.recording().runs] == [4]
    name = r"dask-In-4-\d{8}-\d{6}-[0-9a-f]{12}\.taskscope"
    assert re.fullmatch(name, Path(str(kept.path)).name)
    head, row = repr(taskscope.runs(history=folder)).splitlines()
    assert head.split() == ["when", "took", "tasks", "ended", "label", "cell", "file"]
    assert row.endswith(f"In [4]  {kept.path}")


def test_the_oldest_files_of_the_history_go_first_and_no_others(shell: Shell, tmp_path: Path) -> None:
    others = [tmp_path / "mine.taskscope", tmp_path / "dask-In-4-20261127-233912.taskscope"]
    for path in others:
        path.write_bytes(b"x" * 2_000_000)
    old = [tmp_path / f"a-In-{n}-2020010{n}-000000-0123456789ab.taskscope" for n in (1, 2, 3)]
    for path in old:
        path.write_bytes(b"x" * 1_000_000)
    run(shell, f"{ON} {tmp_path} --most 1.5e6")
    run(shell, COMPUTE)
    until(lambda: not old[1].exists())
    until(lambda: statuses(tmp_path) == ["finished"])
    assert [path.exists() for path in (*others, *old)] == [True, True, False, False, True]


def test_a_folder_that_cannot_be_written_is_one_warning_until_it_can(shell: Shell, tmp_path: Path) -> None:
    obstacle = tmp_path / "file"
    obstacle.write_text("")
    folder = obstacle / "kept"
    run(shell, f"{ON} {folder}")
    run(shell, COMPUTE)
    run(shell, COMPUTE)
    until(lambda: warnings(folder) != [])
    obstacle.unlink()
    run(shell, COMPUTE)
    until(lambda: statuses(folder)[-1:] == ["finished"])
    until(lambda: not [thread for thread in threading.enumerate() if thread.name == "taskscope-history"])
    (warning,) = warnings(folder)
    assert warning.startswith("long computes are not kept: ")
    assert shell["total"] == 1


FULL = """
import resource, sys, threading
import dask, taskscope
from taskscope.session import current
from tests.support.shell import Shell, shell_with_taskscope
from tests.support.waiting import until

def kept_no():
    return [message.text for message in current().recorder.messages if "kept" in message.text]

resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))
with shell_with_taskscope() as shell:
    shell.run_line_magic("taskscope", f"history on --longer 1e-9 --folder {sys.argv[1]}")
    tasks = [dask.delayed(abs)(-n, dask_key_name=f"key-{n * n}") for n in range(2_000)]
    assert sum(dask.compute(*tasks, scheduler="threads")) == 1_999_000
    assert sum(dask.compute(*tasks, scheduler="threads")) == 1_999_000
    until(kept_no)
    shell.run_line_magic("taskscope", "history off")
    until(lambda: not [thread for thread in threading.enumerate() if "taskscope-history" in thread.name])
    print(*kept_no(), sep="\\n")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of a file's size")
def test_on_a_full_disk_there_is_one_line_and_computes_go_on(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, check=False, text=True
    )
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    assert line.startswith("long computes are not kept: ")
    assert "File too large" in line


KILLED = """
import os, signal, sys, time
import dask, taskscope
from tests.support.shell import Shell, shell_with_taskscope

def kept():
    return taskscope.runs(history=sys.argv[1])

def kill(*_):
    while [list(c.recording().table("tasks")["prefix"]).count("abs") for c in kept()] != [5]:
        time.sleep(0.02)
    os.kill(os.getpid(), signal.SIGKILL)

with shell_with_taskscope() as shell:
    shell.run_line_magic("taskscope", f"history on --longer 0.2 --folder {sys.argv[1]}")
    dask.delayed(kill)([dask.delayed(abs)(-n) for n in range(5)]).compute(scheduler="threads")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_a_killed_kernel_leaves_what_it_has_written(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    (kept,) = taskscope.runs(history=tmp_path)
    assert (kept.n_tasks, kept.status) == (6, "interrupted")
    assert sorted(kept.recording().table("tasks")["prefix"]) == ["abs"] * 5 + ["kill"]


class World:
    """A session of another kernel, whose history is the same folder."""

    def __init__(self, folder: Path, *, longer_s: float = 1e-9, most_bytes: float = 1e9) -> None:
        self.session = Session()
        self.history = History(self.session)
        self.history.turn_on(HistoryOptions(folder=folder, longer_s=longer_s, most_bytes=most_bytes))
        self.keeping = Keeping(self.session, history=self.history)

    def compute(self, cell: str, *keys: str, is_kept: bool = True) -> int:
        """Add a compute of one second for each key."""
        log = begin_run(self.session.recorder, dict.fromkeys(keys, ()))
        log.cell, log.execution_count = cell, 1
        origin = self.session.recorder.origin
        for place, key in enumerate(keys):
            write_task(log, key, origin + place, origin + place + 1)
        end_run(log, stop=origin + len(keys))
        n = len(statuses(self.history.folder))
        self.session.pump.wake()
        until(lambda: statuses(self.history.folder) == ["finished"] * (n + is_kept))
        return log.run

    def fill(self) -> None:
        """Add a compute at whose end there is no room for the newest of all files."""
        newest = self.history.folder / "a-In-1-20990101-000000-0123456789ab.taskscope"
        newest.write_bytes(b"xx")
        end_run(begin_run(self.session.recorder, {"short-1": ()}))
        self.session.pump.wake()
        until(lambda: not newest.exists())

    def end(self) -> None:
        self.history.turn_off()
        self.session.pump.stop()


GROWS = """
import sys
import dask
from taskscope.options import HistoryOptions
from taskscope.profiling import profile
from taskscope.history import current

def wait():
    while not list(current().folder.glob("dask-theirs-*")):
        pass
    print("grows", flush=True)
    sys.stdin.read()

with profile(display=False, label="theirs"):
    current().turn_on(HistoryOptions(folder=sys.argv[1], longer_s=1e-9))
    dask.delayed(wait)().compute(scheduler="threads")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_a_file_that_grows_stays_in_a_full_folder_until_its_kernel_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", GROWS, str(tmp_path)]
    mine, short = World(tmp_path), World(tmp_path, most_bytes=1)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as kernel:
        assert kernel.stdout is not None
        assert kernel.stdout.readline() == "grows\n"
        begin_run(mine.session.recorder, {"x-1": ()}).label = "mine"
        mine.session.pump.wake()
        until(lambda: len(list(tmp_path.iterdir())) == 2)
        short.fill()
        until(lambda: names(tmp_path) == ["mine", "theirs"])
        kernel.kill()
    short.fill()
    until(lambda: names(tmp_path) == ["mine"])
    mine.end()
    short.end()


def names(folder: Path) -> list[str]:
    return sorted(path.name.split("-")[1] for path in folder.iterdir())


def test_only_long_computes_are_kept(tmp_path: Path) -> None:
    world = World(tmp_path, longer_s=50.0)
    world.compute("a", "short-1", is_kept=False)
    world.compute("a", *(f"long-{n}" for n in range(100)))
    world.end()
    assert [compute.n_tasks for compute in taskscope.runs(history=tmp_path)] == [100]


def test_a_cell_is_compared_with_its_last_run_that_another_kernel_kept(tmp_path: Path) -> None:
    first, second = World(tmp_path), World(tmp_path)
    for cell, key in (("a", "old-1"), ("a", "last-1"), ("b", "other-1")):
        first.compute(cell, key)
    for hour, path in enumerate(sorted(tmp_path.iterdir(), key=lambda path: path.stat().st_mtime_ns)):
        path.rename(re.sub(r"-\d{8}-\d{6}-", f"-20260101-0{hour}0000-", str(path)))
    run, other = second.compute("a", "x-1"), second.compute("c", "x-1")
    page = second.keeping.compare(run, run)
    found = [f'<th scope="row">{name}</th>' in page for name in ("last", "x", "old", "other")]
    assert found == [True, True, False, False]
    with pytest.raises(BadRequestError, match="this cell has computed only once"):
        second.keeping.compare(other, other)
    first.end()
    second.end()
