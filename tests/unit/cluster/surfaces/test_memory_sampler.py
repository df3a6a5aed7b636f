"""What distributed's own tests of its MemorySampler ask for, asked of ours; its packages bring no tests."""

from __future__ import annotations

import asyncio

from distributed import Client, LocalCluster

from taskscope.diagnostics import MemorySampler
from tests.support.waiting import until


def managed(client: Client) -> int:
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    return sum(worker["metrics"]["managed_bytes"] for worker in workers)


def test_the_memory_of_the_cluster_is_sampled(client: Client) -> None:
    ms = MemorySampler()
    until(lambda: managed(client) == 0)  # what tests before have held is let go of soon
    with ms.sample("foo", client=client, measure="managed", interval=0.001):
        future = client.submit(bytes, 1_000_000)
        future.result()
        until(lambda: managed(client) >= 1_000_000)
    assert ms.samples["foo"][0][1] == 0
    assert ms.samples["foo"][-1][1] >= 1_000_000


def test_the_current_client_is_the_default_and_the_first_sample_is_taken_at_once(client: Client) -> None:
    ms = MemorySampler()
    with ms.sample(interval=600.0):
        pass
    ((label, samples),) = ms.samples.items()
    assert (len(label), len(samples)) == (36, 1)
    assert samples[0][1] > 0


def test_an_asynchronous_client_is_sampled_asynchronously(cluster: LocalCluster) -> None:
    ms = MemorySampler()

    async def block() -> None:
        async with (
            Client(cluster.scheduler_address, asynchronous=True) as client,
            ms.sample("one", client=client, interval=0.001),
            ms.sample("two", client=client, measure="managed", interval=0.001),
        ):
            await client.submit(int, 7)

    asyncio.run(block())
    assert sorted(ms.samples) == ["one", "two"]
    assert min(map(len, ms.samples.values())) >= 1


def test_the_scheduler_keeps_nothing_of_a_block_that_is_over(client: Client) -> None:
    with MemorySampler().sample("x", client=client):
        pass

    def kept(dask_scheduler: object) -> int:
        return len(dask_scheduler.extensions["memory_sampler"].samples)  # type: ignore[attr-defined]  # the scheduler

    assert client.run_on_scheduler(kept) == 0
