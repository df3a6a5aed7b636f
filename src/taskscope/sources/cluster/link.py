"""Talk to a scheduler over a connection of our own, on a thread of our own.

The user's threads and event loops never wait for an answer, and what an answer holds is not unpickled: it is
the work of others, and an exception's class may not exist here. Here is also how often may be asked, what
wakes who waits on the event loop, and for which clients a connection is there.
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
    """A daemon thread with an event loop, there while somebody needs it."""

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
        """Whether it is there, and was not told to end."""
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
    """A connection to one scheduler; for coroutines of one event loop."""

    def __init__(self, address: str, arguments: Mapping[str, Any]) -> None:
        self.address = address
        self._arguments = arguments
        self._rpc: Any = None
        self._asking: set[asyncio.Task[Any]] = set()
        self._gone = asyncio.Event()

    async def ask(self, op: str, **arguments: Any) -> Any:
        """Send a message to the scheduler and return its answer."""
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
        """Have what is asked raise, now and from now on: another connection to that scheduler has ended.

        A new one to an address at which nobody listens would be tried for as long as to one that is busy.
        """
        self._gone.set()
        for asking in self._asking:
            asking.cancel()

    async def open(self) -> Any:
        """Return another connection, as distributed has it; its messages are not unpickled either."""
        from distributed.comm import connect

        return await connect(self.address, timeout=_CONNECT_S, deserialize=False, **self._arguments)

    async def close(self) -> None:
        """Give the connection up."""
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
    """Return what entries of a worker say, and why the last of those that cannot be read could not."""
    good: list[_T] = []
    wrong: Exception | None = None
    for entry in entries:
        try:
            good.append(read(entry))
        except Exception as error:  # noqa: BLE001 - anything may be wrong with what a worker, or another release, sends
            wrong = error
    return good, wrong


class ThreadSafeEvent:
    """An `asyncio.Event` that other threads can set from `open` on, until the loop is closed."""

    def __init__(self) -> None:
        self._inner = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def open(self) -> None:
        """Be there for the loop that runs."""
        self._loop = asyncio.get_running_loop()

    def set(self) -> None:
        """Wake who waits, or will; called on any thread."""
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._inner.set)

    def set_here(self) -> None:
        """Set it on the loop itself."""
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
    """Keeps the time in which answers are awaited to a twentieth of all time, and to one look in 0.2 to 2 s.

    A scheduler that answers slowly has much to do, so it is asked less often. What it has to say of all
    workers takes it longer the more there are: each such message has a limit of its own, see `limited`.
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
        """Return how long to wait before the next look."""
        return min(max(self._took_s / _SHARE, _SHORTEST_S), _LONGEST_S)

    def is_identity_due(self) -> bool:
        """Return whether to ask for the workers again; True counts as asked."""
        return self.is_due("identity", _IDENTITY_S)

    def is_due(self, what: str, every_s: float) -> bool:
        """Return whether `every_s` seconds have passed since this was last due; True counts as asked."""
        if self._now() < self._due.get(what, float("-inf")):
            return False
        self._due[what] = self._now() + every_s
        return True

    @contextmanager
    def limited(self, what: str) -> Iterator[Callable[[], None]]:
        """Have this be due so late that what is awaited meanwhile is at most half a percent of all time.

        The shortest of the last few times counts: others say more of this machine than of the scheduler. One
        that says nothing of it is not counted: what is yielded is called then.
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
    """Clients come and leave on any thread; once the last has left, nobody can come any more."""

    def __init__(self, lock: threading.Lock) -> None:
        self._lock = lock
        self._clients: WeakSet[Any] = WeakSet()
        self._ids: set[str] = set()
        self._leaving: deque[object] = deque()
        self.have_left = False
        """Whether the last had left when `look` was last called."""

    def join(self, client: object) -> bool:
        """Stay as long as this client does; False if it is too late for that."""
        if not self.have_left:
            self._clients.add(client)
            self._ids.add(str(getattr(client, "id", "")))
        return not self.have_left

    @property
    def ids(self) -> list[str]:
        """The ids of all clients that have joined."""
        with self._lock:
            return list(self._ids)

    def have(self, client_id: str) -> bool:
        """Return whether a client of this id has joined, and may have left since."""
        return client_id in self._ids

    def leave(self, client: object) -> None:
        """Stay no longer for this client; takes no lock, for the garbage collector may be who closes it."""
        self._leaving.append(client)

    @property
    def live_here(self) -> bool:
        """Whether one runs in the caller's event loop, where its scheduler may, too: no place to wait."""
        with self._lock:
            clients = list(self._clients)
        return any(client.asynchronous for client in clients)

    @property
    def are_leaving(self) -> bool:
        """Whether there is something to `look` at."""
        return bool(self._leaving)

    def look(self) -> bool:
        """Return whether the last has left."""
        with self._lock:
            self._let_leave()
            return self.have_left

    def _let_leave(self) -> None:
        while self._leaving:
            self._clients.discard(self._leaving.popleft())
            self.have_left = not self._clients
