from __future__ import annotations

import asyncio
import socket
import threading

from tornado.tcpclient import TCPClient

from taskscope.sources.cluster.connection import LoopThread
from tests.support.waiting import PATIENCE_S


def test_the_thread_ends_although_a_task_swallows_its_first_cancellation() -> None:
    started = threading.Event()

    async def stubborn() -> None:
        for _ in range(2):
            started.set()
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                continue

    thread = LoopThread()
    ended = thread.submit(stubborn)
    assert started.wait(PATIENCE_S)
    thread.stop()
    assert ended.done()
    assert "taskscope-cluster" not in {alive.name for alive in threading.enumerate()}


def test_what_is_still_connected_when_the_thread_ends_is_closed() -> None:
    async def connect(port: int) -> None:
        # Kept by nobody, as where a connection is made in the moment in which its making is cancelled.
        await TCPClient().connect("127.0.0.1", port)

    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(PATIENCE_S)
        thread = LoopThread()
        thread.submit(lambda: connect(server.getsockname()[1])).result(PATIENCE_S)
        peer, _ = server.accept()
        with peer:
            thread.stop()
            peer.settimeout(PATIENCE_S)
            assert peer.recv(1) == b""
