"""A thread, and how a task or a compute ended, have one name in every face of a recording."""

from __future__ import annotations

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import dask

import taskscope
from taskscope.report import result_bundle
from taskscope.report.picture import picture_svg
from tests.support.files.perfetto import read_trace

_CHECK = "import sys, pathlib, tests.unit.profiling.test_one_word as t; t.check(pathlib.Path(sys.argv[1]))"


def test_threads_without_a_name_have_the_same_one_in_pictures_and_exports(tmp_path: Path) -> None:
    # In a process of its own: names and numbers of threads depend on those that a process has had.
    done = subprocess.run([sys.executable, "-c", _CHECK, str(tmp_path)], stderr=subprocess.PIPE, check=False)
    assert done.returncode == 0, done.stderr.decode()


def check(folder: Path) -> None:
    """Compare the names of two threads in all faces of a recording."""
    with (
        ThreadPoolExecutor(1) as first,
        ThreadPoolExecutor(1) as second,
        taskscope.profile(display=False) as run,
    ):
        for pool in (first, second):
            dask.compute(dask.delayed(abs)(-1), pool=pool, scheduler="threads")
    recording: Any = run.recording
    names = [recording.lanes[int(block.lane[0])].label for block in recording.blocks]
    # Which number a pool has depends on what ran before in this process.
    assert [re.sub(r" of pool \d+$", "", name) for name in names] == ["thread 1"] * 2
    assert len(set(names)) == 2
    recording.to_perfetto(folder / "a.pftrace")
    tracks = {each[0].rpartition("/")[2] for each in read_trace((folder / "a.pftrace").read_bytes()).slices}
    svg, totals = picture_svg(recording, ()), result_bundle(recording)["text/html"]
    assert {
        "exported": tracks - {"computes"},
        # The picture cuts a name that is longer than its margin.
        "drawn": {name for name in names if f">{name[:12]}" in svg},
        "Python's own": "ThreadPoolExecutor" in svg + totals,
    } == {"exported": set(names), "drawn": set(names), "Python's own": False}
