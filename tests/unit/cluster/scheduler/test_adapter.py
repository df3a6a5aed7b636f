"""Fails when distributed changes what the adapter knows of it."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from typing import Any

from dask.delayed import delayed
from distributed import Client, LocalCluster

from taskscope.model.guard import Guard
from taskscope.sources.cluster import adapter
from taskscope.sources.cluster.adapter import Call, Submission
from tests.support.waiting import until


class Watching:
    def __init__(self) -> None:
        self.heard: list[object] = []

    def submitting(self, client: object) -> None:
        self.heard.append("submitting")

    def submitted(self, submission: Submission) -> None:
        self.heard.append(submission)

    def handed_over(self) -> None:
        self.heard.append("handed over")

    def returned(self, call: Call, error: BaseException | None) -> None:
        self.heard.append((call, error))

    def released(self, key: Hashable, state: Any) -> None:
        # A client's loop lets go of what has finished when it gets to it.
        if state.status != "finished":
            self.heard.append(("released", key, state.status))

    def closing(self, client: object) -> None:
        self.heard.append("closing")

    async def opened(self, client: object) -> None:
        self.heard.append("opened")

    async def closing_in_loop(self, client: object) -> None:
        self.heard.append("closing in loop")

    def closed(self, client: object) -> None:
        self.heard.append("closed")

    def guard(self) -> Guard:
        return Guard("watching", lambda _where, error: self.heard.append(error))


def test_an_observer_that_fails_changes_nothing(client: Client) -> None:
    class Failing(Watching):
        def submitting(self, client: object) -> None:
            raise RuntimeError("ours")

        def submitted(self, submission: Submission) -> None:
            raise RuntimeError("ours")

        def returned(self, call: Call, error: BaseException | None) -> None:
            raise RuntimeError("ours")

    failing: Any = Failing()
    adapter.watch(failing)
    try:
        assert delayed(sum)([1, 2]).compute() == 3
    finally:
        adapter.release(failing)
    assert [type(heard) for heard in failing.heard if heard != "handed over"] == [RuntimeError] * 3


def test_a_client_tells_that_it_is_closed_but_not_that_it_is_freed(cluster: LocalCluster) -> None:
    watching: Any = Watching()
    adapter.watch(watching)
    try:
        client = Client(cluster, set_as_default=False)
        client.close()
        assert watching.heard == ["opened", "closing", "closed"]
        # As the garbage collector does, on any thread and in the midst of anything.
        client.__del__()
        assert watching.heard == ["opened", "closing", "closed"]
    finally:
        adapter.release(watching)


def test_an_asynchronous_client_tells_in_its_loop_and_an_observer_that_fails_then_changes_nothing(
    cluster: LocalCluster,
) -> None:
    class Failing(Watching):
        async def opened(self, client: object) -> None:
            raise RuntimeError("ours at first")

        async def closing_in_loop(self, client: object) -> None:
            raise RuntimeError("ours")

    async def come_and_go() -> None:
        async with Client(cluster.scheduler_address, asynchronous=True, set_as_default=False):
            pass

    watching: Any = Watching()
    failing: Any = Failing()
    adapter.watch(watching)
    adapter.watch(failing)
    try:
        asyncio.run(come_and_go())
    finally:
        adapter.release(watching)
        adapter.release(failing)
    assert watching.heard == ["opened", "closing in loop", "closed"]
    assert [str(heard) for heard in failing.heard] == ["ours at first", "ours", "closed"]


def test_what_a_client_knows_of_its_futures_keeps_no_result(client: Client) -> None:
    future = client.submit(abs, -5, key="abs-5")
    future.result()
    states = adapter.future_states(client, ["abs-5", "no such key"])
    assert {key: getattr(state, "status", None) for key, state in states.items()} == {
        "abs-5": "finished",
        "no such key": None,
    }
    assert adapter.unfinished_keys(client) == []
    del future
    until(lambda: not client.futures)  # a future is released by its client's loop
