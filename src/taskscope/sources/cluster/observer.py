"""Send the plugins to a scheduler and its workers, and read what they record.

The plugins (`taskscope.sources.cluster.plugin`) travel as source text, so nothing of taskscope is needed
there, and any Python that distributed supports can run them. The message ``feed`` installs them; the
scheduler removes them when that connection ends, also if this process is killed. Where a scheduler refuses
the message, nothing that it computes is recorded.
"""

from __future__ import annotations

import asyncio
import functools
import importlib.util
import marshal
import pickle
import pkgutil
import uuid
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from taskscope.record import Recorder
from taskscope.sources.cluster.link import Link

Event: TypeAlias = Sequence[Any]
_EVERY_S = 1.0
"""How often the scheduler writes to the connection, and so notices within that time that it is broken."""
_MOST_EVENTS = 100_000
_MOST_AT_REST = 20_000
_MOST_AT_ONCE = 20_000
_MAX_NEWS_BYTES = 32_000_000
_LOAD = """
import importlib.util, marshal, zlib
same = magic == importlib.util.MAGIC_NUMBER
names = {"__name__": "taskscope_plugin"}
"""
"""A Python of the same version runs the code, another one compiles the source."""
_RUN = "exec(marshal.loads(zlib.decompress(code)) if same else zlib.decompress(source), names)"
_OBSERVE = f"""{_LOAD}
{_RUN}
made = lambda scheduler: names["observe"](scheduler, *arguments)
"""
_WORKER_PLUGIN = f"""{_LOAD}
try:
    {_RUN}
    made = names["WorkerObserver"](name, zlib.decompress(meter).decode())
except Exception as error:
    from distributed.diagnostics.plugin import WorkerPlugin

    class Refusing(WorkerPlugin):
        why = (type(error).__name__ + ": " + str(error))[:500].encode("ascii", "replace")

        def setup(self, worker):
            self.worker = worker
            worker.stream_handlers[name] = self.take

        def teardown(self, worker):
            worker.stream_handlers.pop(name, None)

        def take(self, what, **_):
            if what == "stop":
                self.worker.plugins.pop(name, None)
                self.teardown(self.worker)
            answers = dict(go="refused", flush="flush", stop="end")
            if what in answers:
                news = self.why if what == "go" else b""
                self.worker.batched_stream.send(dict(op=name, what=answers[what], news=news))

    made = Refusing()
"""
"""Makes a worker's plugin; where that fails a plugin that sends why, as a worker must start all the same."""


class News(NamedTuple):
    """Events that were read, the number of the first, and how many there were in all."""

    first: int
    n: int
    events: Sequence[Event]


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
def _plugins() -> Mapping[str, object]:
    """Return the module of plugins as source and as code, compressed."""
    source = _source("taskscope.sources.cluster.plugin")
    code = marshal.dumps(compile(source, "taskscope/sources/cluster/plugin.py", "exec"))
    return {
        "source": zlib.compress(source),
        "code": zlib.compress(code),
        "magic": importlib.util.MAGIC_NUMBER,
    }


def worker_plugin(name: str) -> bytes:
    """Return the plugin of workers, pickled; unpickling it never raises."""
    meter = zlib.compress(_source("taskscope.sources.line_meter"))
    return pickle.dumps(_Made(_WORKER_PLUGIN, name=name, meter=meter, **_plugins()))


class Observer:
    """The plugins of one scheduler, as seen from here; for coroutines of one event loop."""

    def __init__(self, link: Link, recorder: Recorder) -> None:
        self._link = link
        self._recorder = recorder
        self._name = f"taskscope-{uuid.uuid4().hex}"
        self.clock_op = f"{self._name}-clock"
        """The message that the scheduler answers with its time."""
        self._comm: Any = None
        self._listening: asyncio.Task[None] | None = None
        self._n_failed = 0

    async def open(self, clients: Sequence[str] = (), options: bytes = b"") -> None:
        """Install the plugins; raises OSError where the scheduler is out of reach, else why it refuses."""
        comm = await self._link.open()
        try:
            await comm.write(self._request(clients, options))
            _check(await comm.read())
        except BaseException:
            comm.abort()
            raise
        self._comm = comm
        self._listening = asyncio.get_running_loop().create_task(self._listen(comm))

    async def read(
        self, cursor: int, options: bytes, clients: Sequence[str], *, may_rest: bool = False
    ) -> News:
        """Return events from number `cursor` on; the observer forgets those before.

        Workers record what the packed options contain; where the observer may rest, nothing but tasks until
        the next graph of these clients.
        """
        details = await self._ask(
            self._name,
            cursor=cursor,
            limit=_MOST_AT_ONCE,
            options=options,
            clients=list(clients),
            most=_MOST_AT_REST if may_rest else _MOST_EVENTS,
            may_rest=may_rest,
        )
        if details["failed"] > self._n_failed:
            self._n_failed = details["failed"]
            self._recorder.warn(f"{self._n_failed:,} tasks are missing: the observer could not read them")
        return News(int(details["first"]), int(details["n"]), details["events"])

    async def flush(self, options: bytes, within_s: float) -> list[str]:
        """Have all workers send what they have recorded; return the workers that do not in time."""
        late = await self._ask(f"{self._name}-flush", options=options, within_s=within_s)
        return list(map(str, late))

    def close(self) -> None:
        """Close the connection; the scheduler then removes the plugins."""
        if self._listening is not None:
            self._listening.cancel()
        if self._comm is not None:
            self._comm.abort()
            self._comm = None

    async def _ask(self, op: str, **arguments: Any) -> Any:
        if self._listening is None or self._listening.done():
            raise ConnectionResetError("it is gone")
        answer = await self._link.ask(op, **arguments)
        if answer is None:
            # The scheduler has removed it, and does not answer unknown messages.
            raise ConnectionResetError("it is gone")
        return answer

    async def _listen(self, comm: Any) -> None:
        try:
            while True:
                await comm.read()
        except OSError:
            self._link.lose()

    def _request(self, clients: Sequence[str], options: bytes) -> dict[str, Any]:
        arguments = (self._name, _MOST_EVENTS, worker_plugin(self._name), list(clients), options)
        return {
            "op": "feed",
            "setup": pickle.dumps(_Made(_OBSERVE, arguments=arguments, **_plugins())),
            "function": pickle.dumps(_Made("made = lambda _, observer: observer.here()")),
            "teardown": pickle.dumps(_Made("made = lambda _, observer: observer.end()")),
            "interval": _EVERY_S,
            "reply": True,
        }


def unpacked(news: bytes) -> Any:
    """Return what a worker's plugin sent, bounded; nothing of it is unpickled."""
    import msgpack

    unpacking = zlib.decompressobj()
    plain = unpacking.decompress(news, _MAX_NEWS_BYTES)
    if unpacking.unconsumed_tail:
        raise ValueError(f"its message has more than {_MAX_NEWS_BYTES:,} bytes")
    return msgpack.unpackb(plain, use_list=False, strict_map_key=False, unicode_errors="surrogatepass")


def packed(options: Mapping[str, Any]) -> bytes:
    """Return options as workers read them."""
    import msgpack

    return zlib.compress(msgpack.packb(options, unicode_errors="surrogatepass"), 1) if options else b""


def _check(answer: Any) -> None:
    if answer is not True:
        why = answer.get("exception_text") if isinstance(answer, Mapping) else None
        raise RuntimeError(str(why or answer))
