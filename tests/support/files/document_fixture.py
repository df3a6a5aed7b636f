"""Make the files that the browser reads in tests: ``python -m tests.support.files.document_fixture``."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from typing import Any

import dask
import dask.array as da

import taskscope
from taskscope.recording import Recording
from tests.support.clusters.recordings import cluster_recording
from tests.support.clusters.repeated_tasks import record_repeated_tasks
from tests.support.fakes.clock import FakeClock

FIXTURES = Path(__file__).parents[2] / "fixtures"
FOLDER = FIXTURES / "documents"


def _record() -> None:
    def weight(value: object) -> float | None:
        return float(value.nbytes) / 2 if hasattr(value, "nbytes") else None

    x = da.ones((60, 60), chunks=(15, 20))
    with taskscope.profile(display=False, metric=weight, label="busy") as run:
        (x @ x.T).rechunk((30, 30)).sum().compute(scheduler="threads", num_workers=3)
    run.recording.save(FOLDER / "busy.taskscope", overwrite=True)

    def slow(value: object) -> object:
        time.sleep(0.02)
        return value

    def fails(value: object) -> None:
        raise ValueError(f"no {value} </script>")

    graph: dict[Any, Any] = {
        "data": 7,
        b"raw": (slow, "data"),
        ("pair", 1): (slow, b"raw"),
        "ü<b>": (fails, ("pair", 1)),
    }
    early: list[Recording] = []
    with taskscope.profile(display=False, label="odd") as run:
        graph["look"] = (lambda _: early.append(run.recording), ("pair", 1))
        dask.threaded.get(graph, ["look", ("pair", 1)], num_workers=2)
        with contextlib.suppress(ValueError):
            dask.threaded.get(graph, "ü<b>", num_workers=2)
    run.recording.save(FOLDER / "odd.taskscope", overwrite=True)
    early[0].save(FOLDER / "running.taskscope", overwrite=True)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    _record()
    cluster_recording().save(FOLDER / "cluster.taskscope", overwrite=True)
    Recording.of(record_repeated_tasks(FakeClock())[0].snapshot()).save(
        FOLDER / "repeated.taskscope", overwrite=True
    )


if __name__ == "__main__":
    main()
