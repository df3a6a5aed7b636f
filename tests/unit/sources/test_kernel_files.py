"""Files of the kernel are read as others read them, and no other thread runs meanwhile."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from taskscope.sources import kernel_files

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="these files are Linux's")


def test_a_file_a_folder_and_children_are_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"text")
    assert kernel_files.read(str(tmp_path / "a")) == b"text"
    kernel_files.write(str(tmp_path / "a"), b"more")
    assert (tmp_path / "a").read_bytes() == b"more"
    assert sorted(kernel_files.names(str(tmp_path))) == ["a"]
    assert set(kernel_files.names("/proc/self/task")) == {
        path.name for path in Path("/proc/self/task").iterdir()
    }
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE):
        assert kernel_files.has_children()


@pytest.mark.parametrize(
    "call", [kernel_files.read, kernel_files.names, lambda p: kernel_files.write(p, b"")]
)
def test_what_is_not_there_raises_as_elsewhere(call: object, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="missing"):
        call(str(tmp_path / "missing"))  # type: ignore[operator]  # each of them takes a path


def test_no_other_thread_runs_while_files_are_read() -> None:
    turns, stop = [0], threading.Event()

    def count() -> None:
        while not stop.is_set():
            turns[0] += 1

    before_s = sys.getswitchinterval()
    thread = threading.Thread(target=count)
    thread.start()
    try:
        # This thread gives the lock away only where a call does.
        sys.setswitchinterval(60.0)
        began = turns[0]
        for _ in range(20):
            kernel_files.read("/proc/self/statm")
        assert turns[0] == began
    finally:
        sys.setswitchinterval(before_s)
        stop.set()
        thread.join()
