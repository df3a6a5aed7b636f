"""Connect to a scheduler, over a connection and on a thread of taskscope's own.

The user's threads and event loops never wait for an answer, and answers are not unpickled: an exception's
class may not exist here. This module also limits how often a scheduler is polled, wakes waiters on the event
loop, and keeps for which clients a connection is open.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self, TypeVar
from weakref import WeakSet

from taskscope.model.errortext import describe

_T = TypeVar("_T")
_JOIN_S = 2.0
_CANCELLATIONS = 20
_CANCEL_S = 0.1
_CONNECT_S = 5.0


class LoopThread:
    """A daemon thread with an event loop, started with the first coroutine."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def submit(self, work: Callable[[], Coroutine[Any, Any, _T]]) -> Future[_T]:
        """Run what `work` returns there, starting the thread if need be.

        It is called there: a coroutine that an interrupt kept from being run would be warned of.
        """
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._run, args=(self._loop,), name="taskscope-cluster", daemon=True
                )
                self._thread.start()
            return asyncio.run_coroutine_threadsafe(_called(work), self._loop)

    @property
    def is_there(self) -> bool:
        """Whether the thread runs, and was not stopped."""
        return self._loop is not None

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

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
            _end_tasks(loop)
            _close_sockets()
        finally:
            asyncio.set_event_loop(None)
            loop.close()


async def _called(work: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
    return await work()


def _end_tasks(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel all tasks, repeatedly where that was swallowed, as 3.11's `asyncio.wait_for` may do."""
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
    """Close the sockets that are still open on this thread's loop.

    distributed leaves a connection open that is cancelled in the moment in which it succeeds; the garbage
    collector would close its socket, with a warning, within whatever code runs.
    """
    from tornado.ioloop import IOLoop

    sockets = IOLoop.current(instance=False)
    if sockets is not None:
        sockets.close(all_fds=True)


class Link:
    """A connection to one scheduler; for coroutines of one event loop."""

    def __init__(self, address: str, arguments: Mapping[str, Any]) -> None:
        self.address = address
        self._arguments = arguments
        self._rpc: Any = None
        self._asking: set[asyncio.Task[Any]] = set()
        self._gone = asyncio.Event()

    async def ask(self, op: str, **arguments: Any) -> Any:
        if self._gone.is_set():
            raise ConnectionResetError("it is gone")
        if self._rpc is None:
            from distributed.core import rpc

            self._rpc = rpc(
                self.address, deserialize=False, timeout=_CONNECT_S, connection_args=self._arguments
            )
        asking = asyncio.create_task(getattr(self._rpc, op)(**arguments))
        self._asking.add(asking)
        asking.add_done_callback(self._asking.discard)
        try:
            return await asking
        except asyncio.CancelledError:
            own = asyncio.current_task()
            if self._gone.is_set() and not (own and own.cancelling()):
                raise ConnectionResetError("it is gone") from None
            raise

    def lose(self) -> None:
        """Fail all requests, open and later: another connection to that scheduler has ended.

        A new connection to an address where nothing listens would be tried as long as to a busy scheduler.
        """
        self._gone.set()
        for asking in self._asking:
            asking.cancel()

    async def open(self) -> Any:
        """Return another connection, as distributed has it; its messages are not unpickled either."""
        from distributed.comm import connect

        return await connect(self.address, timeout=_CONNECT_S, deserialize=False, **self._arguments)

    async def close(self) -> None:
        if self._rpc is not None:
            await self._rpc.close_rpc()
            self._rpc = None


async def try_ask(link: Link, op: str, **arguments: Any) -> tuple[Any, str | None]:
    """Return the answer, or None and why the scheduler gives none; raises OSError where it is gone."""
    try:
        return await link.ask(op, **arguments), None
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 - a scheduler that blocks a message may raise anything
        return None, describe(error)


def read_each(entries: Iterable[Any], read: Callable[[Any], _T]) -> tuple[list[_T], Exception | None]:
    """Return the entries of a worker that could be read, and the error of the last that could not."""
    good: list[_T] = []
    wrong: Exception | None = None
    for entry in entries:
        try:
            good.append(read(entry))
        except Exception as error:  # noqa: BLE001 - an entry of another release may be anything
            wrong = error
    return good, wrong


class ThreadSafeEvent:
    """An `asyncio.Event` that other threads can set from `open` on, until the loop is closed."""

    def __init__(self) -> None:
        self._inner = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def open(self) -> None:
        self._loop = asyncio.get_running_loop()

    def set(self) -> None:
        """Wake the waiting coroutine, or the next; called on any thread."""
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._inner.set)

    def set_here(self) -> None:
        self._inner.set()

    def clear(self) -> None:
        """Unset it, on the loop."""
        self._inner.clear()

    async def wait(self, longest_s: float | None) -> bool:
        """Return whether it was set within this time; None: however long it takes."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(longest_s):
                await self._inner.wait()
        return self._inner.is_set()


_SHORTEST_S = 0.2
_LONGEST_S = 2.0
_SHARE = 0.05
_SHARE_OF_EACH = 0.005
_IDENTITY_S = 1.0
_FEW = 4


class RateLimiter:
    """Keeps the time of awaiting answers to a twentieth of all time, and the pause to 0.2 to 2 s.

    A scheduler that answers slowly is busy, so it is polled less often. Messages that list all workers take
    longer with their number: each has a limit of its own, see `limited`.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._began = 0.0
        self._took_s = 0.0
        self._due: dict[str, float] = {}
        self._awaited: dict[str, deque[float]] = {}

    def __enter__(self) -> Self:
        self._began = self._now()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._took_s = self._now() - self._began

    def pause_s(self) -> float:
        """Return the seconds until the next poll."""
        return min(max(self._took_s / _SHARE, _SHORTEST_S), _LONGEST_S)

    def is_identity_due(self) -> bool:
        """Return whether to list the workers again; True counts as done."""
        return self.is_due("identity", _IDENTITY_S)

    def is_due(self, what: str, every_s: float) -> bool:
        """Return whether `every_s` seconds have passed since this was last due; True counts as done."""
        if self._now() < self._due.get(what, float("-inf")):
            return False
        self._due[what] = self._now() + every_s
        return True

    @contextmanager
    def limited(self, what: str) -> Iterator[Callable[[], None]]:
        """Make this due so late that awaiting its answers takes half a percent of all time at most.

        The shortest of the last few times counts: longer ones measure this machine, not the scheduler. The
        yielded function discards the current one.
        """
        began, counts = self._now(), [True]
        yield counts.clear
        if not counts:
            return
        took = self._awaited.setdefault(what, deque(maxlen=_FEW))
        took.append(self._now() - began)
        if len(took) == _FEW:
            self._due[what] = max(self._due.get(what, began), began + min(took) / _SHARE_OF_EACH)


class ClientRefs:
    """The clients of a connection, which join and leave on any thread; none joins after the last left."""

    def __init__(self, lock: threading.Lock) -> None:
        self._lock = lock
        self._clients: WeakSet[Any] = WeakSet()
        self._ids: set[str] = set()
        self._leaving: deque[object] = deque()
        self.have_left = False
        """Whether the last had left at the last call of `look`."""

    def join(self, client: object) -> bool:
        """Stay as long as this client does; False if it is too late for that."""
        if not self.have_left:
            self._clients.add(client)
            self._ids.add(str(getattr(client, "id", "")))
        return not self.have_left

    @property
    def ids(self) -> list[str]:
        with self._lock:
            return list(self._ids)

    def have(self, client_id: str) -> bool:
        """Return whether a client of this id has joined, and may have left since."""
        return client_id in self._ids

    def leave(self, client: object) -> None:
        """Leave; takes no lock, as the garbage collector may call it."""
        self._leaving.append(client)

    @property
    def live_here(self) -> bool:
        """Whether one runs in the caller's event loop, where its scheduler may, too: no place to wait."""
        with self._lock:
            clients = list(self._clients)
        return any(client.asynchronous for client in clients)

    @property
    def are_leaving(self) -> bool:
        """Whether a client left since the last call of `look`."""
        return bool(self._leaving)

    def look(self) -> bool:
        with self._lock:
            self._let_leave()
            return self.have_left

    def _let_leave(self) -> None:
        while self._leaving:
            self._clients.discard(self._leaving.popleft())
            self.have_left = not self._clients
