"""The observer on a scheduler tells what the scheduler's own task stream has, and leaves nothing there."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import dask
import pytest
from distributed import Client, Event, LocalCluster, Scheduler, wait
from distributed.protocol.pickle import dumps, loads

import taskscope
from taskscope.errors import OptionError
from taskscope.recording import Recording
from taskscope.sources.cluster import Transport
from taskscope.sources.cluster.observer import Observer, _begin, _end
from tests.support.waiting import until
from tests.unit.cluster.test_computes import rows

N_TASKS = 200


def halved(number: int) -> float:
    """Divide by a number, which one of them is not made for."""
    return 1 / (number - 7)


def last() -> float:
    """End once that is allowed."""
    return float(Event("taskscope-test").wait())


def computed(client: Client, transport: Transport, seen: Callable[[], bool]) -> Recording:
    """Compute, with one task that lasts until something is seen."""
    may_end = Event("taskscope-test", client=client)
    may_end.clear()
    with taskscope.profile(display=False, transport=transport) as run:
        futures = client.map(halved, range(N_TASKS), key=[f"halved-{i}" for i in range(N_TASKS)])
        futures.append(client.submit(last, key="last-0"))
        until(seen)
        may_end.set()
        wait(futures)
        del futures
    return run.recording


def told(recording: Recording) -> Counter[tuple[str, ...]]:
    found = rows(recording, "tasks", "key", "prefix", "status", "error", "observed_by", "result_bytes")
    return Counter(tuple(map(str, row)) for row in found)


def test_the_same_run_is_recorded_by_observing_and_by_asking(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    n_read = []
    read = Observer.read

    async def counted(observer: Observer, cursor: int, **options: Any) -> Any:
        told = await read(observer, cursor, **options)
        n_read.append(len(told[2]))
        return told

    monkeypatch.setattr(Observer, "read", counted)
    observed = computed(client, "observe", lambda: sum(n_read) > 0)
    n_observed = len(n_read)
    asked = computed(client, "poll", lambda: True)
    # While it is closed it is read a last time.
    assert sum(n_read[n_observed:]) == 0
    assert told(observed) == told(asked)
    assert (sum(told(observed).values()), observed.runs[0].status) == (N_TASKS + 1, "erred")
    assert rows(observed, "messages", "text") == rows(asked, "messages", "text") == []


def what_is_there(dask_scheduler: Any) -> dict[str, list[str]]:
    """Run on the scheduler: return the names of what anybody may have put there."""
    tasks = [getattr(task.get_coro(), "__qualname__", "") for task in asyncio.all_tasks()]
    return {
        "plugins": sorted(dask_scheduler.plugins),
        "handlers": sorted(dask_scheduler.handlers),
        "feeds": sorted(name for name in tasks if "feed" in name),
        "comms": sorted(str(op) for op in dask_scheduler._comms.values() if op == "feed"),
    }


SCRIPT = """
import sys, taskscope
from distributed import Client
if __name__ == "__main__":
    with taskscope.profile(display=False), Client(sys.argv[1]) as client:
        assert client.submit(abs, -1).result() == 1
        print("there", flush=True)
        sys.stdin.read()
"""


@pytest.mark.parametrize("end", ["left", "killed"])
def test_nothing_is_left_on_the_scheduler(end: str) -> None:
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=":0", processes=False, protocol="tcp://"
        ) as cluster,
        Client(cluster) as client,
    ):
        before = client.run_on_scheduler(what_is_there)
        with subprocess.Popen(
            [sys.executable, "-c", SCRIPT, cluster.scheduler_address],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            assert process.stdin is not None
            assert process.stdout.readline() == "there\n"
            during = client.run_on_scheduler(what_is_there)
            if end == "killed":
                process.kill()
            else:
                process.stdin.close()
        added = {kind: set(during[kind]) - set(before[kind]) for kind in ("plugins", "handlers")}
        assert added["plugins"] == added["handlers"]
        assert [name.partition("-")[0] for name in added["plugins"]] == ["taskscope"]
        until(lambda: client.run_on_scheduler(what_is_there) == before)


@pytest.mark.skipif(not hasattr(Scheduler, "get_task_stream_index"), reason="nothing else can be read there")
def test_a_scheduler_that_forbids_it_is_asked_and_that_is_said() -> None:
    with (
        dask.config.set({"distributed.scheduler.blocked-handlers": ["feed"]}),
        LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=":0", processes=False, protocol="tcp://"
        ) as cluster,
        Client(cluster) as client,
    ):
        recording = computed(client, "observe", lambda: True)
    assert sum(told(recording).values()) == N_TASKS + 1
    ((text,),) = rows(recording, "messages", "text")
    assert text.startswith("the scheduler does not let itself be observed (")
    assert "disallowed" in text


def test_records_that_nobody_reads_in_time_are_counted() -> None:
    scheduler = SimpleNamespace(plugins={}, handlers={})
    scheduler.add_plugin = lambda plugin, name: scheduler.plugins.update({name: plugin})
    plugin = loads(dumps(_begin("taskscope-x", 3)))(scheduler)
    step = {"action": "compute", "start": 1.0, "stop": 2.0}
    for number in range(5):
        plugin.transition(f"x-{number}", "processing", "memory", startstops=(step,), worker="w", thread=1)
    plugin.transition(
        "x-5", "processing", "erred", exception_text="e" * 50_000_000, startstops=[step] * 100_000
    )
    plugin.transition("x-6", "processing", "memory", startstops=5)
    plugin.transition("x-7", "processing", "released", startstops=(step,))
    answer = scheduler.handlers["taskscope-x"](0, 2, 3)
    assert (answer["first"], answer["n"], answer["failed"]) == (3, 6, 1)
    assert [record["key"] for record in answer["records"]] == ["x-3", "x-4"]
    (last,) = scheduler.handlers["taskscope-x"](5, 2, 3)["records"]
    assert (len(last["exception_text"]), len(last["startstops"]), last["status"]) == (10_000, 1_001, "error")
    loads(dumps(_end("taskscope-x")))(scheduler, plugin)
    assert (scheduler.plugins, scheduler.handlers) == ({}, {})


def test_a_transport_that_there_is_not_is_refused_at_once() -> None:
    with pytest.raises(OptionError, match="did you mean 'observe'"):
        taskscope.profile(transport="obsrve")  # type: ignore[arg-type]  # what is tested
