"""Talk to a scheduler over a connection of our own, on a thread of our own.

The user's threads and event loops never wait for an answer, and what an answer holds is not unpickled: it is
the work of others, and an exception's class may not exist here.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Mapping
from concurrent.futures import Future
from typing import Any, TypeVar

__all__ = ["Link", "LoopThread"]

_T = TypeVar("_T")
_JOIN_S = 2.0
_CANCELLATIONS = 20
_CANCEL_S = 0.1
_CONNECT_S = 5.0


class LoopThread:
    """A daemon thread with an event loop, there while somebody needs it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def submit(self, work: Coroutine[Any, Any, _T]) -> Future[_T]:
        """Run a coroutine there, starting the thread if need be."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._run, args=(self._loop,), name="taskscope-cluster", daemon=True
                )
                self._thread.start()
            return asyncio.run_coroutine_threadsafe(work, self._loop)

    @property
    def is_current(self) -> bool:
        """Whether the caller runs on this thread."""
        return threading.current_thread() is self._thread

    def stop(self) -> None:
        """Cancel what runs there, end the thread and wait for it."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            if thread is not threading.current_thread():
                thread.join(_JOIN_S)

    def forget(self) -> None:
        """Start over in a child process, where the thread does not exist."""
        self._lock = threading.Lock()
        self._loop = self._thread = None

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
            _end_tasks(loop)
            _close_sockets()
        finally:
            asyncio.set_event_loop(None)
            loop.close()


def _end_tasks(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel what is left, and again where that was swallowed, as 3.11's `asyncio.wait_for` may do."""
    for _ in range(_CANCELLATIONS):
        left = asyncio.all_tasks(loop)
        if not left:
            return
        for task in left:
            task.cancel()
        done, _pending = loop.run_until_complete(asyncio.wait(left, timeout=_CANCEL_S))
        for task in done:
            if not task.cancelled():
                task.exception()


def _close_sockets() -> None:
    """Close what is still connected on this thread's loop.

    A connection whose making is cancelled in the very moment in which it succeeds is dropped open by
    distributed; the garbage collector would close its socket, with a warning, within whatever code runs.
    """
    from tornado.ioloop import IOLoop

    sockets = IOLoop.current(instance=False)
    if sockets is not None:
        sockets.close(all_fds=True)


class Link:
    """A connection to one scheduler; for coroutines of one event loop.

    Parameters
    ----------
    address
        Where the scheduler listens.
    arguments
        What a connection needs, as `taskscope.sources.cluster.adapter.connection_of` gives it.
    """

    def __init__(self, address: str, arguments: Mapping[str, Any]) -> None:
        self.address = address
        self._arguments = arguments
        self._rpc: Any = None

    async def ask(self, op: str, **arguments: Any) -> Any:
        """Send a message to the scheduler and return its answer.

        Raises
        ------
        OSError
            If the scheduler cannot be reached.
        Exception
            What the scheduler raised, for instance because the message is blocked there.
        """
        if self._rpc is None:
            from distributed.core import rpc

            self._rpc = rpc(
                self.address, deserialize=False, timeout=_CONNECT_S, connection_args=self._arguments
            )
        return await getattr(self._rpc, op)(**arguments)

    async def open(self) -> Any:
        """Return another connection, as distributed has it; its messages are not unpickled either.

        Raises
        ------
        OSError
            If the scheduler cannot be reached.
        """
        from distributed.comm import connect

        return await connect(self.address, timeout=_CONNECT_S, deserialize=False, **self._arguments)

    async def close(self) -> None:
        """Give the connection up."""
        if self._rpc is not None:
            await self._rpc.close_rpc()
            self._rpc = None
