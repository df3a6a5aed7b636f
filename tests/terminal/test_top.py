"""``taskscope top`` on the screen of a real terminal, tmux, while another process writes the recording."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import taskscope
from tests.support.terminal import COMMAND, Screen
from tests.support.waiting import PATIENCE_S, until

SCRIPT = """
import dask, itertools, os, time
begun = itertools.count()
def clean(i):
    while next(begun) >= 30 and not os.path.exists("go"): time.sleep(0.02)
def load(i):
    time.sleep(0.02)
    return i
done = [dask.delayed(clean)(dask.delayed(load)(i)) for i in range(40)]
dask.compute(*done, scheduler="threads", num_workers=4)
"""


@pytest.fixture
def recording(tmp_path: Path) -> Iterator[Path]:
    """A recording that grows until there is a file ``go`` beside it."""
    (tmp_path / "script.py").write_text(SCRIPT)
    path = tmp_path / "a.taskscope"
    line = [*COMMAND, "run", "-q", "-D", str(path), "script.py"]
    with subprocess.Popen(line, cwd=tmp_path) as process:
        try:
            until(path.exists)
            yield path
        finally:
            (tmp_path / "go").touch()
            assert process.wait(PATIENCE_S) == 0


@contextmanager
def top(path: Path, width: int, height: int, before: str = "") -> Iterator[Screen]:
    command = f"{before} {shlex.join([*COMMAND, 'top', str(path)])}"
    with Screen(path.parent, command, width, height) as screen:
        yield screen


def test_it_shows_computes_of_another_process_and_their_end(recording: Path) -> None:
    with top(recording, 80, 24) as screen:
        wanted = "script.py · running · ", "30/40", "34/40", "thread 4", "load", "CPU "
        shown = screen.shows("64 of 80 tasks (80%)", *wanted)
        assert [line for line in shown.splitlines() if len(line) > 80] == []
        screen.run("resize-window", "-x", "120", "-y", "40")
        # The bar fills the new width.
        until(lambda: any(len(line) == 120 for line in screen.text().splitlines()), screen.text)
        recording.with_name("go").touch()
        screen.shows("status 0")
    end = taskscope.load(recording)
    assert [run.status for run in end.runs] == ["finished"]


def test_of_20_columns_no_line_is_longer_and_keys_sort_and_quit(recording: Path) -> None:
    with top(recording, 20, 24) as screen:
        shown = screen.shows("34/40", "30/40", "thread 4", "q quit")
        # Loading took longer.
        assert shown.index("load") < shown.index("clean")
        assert [line for line in screen.text().splitlines() if len(line) > 20] == []
        screen.run("send-keys", "n")
        until(lambda: screen.text().index("clean") < screen.text().index("load"))
        screen.run("send-keys", "q")
        assert "64 of 80" in screen.shows("status 0").replace("\n", "")


def test_ctrl_c_ends_the_view_and_not_the_recording(recording: Path) -> None:
    with top(recording, 80, 24) as screen:
        screen.shows("64 of 80 tasks (80%)")
        screen.run("send-keys", "C-c")
        screen.shows("64 of 80 tasks (80%)", "status 0")


@pytest.mark.parametrize(
    ("content", "said"), [(None, "cannot read"), (b"a,b\n1,2\n", "not a recording of taskscope")]
)
def test_what_is_no_recording_is_said_in_a_line(content: bytes | None, said: str, tmp_path: Path) -> None:
    path = tmp_path / "a.taskscope"
    if content is not None:
        path.write_bytes(content)
    done = piped(path)
    assert (done.returncode, done.stdout, said in done.stderr) == (1, "", True)
    assert len(done.stderr.splitlines()) == 1


def test_of_a_complete_file_it_prints_summary_and_findings(tmp_path: Path) -> None:
    import dask

    with taskscope.profile(display=False, label="sum", save=tmp_path / "a.taskscope") as run:
        dask.get({"a": (sum, [1, 2])}, "a")
    done = piped(tmp_path / "a.taskscope")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{run.recording.summary()}\n\n")


def test_in_a_pipe_it_writes_whole_lines_over_a_replaced_file(recording: Path) -> None:
    with subprocess.Popen([*COMMAND, "top", str(recording)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert "of 80 tasks" in line
        recording.with_name("go").touch()
        rest, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0
    assert "taskscope · script.py · finished" in rest


@pytest.fixture
def grown(recording: Path) -> bytes:
    """The bytes of a recording that a process has begun."""

    def has_tasks() -> bool:
        try:
            tasks = taskscope.load(recording).to_pandas("tasks")
            return int((tasks.status == "finished").sum()) == 64
        except OSError:
            return False

    until(has_tasks)
    return recording.read_bytes()


def put(path: Path, content: bytes) -> None:
    """Put another file in its place."""
    new = path.with_suffix(".new")
    new.write_bytes(content)
    new.replace(path)


@pytest.fixture
def path(grown: bytes, recording: Path) -> Path:
    """Return a file of its own with what was grown."""
    followed = recording.with_name("followed.taskscope")
    followed.write_bytes(grown)
    return followed


def test_a_file_that_is_cut_or_replaced_while_it_is_followed_is_said_to_be_and_followed_on(
    path: Path, grown: bytes, recording: Path
) -> None:
    with top(path, 80, 24) as screen:
        screen.shows("64 of 80 tasks (80%)", "q quit")
        os.truncate(path, 10)
        screen.shows("the file was replaced or cut", "0 of 0 tasks")
        path.unlink()
        screen.shows("the file cannot be read any more: No such file or directory")
        put(path, grown)
        screen.shows("the file was replaced or cut", "64 of 80 tasks (80%)")
        recording.with_name("go").touch()

        def is_over() -> bool:
            put(path, recording.read_bytes())
            return "status 0" in screen.text()

        until(is_over, screen.text)
        assert "taskscope · script.py · finished" in screen.text(scrolled=True)


def test_a_file_that_never_grows_is_shown_and_said_to_be_old(path: Path) -> None:
    with top(path, 80, 24) as screen:
        screen.shows("64 of 80 tasks (80%)", "nothing new for ", "or its process has ended")
        screen.run("send-keys", "q")
        screen.shows("64 of 80 tasks", "status 0")


def test_what_replaces_a_followed_file_and_is_no_recording_ends_the_view_with_a_line(path: Path) -> None:
    with top(path, 200, 24) as screen:
        screen.shows("64 of 80 tasks (80%)", "q quit")
        put(path, b"a,b\n1,2\n")
        lines = screen.shows("status 1").split("\n")
        assert lines[0].startswith(f"taskscope: cannot load {str(path)!r}: not a recording of taskscope")
        assert lines[1] == "status 1"


def piped(path: Path) -> subprocess.CompletedProcess[str]:
    line = [*COMMAND, "top", str(path)]
    return subprocess.run(line, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
