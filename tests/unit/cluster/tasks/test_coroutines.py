"""Coroutines as tasks: workers run several of them at a time, in one thread."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path

from dask.delayed import delayed
from distributed import Client

import taskscope
from tests.support.waiting import until


async def attend(signal: Path, folder: Path, name: str) -> str:
    """Say that this has begun, and end once there is a file of that path."""
    (folder / name).touch()
    while not signal.exists():  # noqa: ASYNC110, ASYNC240 - another process
        await asyncio.sleep(0.02)
    return name


def test_no_two_overlap_in_a_lane_and_threads_keep_theirs(client: Client, truth: Path) -> None:
    names, signal = [f"c{i}" for i in range(4)], truth / "go"
    with taskscope.profile(display=False) as run:
        futures = client.map(attend, [signal] * 3, [truth] * 3, names[:3], key=names[:3])
        # In a graph of old a text that is a key stands for its result.
        last = client.compute(delayed(attend)(signal, truth, names[3], dask_key_name="last"))
        until(lambda: {file.name for file in truth.iterdir()} == set(names))
        signal.touch()
        assert client.gather([*futures, last]) == names
        assert client.submit(abs, -1, key="abs").result() == 1
    lanes, table = run.recording.lanes, run.recording.table("tasks")
    columns = (table[column] for column in ("lane", "start_s", "stop_s", "key"))
    tasks = sorted(zip(*columns, strict=True))
    assert all(a[2] <= b[1] for a, b in pairwise(tasks) if a[0] == b[0])
    labels = {key: lanes[lane].label for lane, _, _, key in tasks}
    assert labels.pop("abs") in {"worker 0, thread 1", "worker 1, thread 1"}
    assert {label.rpartition(" ")[0] for label in labels.values()} == {
        "worker 0, coroutines",
        "worker 1, coroutines",
    }
    # They are of one thread, that of the worker's event loop.
    assert len({(lanes[lane].worker, lanes[lane].thread) for lane, *_, key in tasks if key != "abs"}) == 2
