from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import dask.array as da
import pytest
from dask.delayed import delayed
from distributed import Client, Event, LocalCluster, wait

import taskscope
from taskscope.recording import Recording
from taskscope.session import current
from tests.support.clusters.recordings import rows
from tests.support.clusters.tasks import work
from tests.support.waiting import records_are_kept, until


def test_an_asynchronous_client_is_recorded(cluster: LocalCluster, truth: Path) -> None:
    async def main() -> Recording:
        async with Client(cluster.scheduler_address, asynchronous=True) as client:
            with taskscope.profile(display=False) as run:
                await records_are_kept()
                first = client.submit(work, truth, "a", 0.01, pure=False)
                assert await first == "a"
                assert await client.compute(delayed(work)(truth, "b", 0.01, dask_key_name="b-1")) == "b"
                await current().cluster.settled()
            return run.recording

    recording = asyncio.run(main())
    assert rows(recording, "runs", "n_tasks", "status") == [(1, "finished"), (1, "finished")]
    first = recording.runs[0].run
    assert rows(recording, "tasks", "run", "status") == [(first, "finished"), (first + 1, "finished")]


def test_what_a_client_that_blocks_submits_in_its_own_event_loop_is_recorded_from_the_first_task_on(
    cluster: LocalCluster, truth: Path
) -> None:
    """As backends of joblib do, and there nobody can wait until the scheduler keeps records."""
    with taskscope.profile(display=False) as run, Client(cluster) as client:

        async def submit() -> str:
            value: str = await client.submit(work, truth, "first", 0.01, key="work-first")
            return value

        until(lambda: [s.ready.is_set() for s in current().cluster.schedulers] == [True])
        assert client.sync(submit) == "first"
    assert rows(run.recording, "tasks", "key", "status") == [("work-first", "finished")]
    assert run.recording.messages == ()


# Older releases of Dask warn of that.
@pytest.mark.filterwarnings("ignore:Running on a single-machine scheduler:UserWarning")
def test_explicit_local_schedulers_go_on_being_recorded_as_local(client: Client) -> None:
    with taskscope.profile(display=False) as run:
        da.ones((40,), chunks=10).sum().compute(scheduler="threads")
    assert rows(run.recording, "runs", "scheduler") == [("threads",)]


def test_the_client_is_as_it_was_when_nobody_watches(client: Client) -> None:
    before = Client.get, Client._graph_to_futures
    with taskscope.profile(display=False):
        assert (Client.get, Client._graph_to_futures) != before
    assert (Client.get, Client._graph_to_futures) == before


def _fail() -> None:
    raise ValueError("no")


def test_an_error_that_was_seen_is_the_run_s_though_its_future_is_let_go(client: Client) -> None:
    def seen() -> None:
        until(lambda: not client.futures)

    pauses: list[Callable[[], None]] = [lambda: None, seen]
    for pause in pauses:
        with taskscope.profile(display=False) as run:
            future = client.submit(_fail, pure=False)
            assert str(future.exception()) == "no"
            del future
            pause()
        assert rows(run.recording, "runs", "status", "error") == [("erred", "ValueError: no")]


def test_a_block_in_a_block_has_its_own_work_while_an_earlier_future_is_unfinished(client: Client) -> None:
    may_end = Event("may-end", client=client)
    may_end.clear()
    with taskscope.profile(display=False) as outer:
        earlier = client.submit(wait_for_event, "may-end", key="earlier-1")
        with taskscope.profile(display=False) as inner:
            assert client.gather(client.map(abs, range(4), key=[f"abs-{i}" for i in range(4)])) == [
                0,
                1,
                2,
                3,
            ]
        may_end.set()
        wait(earlier)
    assert rows(inner.recording, "runs", "n_tasks", "status") == [(4, "finished")]
    assert rows(outer.recording, "runs", "n_tasks", "status") == [(1, "finished"), (4, "finished")]


def wait_for_event(name: str) -> None:
    Event(name).wait()


def test_a_compute_is_of_the_thread_that_hands_it_over(client: Client) -> None:
    with taskscope.profile(display=False):
        future = client.submit(lambda: Event("handed-over").wait(60), pure=False)
        until(lambda: bool(current().recorder.going()))
        threads = [log.thread for log in current().recorder.going()]
        Event("handed-over", client=client).set()
        assert future.result()
    assert threads == [threading.get_ident()]
