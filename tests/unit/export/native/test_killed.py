from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import taskscope
from taskscope.errors import DamagedFileError
from taskscope.model.public_tables import TABLES
from taskscope.model.recording import RecordedData
from taskscope.model.tables.records import FINISHED
from tests.support.recordings.tables import read_back, rows
from tests.support.waiting import PATIENCE_S

_STATUS = [column.name for column in TABLES["tasks"].columns].index("status")
ENDLESS = """
import sys, time, dask, taskscope

def work(i):
    time.sleep(0.001)
    return i

with taskscope.profile(save=sys.argv[1], overwrite=True, display=False, dt=0.05, profile_interval=0.005):
    while True:
        leaves = [dask.delayed(work)(i) for i in range(1000)]
        dask.compute(dask.delayed(work)(leaves), scheduler="threads", num_workers=4)
"""


@contextmanager
def recording_process(path: Path) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", ENDLESS, str(path)])
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def wait_for_tasks(path: Path, process: subprocess.Popen[bytes], more_than: int) -> int:
    """Wait until the file holds more tasks that have ended than this, and return how many."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        assert process.poll() is None, "the process ended by itself"
        try:
            n_tasks = int((taskscope.load(path).tasks.status == FINISHED).sum())
        except (OSError, DamagedFileError):
            n_tasks = -1
        if n_tasks > more_than:
            return n_tasks
        time.sleep(0.02)
    raise AssertionError(f"no more than {more_than} tasks in {path} after {PATIENCE_S} s")


def ended(recording: RecordedData) -> list[tuple[str, ...]]:
    return [row for row in rows(recording, "tasks") if row[_STATUS] == "'finished'"]


def entered(recording: RecordedData) -> set[tuple[str, ...]]:
    """Return what landed in the scheduler's cache, and when."""
    return {row[:2] + row[4:5] for row in rows(recording, "cache")}


def known(recording: RecordedData) -> set[int]:
    """Return the computes of which dependencies and what was held are known."""
    return {run for run, graph in recording.graphs.items() if graph.known}


def counted(recording: RecordedData) -> set[tuple[float, int]]:
    """Return how many samples of call stacks were taken in each cycle but the last one, which goes on."""
    starts, place = np.unique(recording.stacks.rows.start, return_inverse=True)
    counts = np.bincount(place, recording.stacks.rows.count, len(starts))
    return set(zip(starts.tolist()[:-1], counts.tolist()[:-1], strict=True))


def test_what_was_flushed_survives_a_kill_at_any_moment(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    chance = random.Random(1)
    for number in range(40 if request.config.getoption("--thorough") else 2):
        path = tmp_path / f"{number}.taskscope"
        with recording_process(path) as process:
            wait_for_tasks(path, process, 0)
            time.sleep(chance.random())  # the moment is what is random
            before = path.read_bytes()
            process.kill()
            process.wait()
        early = read_back(before)
        flushed = ended(early)
        left = taskscope.load(path)
        assert flushed
        assert ended(left)[: len(flushed)] == flushed
        assert left.metadata["truncated"] is True
        assert {run.status for run in left.runs} <= {"finished", "interrupted"}
        assert repr(list(left.resources.tuples())[: len(early.resources)]) == repr(
            list(early.resources.tuples())
        )
        assert rows(left, "dependencies")[: len(rows(early, "dependencies"))] == rows(early, "dependencies")
        assert entered(early) <= entered(left)
        assert counted(early) <= counted(left)
        # The kill may have come between the beginning of a compute and the rest of its graph: that is said.
        assert known(early) <= known(left)
        lacking = [run for run in left.runs if run.n_tasks and run.run not in left.graphs]
        whole = not lacking and known(left) == left.graphs.keys()
        assert left.unknown == (set() if whole else {"cache", "dependencies"})
        assert "this file is not complete" in left.summary()


def test_a_file_takes_the_place_of_an_older_one_and_grows(tmp_path: Path) -> None:
    path = tmp_path / "a.taskscope"
    path.write_text("an older file")
    with recording_process(path) as process:
        first = wait_for_tasks(path, process, 0)
        wait_for_tasks(path, process, first)
