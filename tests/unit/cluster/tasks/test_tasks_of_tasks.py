"""Work that tasks start is part of the compute whose task started it; what other clients start is not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import dask.array as da
import pytest
from distributed import Client, LocalCluster, get_client, worker_client

import taskscope
from taskscope.recording import Recording
from tests.support.clusters.other_client import other_client
from tests.support.clusters.recordings import rows
from tests.support.clusters.small_cluster import small_cluster
from tests.support.waiting import until


def double(number: int) -> int:
    return 2 * number


def fail_if_odd(number: int) -> int:
    if number % 2:
        raise ValueError("odd")
    return number


def by_worker_client(n: int) -> int:
    with worker_client() as client:
        return sum(client.gather(client.map(double, range(n), pure=False)))


def by_get_client(n: int) -> int:
    with worker_client():
        return sum(get_client().gather(get_client().map(double, range(n), pure=False)))


def by_its_event_loop(n: int) -> int:
    """Submit from the event loop of the worker's client, as joblib's backend does."""
    with worker_client() as client:

        async def gathered() -> list[int]:
            found: list[int] = await client.gather(
                client.map(double, range(n), pure=False), asynchronous=True
            )
            return found

        return sum(client.sync(gathered))


def by_a_compute(n: int) -> int:
    with worker_client():
        return int(da.ones(n, chunks=1).map_blocks(double).sum(split_every=100).compute())


def ended(recording: Recording) -> Counter[tuple[int, str, str]]:
    first = recording.runs[0].run
    found = rows(recording, "tasks", "run", "prefix", "status")
    return Counter((int(run) - first, prefix, status) for run, prefix, status in found)


@pytest.mark.parametrize("starts", [by_worker_client, by_get_client, by_its_event_loop])
def test_tasks_that_a_task_starts_are_part_of_its_compute(
    client: Client, starts: Callable[[int], int]
) -> None:
    with closing(taskscope.ProgressWidget()) as widget:
        with taskscope.profile(display=False) as run:
            assert client.submit(starts, 20, pure=False).result() == 380
        until(lambda: (widget.finished, widget.total) == (21, 21))
    recording = run.recording
    assert ended(recording) == {(0, starts.__name__, "finished"): 1, (0, "double", "finished"): 20}
    assert rows(recording, "runs", "n_tasks", "status") == [(21, "finished")]
    assert rows(recording, "messages", "text") == []


def test_in_the_kernel_s_own_process_they_are_too() -> None:
    with (
        small_cluster(1, 2) as (_, client),
        taskscope.profile(display=False) as run,
    ):
        assert client.submit(by_a_compute, 4, pure=False).result() == 8
        assert client.submit(by_worker_client, 3, pure=False).result() == 6
    assert [(n, status) for n, status in rows(run.recording, "runs", "n_tasks", "status")] == [
        (len(run.recording.tasks) - 4, "finished"),
        (4, "finished"),
    ]
    assert {status for _, _, status in ended(run.recording)} == {"finished"}


def handles(n: int) -> int:
    with worker_client() as client:
        futures = client.map(fail_if_odd, range(n), pure=False)
        return len(client.gather(futures, errors="skip"))


def test_what_fails_there_and_is_handled_there_fails_no_compute(client: Client) -> None:
    with taskscope.profile(display=False) as run:
        assert client.submit(handles, 4, pure=False).result() == 2
    assert rows(run.recording, "runs", "n_tasks", "status", "error") == [(5, "finished", None)]
    assert ended(run.recording) == {
        (0, "handles", "finished"): 1,
        (0, "fail_if_odd", "finished"): 2,
        (0, "fail_if_odd", "erred"): 2,
    }


def test_tasks_of_other_clients_are_not_recorded(client: Client, cluster: LocalCluster, truth: Path) -> None:
    with other_client(cluster.scheduler_address) as other, taskscope.profile(display=False) as run:
        future = client.submit(by_worker_client, 2, pure=False)
        other.do("work", truth, "theirs", 5)
        other.do("fail", "bad")
        assert future.result() == 2
    assert ended(run.recording) == {(0, "by_worker_client", "finished"): 1, (0, "double", "finished"): 2}
