"""What a worker reports that cannot be is left out with a message; all else is kept, in every face."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from distributed import Client, LocalCluster

import taskscope
from taskscope.recording import Recording
from tests.support.clusters.recordings import rows

FIFTY_YEARS_S = 50 * 365.25 * 86_400


def odd(number: int) -> int:
    return number


def even(number: int) -> int:
    return number


@pytest.fixture(scope="module", params=[FIFTY_YEARS_S, -FIFTY_YEARS_S])
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    """A recording, and its file, of tasks of which a worker reports some with impossible times and bytes."""
    file = tmp_path_factory.mktemp("impossible") / "run.taskscope"
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        handlers = cluster.scheduler.stream_handlers
        finished = handlers["task-finished"]

        def altered(**message: Any) -> None:
            if str(message["key"]).startswith("odd"):
                message["startstops"] = tuple(
                    {**step, "start": step["start"] + request.param, "stop": step["stop"] + request.param}
                    for step in message["startstops"]
                )
                message["nbytes"] = -(10**16)
            finished(**message)

        handlers["task-finished"] = altered
        with taskscope.profile(display=False, save=file) as run:
            for _ in range(2):
                assert client.gather(client.map(odd, range(3), pure=False)) == [0, 1, 2]
                assert client.gather(client.map(even, range(3), pure=False)) == [0, 1, 2]
        return run.wait(), file


def test_tasks_of_impossible_times_have_those_that_the_scheduler_saw(
    recorded: tuple[Recording, Path],
) -> None:
    recording, _ = recorded
    found = rows(recording, "tasks", "prefix", "status", "observed_by", "result_bytes", "start_s", "stop_s")
    assert sorted((prefix, status, by, math.isnan(size)) for prefix, status, by, size, *_ in found) == [
        *[("even", "finished", "worker", False)] * 6,
        *[("odd", "finished", "scheduler", True)] * 6,
    ]
    last_s = max(run.stop_s or 0.0 for run in recording.runs)
    assert all(0 <= start_s <= stop_s <= last_s + 1 for *_, start_s, stop_s in found)
    assert {status for (status,) in rows(recording, "runs", "status")} == {"finished"}
    texts = {text.partition(" (")[0] for (text,) in rows(recording, "messages", "text")}
    assert texts == {
        "worker 0 reported impossible times of tasks: when these ran is known from the scheduler only"
    }


def test_each_face_has_all_of_it(recorded: tuple[Recording, Path], tmp_path: Path) -> None:
    recording, file = recorded
    assert len(taskscope.load(file).tasks) == 12
    recording.save(tmp_path / "again.taskscope")
    assert len(taskscope.load(tmp_path / "again.taskscope").tasks) == 12
    for name in ("run.html", "run.json", "run.csv"):
        recording.save(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 0
    assert "12 tasks" in recording.summary()
