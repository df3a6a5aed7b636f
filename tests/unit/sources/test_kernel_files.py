"""Files of the kernel are read as others read them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from taskscope.sources import kernel_files
from tests.support.waiting import until

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="these files are Linux's")


def test_a_file_a_folder_and_children_are_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"text")
    assert kernel_files.read(str(tmp_path / "a")) == b"text"
    assert sorted(kernel_files.names(str(tmp_path))) == ["a"]
    # A thread of an earlier test may end between the two.
    tasks = Path("/proc/self/task")
    until(lambda: set(kernel_files.names(str(tasks))) == {path.name for path in tasks.iterdir()})
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE):
        assert kernel_files.has_children()


@pytest.mark.parametrize("call", [kernel_files.read, kernel_files.names])
def test_what_is_not_there_raises_as_elsewhere(call: object, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="missing"):
        call(str(tmp_path / "missing"))  # type: ignore[operator]  # each of them takes a path
