"""What workers are doing, read from them while they do it."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path
from time import thread_time
from typing import Any

import pytest
from distributed import Client, secede

import taskscope
from taskscope.model.tables.stacks import CLIENT, CLIENT_RUN, StackColumns
from taskscope.session import current
from tests.support.clusters.tasks import spend
from tests.support.waiting import until


def times_of(stacks: StackColumns, *prefixes: str) -> list[float]:
    """Return when tasks of these prefixes were sampled; the client's own thread is before and after them."""
    assert set(stacks.prefixes) <= {CLIENT, *prefixes}
    times: list[float] = stacks.rows.start[stacks.rows.run != CLIENT_RUN].tolist()
    return times


def test_samples_are_known_while_tasks_run(client: Client, tmp_path: Path) -> None:
    with taskscope.profile(display=False) as run:
        futures = client.map(spend, [tmp_path / "end"] * 8, key=[f"live-{i}" for i in range(8)])
        recorder = current().recorder
        # Of several cycles of a second.
        until(lambda: len({*times_of(recorder.stacks.between(recorder.next_run - 1, None), "live")}) >= 2)
        assert not any(future.done() for future in futures)
        (tmp_path / "end").touch()
        client.gather(futures)
    profile = run.recording.profile()
    (prefix,) = profile.root.children
    assert (prefix.name, max(prefix.children, key=lambda node: node.seconds).name) == ("live", "spend")
    tasks = run.recording.tasks
    assert profile.root.seconds == pytest.approx(float((tasks.stop - tasks.start).sum()))


OTHERS = """
import sys, time
from pathlib import Path
from time import thread_time
from distributed import Client, secede

def rest(end):
    while not Path(end).exists():
        time.sleep(0.01)

with Client(sys.argv[1]) as client:
    future = client.submit(rest, sys.argv[2], key="same-2")
    print("there", flush=True)
    future.result()
"""


def test_samples_of_another_client_s_task_of_the_same_prefix_are_left_out(
    client: Client, tmp_path: Path
) -> None:
    address, end = client.scheduler_info()["address"], tmp_path / "end"
    command = [sys.executable, "-c", OTHERS, address, str(end)]
    with (
        taskscope.profile(display=False) as run,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other,
    ):
        assert other.stdout is not None
        assert other.stdout.readline() == "there\n"
        future = client.submit(spend, end, key="same-1")
        until(lambda: has_samples(run, "same") and run.recording.profile(prefix="same").n_samples >= 20)
        end.touch()
        future.result()
    (prefix,) = run.recording.profile().root.children
    # A worker may be met in what it does before it calls the function.
    names = [node.name for node in sorted(prefix.children, key=lambda node: -node.seconds)]
    assert (names[0], "rest" in names) == ("spend", False)


def test_samples_have_their_worker_and_their_time(client: Client, tmp_path: Path) -> None:
    with taskscope.profile(display=False) as run:
        for name in ("first", "second"):
            future = client.submit(spend, tmp_path / name, key=f"{name}-1")
            until(partial(has_samples, run, name))
            (tmp_path / name).touch()
            future.result()
    recording = run.recording
    table = recording.table("tasks")
    of_lane = {lane.id: lane for lane in recording.lanes}
    for key, lane in zip(table["key"], recording.tasks.lane.tolist(), strict=True):
        name = str(key).partition("-")[0]
        profile = recording.profile(prefix=name)
        assert profile.n_samples == recording.profile(prefix=name, worker=of_lane[lane].worker).n_samples > 0
    times = times_of(recording.stacks, "first", "second")
    assert -1.0 <= min(times) - recording.zero_s <= max(times) - recording.zero_s <= max(table["stop_s"])


def has_samples(run: Any, prefix: str) -> bool:
    profile = run.recording.profile()
    return any(node.name == prefix for node in profile.root.children)


def n_samplers(dask_worker: Any = None) -> int:
    return sum(thread.name == "taskscope-samples" for thread in threading.enumerate())


def test_without_samples_no_stack_is_read(client: Client, tmp_path: Path) -> None:
    with taskscope.profile(display=False, stacks=False) as run:
        future = client.submit(spend, tmp_path / "end", pure=False)
        until(lambda: sum(client.run(n_samplers).values()) == 1)
        (tmp_path / "end").touch()
        future.result()
    assert run.recording.profile().n_samples == 0


def leave_pool(computes_s: float) -> None:
    """Compute, wait, and leave the pool: a later task's new thread may have the number of this one."""
    while thread_time() < computes_s:
        pass
    time.sleep(0.1)
    secede()


def test_a_thread_with_the_number_of_one_that_has_ended_has_its_own_cpu_time(client: Client) -> None:
    (worker, *_) = client.scheduler_info()["workers"]
    with taskscope.profile(display=False) as run:
        for computes_s in (0.5, 0.5, 0.0, 0.0, 0.0, 0.0):
            client.submit(leave_pool, computes_s, pure=False, workers=[worker]).result()
    assert run.recording.messages == ()
