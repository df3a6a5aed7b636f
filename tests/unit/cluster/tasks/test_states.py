"""What tasks wait for that no worker has: held against what the scheduler itself counts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from distributed import Client, LocalCluster

import taskscope
from taskscope.jupyter.widgets import ProgressWidget
from tests.support.clusters.tasks import work, work_after
from tests.support.waiting import until

_NAMES = ("held", "after", "gpu")


def _truth(cluster: Any) -> dict[str, tuple[int, int, int, int]]:
    """Return how many tasks of each prefix are processing, queued, waiting and without a worker."""
    states = {
        name: Counter(
            task.state
            for key, task in list(cluster.scheduler.tasks.items())
            if str(key).startswith(f"{name}-")
        )
        for name in _NAMES
    }
    return {name: (n["processing"], n["queued"], n["waiting"], n["no-worker"]) for name, n in states.items()}


def _shown(widget: ProgressWidget) -> dict[str, tuple[int | None, ...]]:
    columns = ("running", "queued", "waiting", "no_worker")
    return {group["prefix"]: tuple(group.get(column) for column in columns) for group in widget.groups}


def test_progress_shows_what_is_processed_queued_waiting_and_fits_no_worker(
    client: Client, cluster: LocalCluster, truth: Path, tmp_path: Path
) -> None:
    signal = tmp_path / "go"
    with taskscope.profile(display=False) as run:
        widget = ProgressWidget()
        held = [client.submit(work_after, signal, truth, f"held{i}", key=f"held-{i}") for i in range(40)]
        after = [
            client.submit(work, truth, f"after{i}", 0.0, *held[i : i + 2], key=f"after-{i}") for i in range(7)
        ]
        gpu = [client.submit(abs, -i, resources={"GPU": 1}, key=f"gpu-{i}") for i in range(3)]
        until(lambda: _truth(cluster)["gpu"] == (0, 0, 0, 3) and _truth(cluster)["after"] == (0, 0, 7, 0))
        # Work stealing may make room on a worker for another task.
        until(lambda: _shown(widget) == _truth(cluster), lambda: (_shown(widget), _truth(cluster)))
        sent, queued = (n or 0 for n in _shown(widget)["held"][:2])
        assert sent >= 4
        assert sent + queued == 40
        assert (widget.running, widget.queued, widget.waiting, widget.no_worker) == (sent, queued, 7, 3)
        assert (widget.asked, widget.state, widget.asked_s is not None) == (None, "running", True)

        signal.touch()
        assert client.gather(after) == [f"after{i}" for i in range(7)]
        # What hangs is all that is left, and is still said.
        until(lambda: (widget.finished, widget.running, widget.no_worker) == (47, 0, 3))
        assert (widget.total, widget.queued, widget.waiting) == (50, 0, 0)
        client.cancel(gpu)
        until(lambda: widget.state == "interrupted")
        assert _shown(widget)["gpu"] == (0, None, None, None)
        widget.close()
    assert run.recording.to_pandas("messages").empty
