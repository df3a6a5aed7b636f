"""The story of a task: where it was, what it waited for, and what became of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import dask
import pytest
from dask.delayed import delayed
from distributed import Event, wait

import taskscope
from taskscope.recording import Recording
from tests.support.clusters.recordings import rows
from tests.support.clusters.small_cluster import small_cluster
from tests.support.waiting import until

_BYTES = 4_000_000
_NUMBERS = re.compile(r"[\d.]+ (µs|ms|s)\b")


def told(recording: Recording, key: str) -> list[tuple[str, str | None, str]]:
    """Return events, workers and words of a task's story, in which each duration is a star."""
    found: Any = recording.story(key).table()
    times = list(zip(found["run"], found["time_s"], strict=True))
    assert times == sorted(times)
    texts = (_NUMBERS.sub("*", text) for text in found["text"])
    return list(zip(found["event"], found["worker"], texts, strict=True))


def size(part: bytes) -> int:
    return len(part)


def blocked(name: object, go: str) -> object:
    """Last until that is allowed."""
    Event(go).wait()
    return name


def steal(key: str, thief: str, dask_scheduler: Any = None) -> None:
    """Run on the scheduler: have a worker steal a task that another one was given."""
    task, to = dask_scheduler.tasks[key], dask_scheduler.workers[thief]
    dask_scheduler.extensions["stealing"].move_task_request(task, task.processing_on, to)


def workers(recording: Recording) -> dict[str, str]:
    """Return which worker each task was with, or is."""
    return dict(rows(recording, "tasks", "key", "worker"))


def test_a_stolen_task_with_a_transfer_has_all_of_it_in_order_also_from_a_file(tmp_path: Path) -> None:
    with (
        dask.config.set({"distributed.scheduler.work-stealing-interval": "1h"}),
        small_cluster(2, protocol="tcp://") as (_, client),
        taskscope.profile(display=False) as run,
    ):
        a, b = sorted(client.scheduler_info()["workers"])
        name = {address: f"worker {of['name']}" for address, of in client.scheduler_info()["workers"].items()}
        part = client.submit(bytes, _BYTES, key="part", workers=[a])
        wait(part)
        go = Event("taskscope-story", client=client)
        at = {"a": [a], "b": [b]}
        busy = [client.submit(blocked, key, "taskscope-story", workers=at[key], key=key) for key in at]
        until(lambda: workers(run.recording) == {"part": a, "a": a, "b": b})
        x = client.submit(size, part, workers=[a], allow_other_workers=True, key="x")
        until(lambda: workers(run.recording) == {"part": a, "a": a, "b": b, "x": a})
        client.run_on_scheduler(steal, "x", b)
        until(lambda: bool(rows(run.recording, "steals", "key")))
        go.set()
        wait([*busy, x])
    recording = run.wait()
    # Scheduler and workers have clocks of their own, and the transfer begins right after the steal.
    first, *two, fourth, last = told(recording, "x")
    story = [first, *sorted(two), fourth, last]
    assert [line[:2] for line in story] == [
        ("ready", None), ("stolen", b), ("transfer", b), ("start", b), ("finished", b)
    ]  # fmt: skip
    assert [text.partition("; the scheduler")[0] for _, _, text in story] == [
        "part, its only input, was ready",
        f"stolen: moved from {name[a]} to {name[b]}",
        f"part came from {name[a]}: 4 MB in *",
        f"started on {name[b]}, thread 1, * after it was ready",
        "finished after *, * of that on the CPU; its result has 28 B",
    ]
    assert ("sent", b, f"its result went to {name[b]}: 4 MB in *") in told(recording, "part")
    recording.save(tmp_path / "story.taskscope")
    loaded = taskscope.load(tmp_path / "story.taskscope")
    assert str(loaded.story("x")) == str(recording.story("x"))


def test_a_local_scheduler_has_the_release_of_a_result_too() -> None:
    one = delayed(bytes)(10, dask_key_name="one")
    two = delayed(size)(one, dask_key_name="two")
    with taskscope.profile(display=False) as run:
        delayed(str)(two, dask_key_name="three").compute(scheduler="sync")
        with pytest.raises(ZeroDivisionError):
            delayed(lambda _: 1 / 0)(one, dask_key_name="four").compute(
                scheduler="sync", optimize_graph=False
            )
    recording = run.recording
    assert [(event, text) for event, _, text in told(recording, "two")] == [
        ("ready", "one, its only input, was ready"),
        ("start", "started on MainThread, * after it was ready"),
        ("finished", "finished after *, * of that on the CPU; its result has 28 B"),
        ("released", "its result was released: the task that needed it was done"),
    ]
    assert told(recording, "four")[-1][::2] == (
        "erred", "failed after *, * of that on the CPU: ZeroDivisionError: division by zero",
    )  # fmt: skip
    both = recording.story("one")
    assert both.to_pandas().run.unique().tolist() == [run.run for run in recording.runs]
    assert str(both).split("\n")[2].split() == ["compute", "after", "what", "happened"]
    assert str(recording.story("none")) == "no task of these computes has the key none"
