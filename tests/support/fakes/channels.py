"""Comms without a kernel: the test plays the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from taskscope.jupyter.adapter.channels import Channel, Opened


class FakeChannel:
    is_open = True

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.buffers: list[list[bytes]] = []
        self.is_closed = False
        self.error: Exception | None = None
        self._message: Callable[[object], None] = lambda _: None
        self._closed: Callable[[], None] = lambda: None

    def send(self, data: Mapping[str, Any], buffers: Sequence[bytes] = ()) -> None:
        if self.error is not None:
            raise self.error
        self.sent.append(dict(data))
        self.buffers.append(list(buffers))

    def listen(self, message: Callable[[object], None], closed: Callable[[], None]) -> None:
        self._message, self._closed = message, closed

    def close(self) -> None:
        self.is_closed = True

    def ask(self, data: object) -> dict[str, Any]:
        self._message(data)
        return self.sent[-1]

    def leave(self) -> None:
        """Do what a page does that is closed."""
        self._closed()


class FakeChannels:
    def __init__(self) -> None:
        self.targets: dict[str, Opened] = {}
        self.announced: list[tuple[str, dict[str, Any]]] = []

    def register(self, target: str, opened: Callable[[Channel, object], None]) -> None:
        self.targets[target] = opened

    def unregister(self, target: str) -> None:
        del self.targets[target]

    def announce(self, name: str, data: Mapping[str, Any]) -> None:
        self.announced.append((name, dict(data)))

    def open(self, target: str, data: object) -> FakeChannel:
        channel = FakeChannel()
        self.targets[target](channel, data)
        return channel

    def open_page(self, page: str) -> tuple[FakeChannel, FakeChannel]:
        opening = {"protocol": 1, "page": page}
        return self.open("taskscope.control", opening), self.open("taskscope.data", opening)
