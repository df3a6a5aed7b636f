"""After a block, and after a kernel that was killed, scheduler and workers are as they were before."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from distributed import Client

import taskscope
from tests.support.clusters.shifted_worker import shifted_worker
from tests.support.clusters.small_cluster import small_cluster
from tests.support.waiting import until


def on_scheduler(dask_scheduler: Any) -> dict[str, Any]:
    import asyncio

    tasks = (getattr(task.get_coro(), "__qualname__", "") for task in asyncio.all_tasks())
    return {
        "plugins": sorted(dask_scheduler.plugins),
        "handlers": sorted(dask_scheduler.handlers),
        "stream handlers": {
            op: getattr(handle, "__qualname__", type(handle).__name__)
            for op, handle in dask_scheduler.stream_handlers.items()
        },
        "topics": sorted(topic for topic in dask_scheduler.get_events() if "taskscope" in str(topic)),
        "attributes": sorted(vars(dask_scheduler)),
        "extensions": sorted(dask_scheduler.extensions),
        "feeds": sum("feed" in name for name in tasks),
    }


def on_worker(dask_worker: Any) -> dict[str, Any]:
    import sys
    import threading

    return {
        "plugins": sorted(dask_worker.plugins),
        "handlers": sorted(dask_worker.handlers),
        "stream handlers": sorted(dask_worker.stream_handlers),
        "attributes": sorted(vars(dask_worker)),
        "module": sorted(vars(sys.modules["distributed.worker"])),
        "threads": sorted(t.name for t in threading.enumerate() if "taskscope" in t.name),
        "switch interval": sys.getswitchinterval(),
        "tools": [sys.monitoring.get_tool(n) for n in range(6)] if hasattr(sys, "monitoring") else [],
    }


KERNEL = """
import sys, taskscope
from distributed import Client

def spin(n):
    return sum(range(n))

lines = spin if sys.argv[2] == "spin" else True
with Client(sys.argv[1]) as client, taskscope.profile(display=False, lines=lines):
    client.gather(client.map(spin, [1_000_000] * 8, pure=False))
    print("there", flush=True)
    sys.stdin.read()
"""


def spin(n: int) -> int:
    total = 0
    for i in range(n):
        total += i
    return total


LINES = [
    "all",
    pytest.param(
        "spin",
        marks=pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring came with Python 3.12"),
    ),
]


def there(client: Client) -> tuple[Any, Any]:
    return client.run_on_scheduler(on_scheduler), client.run(on_worker)


@pytest.mark.parametrize("lines", LINES)
def test_after_a_block_scheduler_and_workers_are_as_before(lines: str) -> None:
    with (
        small_cluster(1, 2, processes=True) as (_, client),
        # Its clock is measured, too.
        shifted_worker(client, 0.0),
    ):
        client.gather(client.map(spin, range(4), pure=False))
        before = there(client)
        with taskscope.profile(display=False, lines=spin if lines == "spin" else True) as run:
            client.gather(client.map(spin, [300_000] * 8, pure=False))
        assert len(run.recording.tasks) == 8
        until(lambda: there(client) == before)


@pytest.mark.parametrize("end", ["left", "killed"])
@pytest.mark.parametrize("lines", LINES)
def test_after_a_kernel_scheduler_and_workers_are_as_before(lines: str, end: str) -> None:
    with (
        small_cluster(1, 2, processes=True) as (cluster, client),
    ):
        before = there(client)
        with subprocess.Popen(
            [sys.executable, "-c", KERNEL, cluster.scheduler_address, lines],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as kernel:
            assert kernel.stdout is not None
            assert kernel.stdin is not None
            assert kernel.stdout.readline() == "there\n"
            until(lambda: all(now != earlier for now, earlier in zip(there(client), before, strict=True)))
            if end == "killed":
                kernel.kill()
            else:
                kernel.stdin.close()
        until(lambda: there(client) == before)


def plugin_of(dask_worker: Any) -> Any:
    (plugin,) = (plugin for name, plugin in dask_worker.plugins.items() if "taskscope" in name)
    return plugin


def wait_in_vain(dask_worker: Any) -> None:
    plugin_of(dask_worker).remove()


async def begin_to_close(dask_worker: Any) -> None:
    """As `Worker.close` does long before it closes its stream."""
    (name,) = (name for name in dask_worker.plugins if "taskscope" in name)
    await dask_worker.plugin_remove(name)


@pytest.mark.parametrize("end", [wait_in_vain, begin_to_close])
def test_a_message_to_a_plugin_that_was_removed_ends_no_worker(end: Any) -> None:
    with (
        small_cluster(1, 2, processes=True) as (_, client),
    ):
        before, (worker,) = there(client), client.scheduler_info()["workers"]
        with taskscope.profile(display=False):
            assert client.submit(spin, 3).result() == 3
            client.run(end)
            # Workers hear of it that there is work.
            assert client.gather(client.map(spin, [1_000] * 8, pure=False)) == [499_500] * 8
        assert list(client.scheduler_info()["workers"]) == [worker]
        until(lambda: there(client) == before)


def test_a_plugin_that_was_stopped_sends_nothing_more() -> None:
    def stop_before_the_news(dask_worker: Any) -> list[str]:
        from types import SimpleNamespace

        sent: list[dict[str, Any]] = []
        plugin, stream = plugin_of(dask_worker), dask_worker.batched_stream
        dask_worker.batched_stream = SimpleNamespace(send=sent.append)
        plugin.take("stop")
        # The end of a task has scheduled this before.
        plugin.send("news")
        dask_worker.batched_stream = stream
        stream.send(sent[0])
        return [message["what"] for message in sent]

    with (
        small_cluster(1, 2, processes=True) as (_, client),
        taskscope.profile(display=False),
    ):
        assert client.submit(spin, 3).result() == 3
        assert [*client.run(stop_before_the_news).values()] == [["end"]]
        # The scheduler does not know yet that it ends, and tells it that there is work.
        assert client.submit(spin, 4).result() == 6


def test_a_worker_that_gets_the_plugin_after_the_block_is_told_to_stop_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("taskscope.sources.cluster.connection._INSTALL_S", 0.2)

    def hold(dask_worker: Any) -> None:
        import asyncio

        add = dask_worker.handlers["plugin-add"]
        dask_worker.go_on, dask_worker.n_added = asyncio.Event(), 0

        async def held(**message: Any) -> Any:
            await dask_worker.go_on.wait()
            answer = await add(**message)
            # It does not leave by itself.
            plugin_of(dask_worker).timer.cancel()
            dask_worker.n_added += 1
            return answer

        dask_worker.handlers["plugin-add"] = held

    def go_on(dask_worker: Any) -> None:
        dask_worker.go_on.set()

    def n_added(dask_worker: Any) -> int:
        n: int = dask_worker.n_added
        return n

    with (
        small_cluster(1, 2, processes=True) as (_, client),
    ):
        client.run(hold)
        before = there(client)
        with taskscope.profile(display=False):
            assert client.submit(spin, 3).result() == 3
        client.run(go_on)
        until(lambda: [*client.run(n_added).values()] == [1])
        until(lambda: there(client) == before)
