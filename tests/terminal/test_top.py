"""``taskscope top`` on the screen of a real terminal, tmux, while another process writes the recording."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import taskscope
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
COMMAND = [sys.executable, "-m", "taskscope"]


class Screen:
    """A terminal in which a command runs."""

    def __init__(self, socket: Path, folder: Path, command: str, width: int, height: int) -> None:
        self._tmux = ["tmux", "-f", "/dev/null", "-S", str(socket)]
        size = ["-x", str(width), "-y", str(height)]
        # The shell stays, so that what is left on the screen can be read.
        shell = f"{command}; echo status $?; exec cat"
        self.run("new-session", "-d", *size, "-c", str(folder), shell)

    def run(self, *arguments: str) -> str:
        done = subprocess.run(
            [*self._tmux, *arguments], capture_output=True, text=True, check=True, timeout=PATIENCE_S
        )
        return done.stdout

    def text(self) -> str:
        return self.run("capture-pane", "-p")

    def shows(self, *texts: str) -> str:
        """Return the screen once it shows all of these texts."""
        shown = ""

        def has_all() -> bool:
            nonlocal shown
            shown = self.text()
            return all(text in shown for text in texts)

        until(has_all, lambda: shown)
        return shown


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
    socket = path.with_name("tmux")
    screen = Screen(socket, path.parent, command, width, height)
    try:
        yield screen
    finally:
        screen.run("kill-server")


def test_it_shows_computes_of_another_process_and_their_end(recording: Path) -> None:
    with top(recording, 80, 24) as screen:
        shown = screen.shows("64 of 80 tasks (80%)", "script.py · running · ", "30/40", "34/40", "thread 4")
        assert [line for line in shown.splitlines() if len(line) > 80] == []
        assert "load" in shown
        assert "CPU " in shown
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


def test_without_colours_it_shows_the_same(recording: Path) -> None:
    with top(recording, 80, 24, before="NO_COLOR=1") as screen:
        screen.shows("64 of 80 tasks (80%)", "thread 4")
        shown = screen.run("capture-pane", "-p", "-e")
        # tmux resets colours, but sets none.
        assert re.findall(r"\x1b\[[0-9;]*(?:3[0-8]|4[0-8])", shown) == []


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


def piped(path: Path) -> subprocess.CompletedProcess[str]:
    line = [*COMMAND, "top", str(path)]
    return subprocess.run(line, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
