"""Which thread runs a task that has not ended, and since when: held against what it wrote when it began."""

from __future__ import annotations

import time
from pathlib import Path

from distributed import Client

import taskscope
from taskscope.session import current
from tests.support.clusters.tasks import work_after
from tests.support.waiting import until


def _begun(folder: Path) -> dict[str, tuple[float, int]]:
    """Return when, by the wall clock, and on which thread tasks have begun that wait for a signal."""
    told = {file.name.removeprefix("begun-"): file.read_text().split() for file in folder.glob("begun-*")}
    return {name: (float(words[0]), int(words[1])) for name, words in told.items()}


def _threads(run: taskscope.profile) -> dict[str, int]:
    """Return the threads of the tasks that run, where their worker has told of them."""
    table = run.recording.table("tasks")
    columns = ("key", "status", "observed_by", "thread")
    rows = zip(*(table[name] for name in columns), strict=True)
    return {key: thread for key, status, by, thread in rows if (status, by) == ("running", "worker")}


def test_tasks_that_take_long_are_in_the_lanes_of_their_threads_since_they_began(
    client: Client, truth: Path, tmp_path: Path
) -> None:
    go, before = tmp_path / "go", time.time()
    names = [f"held{i}" for i in range(6)]
    with taskscope.profile(display=False) as run:
        futures = [client.submit(work_after, go, truth, name, key=name) for name in names]
        until(lambda: len(_threads(run)) == 4)
        begun, recorder = _begun(truth.parent), current().recorder
        assert _threads(run) == {name: thread for name, (_, thread) in begun.items()}
        starts = {task.key_text: task.start_s for task in recorder.running() if task.lane is not None}
        assert starts.keys() == begun.keys()
        go.touch()
        assert client.gather(futures) == names
    to_wall_s = recorder.origin - recorder.clock.shift_s()
    for name, start in starts.items():
        assert before < start + to_wall_s < begun[name][0] + 0.05
