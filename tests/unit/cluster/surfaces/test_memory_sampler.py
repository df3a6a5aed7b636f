"""What distributed's own tests of its MemorySampler ask for, asked of ours; its packages bring no tests."""

from __future__ import annotations

from distributed import Client

from taskscope.diagnostics import MemorySampler


def test_the_current_client_is_the_default_and_the_first_sample_is_taken_at_once(client: Client) -> None:
    ms = MemorySampler()
    with ms.sample(interval=600.0):
        pass
    ((label, samples),) = ms.samples.items()
    assert (len(label), len(samples)) == (36, 1)
    assert samples[0][1] > 0


def test_the_scheduler_keeps_nothing_of_a_block_that_is_over(client: Client) -> None:
    with MemorySampler().sample("x", client=client):
        pass

    def kept(dask_scheduler: object) -> int:
        return len(dask_scheduler.extensions["memory_sampler"].samples)  # type: ignore[attr-defined]  # the scheduler

    assert client.run_on_scheduler(kept) == 0
