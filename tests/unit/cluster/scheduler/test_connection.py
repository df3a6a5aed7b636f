from __future__ import annotations

import asyncio
import socket
import threading

from tornado.tcpclient import TCPClient

from taskscope.record import Recorder
from taskscope.sources.cluster.connection import LoopThread, Plugins
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


def test_a_request_to_a_scheduler_that_is_known_to_be_gone_raises_at_once() -> None:
    class Mute:
        """A scheduler's connection over which no answer comes."""

        async def identity(self) -> None:
            await asyncio.Event().wait()

    async def request() -> list[type[BaseException | None]]:
        is_broken = asyncio.Event()

        class Breaking:
            """A scheduler's connection that breaks."""

            async def read(self) -> None:
                await is_broken.wait()
                raise OSError("broken")

        plugins = Plugins("tcp://10.0.0.1:8786", {}, Recorder(), lambda: None)
        plugins._rpc = Mute()
        plugins._listening = asyncio.create_task(plugins._listen(Breaking()))
        pending, given_up = (asyncio.create_task(plugins._request("identity")) for _ in range(2))
        await asyncio.sleep(0)
        given_up.cancel()
        await asyncio.wait([given_up])
        is_broken.set()
        await asyncio.wait([pending])
        later = asyncio.create_task(plugins._request("identity"))
        await asyncio.wait([later])
        assert given_up.cancelled()
        return [type(task.exception()) for task in (pending, later)]

    assert asyncio.run(request()) == [ConnectionResetError] * 2


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
