"""Connect to a scheduler, send the plugins there, and read what they record.

The user's threads and event loops never wait for an answer, and answers are not unpickled: an exception's
class may not exist here. The plugins (`taskscope.sources.cluster.plugin`) travel as source text, so nothing
of taskscope is needed there, and any Python that distributed supports can run them. The message ``feed``
installs them; the scheduler removes them when that connection ends, also if this process is killed. Where a
scheduler refuses the message, nothing that it computes is recorded.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import importlib.util
import marshal
import math
import pickle
import pkgutil
import threading
import uuid
import zlib
from collections import deque
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, TypeVar
from weakref import WeakSet

from taskscope.record import Recorder
from taskscope.sources.line_meter import HAS_LOCAL_EVENTS, Sought

_T = TypeVar("_T")
READY_S = 2.0
"""How long the first submission to a scheduler waits until that keeps records."""
_INSTALL_S = 0.5
"""How long the first tasks wait until workers have the plugin."""
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


class ThreadSafeEvent:
    """An `asyncio.Event` that other threads can set from `open` on, until the loop is closed."""

    def __init__(self) -> None:
        self._inner = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.set_here, self.clear = self._inner.set, self._inner.clear

    def open(self) -> None:
        self._loop = asyncio.get_running_loop()

    def set(self) -> None:
        """Wake the waiting coroutine, or the next; called on any thread."""
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._inner.set)

    async def wait(self, longest_s: float | None) -> None:
        """Wait until it is set, so long at most; None: however long it takes."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(longest_s):
                await self._inner.wait()


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

    def leave_all(self) -> None:
        """Let all clients leave: none joins any more."""
        with self._lock:
            self._leaving.extend(self._clients)
            self._let_leave()
            self.have_left = True

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


Event: TypeAlias = Sequence[Any]
_EVERY_S = 1.0
"""How often the scheduler writes to the connection, and so notices within that time that it is broken."""
_MOST_EVENTS = 50_000
_MOST_AT_ONCE = 20_000
_LOAD = """
import importlib.util, marshal, types, zlib

def loaded(module):
    made = types.ModuleType(f"taskscope_{module['name']}")
    same = module["magic"] == importlib.util.MAGIC_NUMBER
    code = zlib.decompress(module["code" if same else "source"])
    exec(marshal.loads(code) if same else code, vars(made))
    return made
"""
"""A Python of the same version runs the code, another one compiles the source."""
_OBSERVE = f"""{_LOAD}
observe = loaded(plugin).observe
made = lambda scheduler: observe(scheduler, *arguments)
"""
_WORKER_PLUGIN = f"""{_LOAD}
try:
    made = loaded(plugin).WorkerObserver(name, loaded(stacks), zlib.decompress(meter).decode())
except Exception as error:
    from distributed.diagnostics.plugin import WorkerPlugin

    class Refusing(WorkerPlugin):
        why = (type(error).__name__ + ": " + str(error))[:500].encode("ascii", "replace")

        def setup(self, worker):
            self.worker = worker
            worker.stream_handlers[name] = self.take

        def take(self, what, **_):
            if what == "stop":
                self.worker.plugins.pop(name, None)
                self.worker.stream_handlers.pop(name, None)
            answers = dict(go="refused", flush="flush", stop="end")
            if what in answers:
                news = self.why if what == "go" else b""
                self.worker.batched_stream.send(dict(op=name, what=answers[what], news=news))

    made = Refusing()
"""
"""Makes a worker's plugin; where that fails a plugin that sends why, as a worker must start all the same."""


class News(NamedTuple):
    """Events that were read, the number of the first, and how many there were in all, and were dropped."""

    first: int
    n: int
    events: Sequence[Event]
    n_lost: int = 0
    times: tuple[float, float, float] = (math.nan, math.nan, math.nan)
    """When the request was sent, the scheduler's time, and when the answer came."""


class _Made:
    """Unpickled it is what a text assigns to ``made``."""

    def __init__(self, text: str, **names: object) -> None:
        self._names = {"text": text, **names}

    def __reduce__(self) -> tuple[Any, ...]:
        return eval, ("(exec(text), made)[1]", self._names)


def _source(module: str) -> bytes:
    package, _, name = module.rpartition(".")
    data = pkgutil.get_data(package, f"{name}.py")
    assert data is not None
    return data


@functools.cache
def _sent(module: str) -> Mapping[str, object]:
    """Return a module as source and as code, compressed."""
    source = _source(module)
    code = marshal.dumps(compile(source, f"{module.replace('.', '/')}.py", "exec"))
    compressed = {"source": zlib.compress(source), "code": zlib.compress(code)}
    return {"name": module.rpartition(".")[2], "magic": importlib.util.MAGIC_NUMBER, **compressed}


_PLUGIN = "taskscope.sources.cluster.plugin"


def worker_plugin(name: str) -> bytes:
    """Return the plugin of workers, pickled; unpickling it never raises."""
    stacks, meter = _sent("taskscope.sources.stacks"), zlib.compress(_source("taskscope.sources.line_meter"))
    return pickle.dumps(_Made(_WORKER_PLUGIN, name=name, plugin=_sent(_PLUGIN), stacks=stacks, meter=meter))


class Plugins:
    """The plugins of one scheduler, installed and read from here; for coroutines of one event loop."""

    def __init__(
        self, address: str, arguments: Mapping[str, Any], recorder: Recorder, on_lost: Callable[[], None]
    ) -> None:
        self._address = address
        self._arguments = arguments
        self._recorder = recorder
        self._on_lost = on_lost
        self._name = f"taskscope-{uuid.uuid4().hex}"
        self._comm: Any = None
        self._listening: asyncio.Task[None] | None = None
        self._rpc: Any = None
        self._requests: set[asyncio.Task[Any]] = set()
        self._gone = asyncio.Event()
        self._n_failed = 0

    async def open(self, clients: Sequence[str] = (), options: bytes = b"") -> None:
        """Install the plugins; raises OSError where the scheduler is out of reach, else why it refuses."""
        from distributed.comm import connect

        comm = await connect(self._address, timeout=_CONNECT_S, deserialize=False, **self._arguments)
        try:
            await comm.write(self._feed(clients, options))
            _check(await comm.read())
        except BaseException:
            comm.abort()
            raise
        self._comm = comm
        self._listening = asyncio.get_running_loop().create_task(self._listen(comm))

    async def read(
        self,
        cursor: int,
        options: bytes,
        clients: Sequence[str],
        *,
        may_rest: bool = False,
    ) -> News:
        """Return events from number `cursor` on; the observer drops those before.

        Workers record what the packed options contain; where the observer may rest, nothing but tasks until
        the next graph of these clients.
        """
        clock = self._recorder.clock
        # In this order, so that a lost time slice in between makes it longer, never earlier.
        began, at = clock.perf_counter(), clock.time()
        details = await self._request(
            self._name,
            cursor=cursor,
            limit=_MOST_AT_ONCE,
            options=options,
            clients=list(clients),
            may_rest=may_rest,
        )
        times = at, float(details["time"]), at + clock.perf_counter() - began
        if details["failed"] > self._n_failed:
            self._n_failed = details["failed"]
            self._recorder.warn(f"{self._n_failed:,} tasks are missing: the observer could not read them")
        first, n, n_lost = (int(details[name]) for name in ("first", "n", "lost"))
        return News(first, n, details["events"], n_lost, times)

    async def flush(self, options: bytes, within_s: float) -> list[str]:
        """Have all workers send what they have recorded; return the workers that do not in time."""
        late = await self._request(f"{self._name}-flush", options=options, within_s=within_s)
        return list(map(str, late))

    def close(self) -> None:
        """Close the connection; the scheduler then removes the plugins."""
        if self._listening is not None:
            self._listening.cancel()
        if self._comm is not None:
            self._comm.abort()
            self._comm = None

    async def end_requests(self) -> None:
        """Fail the requests of other coroutines, which make no new connection."""
        self._gone.set()
        if self._rpc is not None:
            await self._rpc.close_rpc()

    async def _request(self, op: str, **arguments: Any) -> Any:
        if self._gone.is_set() or self._listening is None or self._listening.done():
            raise ConnectionResetError("it is gone")
        if self._rpc is None:
            from distributed.core import rpc

            self._rpc = rpc(
                self._address, deserialize=False, timeout=_CONNECT_S, connection_args=self._arguments
            )
        request = asyncio.create_task(getattr(self._rpc, op)(**arguments))
        self._requests.add(request)
        request.add_done_callback(self._requests.discard)
        try:
            answer = await request
        except asyncio.CancelledError:
            own = asyncio.current_task()
            if self._gone.is_set() and not (own and own.cancelling()):
                raise ConnectionResetError("it is gone") from None
            raise
        if answer is None:
            # The scheduler has removed it, and does not answer unknown messages.
            raise ConnectionResetError("it is gone")
        return answer

    async def _listen(self, comm: Any) -> None:
        try:
            while True:
                await comm.read()
        except OSError:
            # A new connection to where nothing listens would be tried as long as one to a busy scheduler.
            self._gone.set()
            for request in self._requests:
                request.cancel()
            self._on_lost()

    def _feed(self, clients: Sequence[str], options: bytes) -> dict[str, Any]:
        arguments = (self._name, _MOST_EVENTS, worker_plugin(self._name), list(clients), options, _INSTALL_S)
        return {
            "op": "feed",
            "setup": pickle.dumps(_Made(_OBSERVE, arguments=arguments, plugin=_sent(_PLUGIN))),
            "function": pickle.dumps(_Made("made = lambda _, observer: observer.here()")),
            "teardown": pickle.dumps(_Made("made = lambda _, observer: observer.end()")),
            "interval": _EVERY_S,
            "reply": True,
        }


@dataclass(slots=True)
class Wanted:
    """Options of the session, which schedulers and workers record by."""

    interval_s: float | None = None
    """Seconds between samples of workers' stacks; None: no samples."""
    has_lines: bool = False
    sought: Sought | None = None
    """Functions whose lines are to be counted."""

    def packed(self) -> bytes:
        """Return the options as workers read them."""
        from taskscope.sources.cluster.plugin import pack

        sought = self.sought if HAS_LOCAL_EVENTS else None
        return pack({"interval_s": self.interval_s, "has_lines": self.has_lines, "sought": sought})


def _check(answer: Any) -> None:
    if answer is not True:
        why = answer.get("exception_text") if isinstance(answer, Mapping) else None
        raise RuntimeError(str(why or answer))
