"""Lines of tasks on workers, sampled there while they are asked for."""

from __future__ import annotations

import os
import threading
import time
from typing import Any

import pytest
from distributed import Client

import taskscope
from tests.support.waiting import until


def burn(seconds: float) -> float:
    stop = time.thread_time() + seconds
    while time.thread_time() < stop:
        pass
    return seconds


def is_sampling(dask_worker: Any = None) -> bool:

    return any(thread.name == "taskscope-samples" for thread in threading.enumerate())


def has_ended(client: Client) -> bool:
    return not any(client.run(is_sampling).values())


def test_lines_of_tasks_on_workers_are_known_where_they_are_asked_for(client: Client) -> None:
    with taskscope.profile(display=False, lines=True, profile_interval=0.002) as run:
        assert client.gather(client.map(burn, [0.4] * 4, key=[f"lined-{n}" for n in range(4)])) == [0.4] * 4
    lines, profile, tasks = run.recording.lines(), run.recording.profile(), run.recording.tasks
    assert lines.note is profile.note is None
    assert [each.function.name for each in lines.functions if each.function.file == __file__] == ["burn"]
    (burning,) = (each for each in lines.functions if each.function.name == "burn")
    assert {line.source and line.source.strip() for line in burning.lines} <= {
        "stop = time.thread_time() + seconds",
        "while time.thread_time() < stop:",
        "pass",
        "return seconds",
    }
    assert lines.n_samples == profile.n_samples >= 4
    assert lines.seconds == pytest.approx(float((tasks.stop - tasks.start).sum()))
    # Between two computes the client's own thread is sampled.
    found = {*run.recording.table("lines")["worker"]} - {str(os.getpid())}
    assert found <= {*client.scheduler_info(n_workers=-1)["workers"]}
    until(lambda: has_ended(client))


def test_lambdas_have_the_file_and_the_source_that_the_client_has(client: Client) -> None:
    with taskscope.profile(display=False, lines=True, profile_interval=0.002) as run:
        client.gather(client.map(lambda s: burn(s), [0.2] * 4, pure=False))  # noqa: PLW0108 - by value
    (found,) = (each for each in run.recording.lines().functions if "<lambda>" in each.function.name)
    assert found.function.file == __file__
    assert [line.source is not None and "lambda s: burn(s)" in line.source for line in found.lines] == [True]


def test_without_lines_it_is_said_what_to_add(client: Client) -> None:
    with taskscope.profile(display=False) as run:
        client.gather(client.map(burn, [0.2] * 2, key=["plain-1", "plain-2"]))
    assert run.recording.lines().note == (
        "no lines of tasks on the cluster: workers sample lines where they are asked for, with "
        "%%profile --lines or profile(lines=True)"
    )
