from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask.array as da
import pytest
from dask.delayed import delayed
from distributed import Client, Event, LocalCluster, wait

import taskscope
from taskscope.recording import Recording
from taskscope.session import current
from tests.support.clusters.recordings import rows
from tests.support.clusters.tasks import fail, read_truth, work, work_after
from tests.support.waiting import records_are_kept, until


def chain(folder: Path, n: int) -> Any:
    leaves = [
        delayed(work, pure=False)(folder, f"leaf{i}", 0.02, dask_key_name=f"leaf-{i}") for i in range(n)
    ]
    return delayed(work, pure=False)(folder, "root", 0.02, *leaves, dask_key_name="root-0")


def test_a_compute_is_recorded_as_its_tasks_wrote_it(client: Client, truth: Path) -> None:
    with taskscope.profile(label="chain", display=False) as run:
        assert chain(truth, 8).compute() == "root"
    recording = run.recording
    assert rows(recording, "runs", "label", "scheduler", "n_workers", "n_tasks", "status", "error") == [
        ("chain", "distributed", 4, 9, "finished", None)
    ]
    done = {f"{d.name.rstrip('0123456789')}-{d.name.strip('leafrot') or 0}": d for d in read_truth(truth)}
    columns = ("key", "prefix", "thread", "status", "observed_by", "start_s", "stop_s")
    found = {key: row for key, *row in rows(recording, "tasks", *columns)}
    assert {key: row[:4] for key, row in found.items()} == {
        key: [key.partition("-")[0], d.thread, "finished", "worker"] for key, d in done.items()
    }
    zero = recording.started_at.timestamp()
    for key, (*_, start_s, stop_s) in found.items():
        # What a worker measures includes what the task itself saw, on one clock.
        assert stop_s - start_s >= done[key].stop - done[key].start - 1e-6
        # Its place is known as well as the worker reports soon; on a busy machine that may take a while.
        assert done[key].start - zero == pytest.approx(start_s, abs=5.0)
    assert sorted(rows(recording, "dependencies", "key", "dependency")) == [
        ("root-0", f"leaf-{i}") for i in range(8)
    ]
    assert rows(recording, "messages", "text") == []


def test_lanes_are_the_threads_of_workers(client: Client, cluster: LocalCluster, truth: Path) -> None:
    with taskscope.profile(display=False) as run:
        chain(truth, 16).compute()
    lanes = {
        (lane.worker, lane.thread): lane.label
        for lane in run.recording.lanes
        if lane.worker in _addresses(cluster)
    }
    threads = {(d.pid, d.thread) for d in read_truth(truth)}
    # On a busy machine one of four threads may come too late for any task.
    assert len(lanes) == len(threads) == len(set(lanes.values()))
    assert set(lanes.values()) <= {f"worker {worker}, thread {n}" for worker in (0, 1) for n in (1, 2)}


def _addresses(cluster: LocalCluster) -> set[str]:
    return {worker.worker_address for worker in cluster.workers.values()}


def test_persist_submit_map_and_futures_are_runs(client: Client, truth: Path) -> None:
    with taskscope.profile(display=False) as run:
        kept = da.ones((40,), chunks=10).persist()
        wait(kept)
        end = truth.parent / "end"
        futures = client.map(work_after, [end] * 6, [truth] * 6, [f"m{i}" for i in range(6)], pure=False)
        futures.append(client.submit(work, truth, "s", 0.05, *futures, pure=False))
        end.touch()
        assert client.gather(futures)[-1] == "s"
        later = client.submit(work, truth, "later", 0.0, pure=False)
        assert later.result() == "later"
    assert rows(run.recording, "runs", "n_tasks", "status") == [
        (4, "finished"),
        (7, "finished"),
        (1, "finished"),
    ]
    first = run.recording.runs[0].run
    counts = Counter((n - first, prefix) for n, prefix in rows(run.recording, "tasks", "run", "prefix"))
    assert counts == {(0, "ones_like"): 4, (1, "work_after"): 6, (1, "work"): 1, (2, "work"): 1}


def test_an_error_has_its_cause_and_reaches_the_user_unchanged(client: Client) -> None:
    bad = delayed(fail)("no such thing", dask_key_name="bad-1")
    with taskscope.profile(display=False) as run, pytest.raises(ValueError, match="no such thing"):
        delayed(list)([bad, 1], dask_key_name="list-1").compute()
    assert rows(run.recording, "runs", "status", "error") == [("erred", "ValueError: no such thing")]
    assert rows(run.recording, "tasks", "key", "status", "error") == [
        ("bad-1", "erred", "ValueError: no such thing")
    ]


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


def test_what_is_let_go_before_it_has_run_was_not_interrupted(client: Client) -> None:
    with taskscope.profile(display=False) as run:
        future = client.submit(abs, 1, resources={"GPU": 1}, key="never-1")
        other = client.submit(abs, 2, key="abs-2")
        del future
        assert other.result() == 2
        until(lambda: list(client.futures) == ["abs-2"])
    assert rows(run.recording, "runs", "status", "error") == [("finished", None)]
    assert rows(run.recording, "tasks", "key", "status") == [("abs-2", "finished")]


def test_what_is_handed_over_by_one_call_depends_on_what_another_one_did(client: Client) -> None:
    may_end = Event("may-end-first", client=client)
    may_end.clear()
    with taskscope.profile(display=False) as run:
        first = client.submit(may_end.wait, key="first-1")
        both = client.submit(max, first, first, key="both-1")
        last = client.submit(min, both, first, key="last-1")
        may_end.set()
        assert last.result() is True
    assert sorted(rows(run.recording, "dependencies", "key", "dependency")) == [
        ("both-1", "first-1"),
        ("last-1", "both-1"),
        ("last-1", "first-1"),
    ]


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
