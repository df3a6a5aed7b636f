"""Fails when distributed changes what the adapter knows of it."""

from __future__ import annotations

from typing import Any

from distributed import Client, LocalCluster

from taskscope.model.guard import Guard
from taskscope.sources.cluster import adapter


class Watching:
    def __init__(self) -> None:
        self.heard: list[str] = []

    async def opened(self, client: object) -> None:
        self.heard.append("opened")

    def closing(self, client: object) -> None:
        self.heard.append("closing")

    def closed(self, client: object) -> None:
        self.heard.append("closed")

    def guard(self) -> Guard:
        return Guard("watching", lambda _where, error: self.heard.append(str(error)))


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
