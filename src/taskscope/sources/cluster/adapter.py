"""The unpromised parts of ``dask.distributed`` that are used, and how its clients are watched.

Methods of ``distributed.Client`` are replaced while an observer watches: ``get``, which `dask.compute` calls,
``_graph_to_futures`` and ``_send_to_scheduler``, through which all work is sent, ``retry``, ``close``,
``shutdown``, ``_close`` and ``_release_key``. They only notify the observer of the call, which is
`taskscope.sources.cluster.source`. ``_start`` of an asynchronous client returns when its scheduler is
watched, after 2 s at most.

``tests/unit/test_private_names.py`` fails when one of these names changes, or another is used. Distributed
is not imported before there is a client: without one there is nothing to watch.
"""

from __future__ import annotations

import asyncio
import functools
import math
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import islice
from types import CodeType, SimpleNamespace
from typing import Any

import dask

from taskscope.model.guard import Guard
from taskscope.model.keys import key_text
from taskscope.sources.local.adapter.scheduler import user_functions


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One call of ``Client.get`` that waits for its result."""

    client: Any


@dataclass(frozen=True, slots=True, eq=False)
class Submission:
    """Work that a client has sent to its scheduler."""

    client: Any
    keys: frozenset[Hashable]
    call: Call | None
    single: bool
    began: float = math.inf
    is_known: bool = False
    is_retry: bool = False
    graph_bytes: float | None = None
    largest_argument: tuple[str, float] | None = None
    before: Mapping[str, float | None] = field(default_factory=dict)
    functions: Mapping[object, str | None] = field(default_factory=dict)
    """The user's functions that its tasks call, as in `GraphSource`."""
    codes: Sequence[CodeType] = ()
    """The code of these functions."""


def may_have_clients() -> bool:
    """Return whether distributed was imported."""
    return "distributed.client" in sys.modules


def default_client() -> Any:
    """Return the client that is Dask's default scheduler, None if there is none."""
    find = getattr(sys.modules.get("distributed"), "default_client", None)
    if find is None or dask.config.get("scheduler", None) not in {"dask.distributed", "distributed"}:
        return None
    try:
        return find()
    except ValueError:
        return None


def loop_of_scheduler(address: str) -> asyncio.AbstractEventLoop | None:
    """Return the event loop in which a scheduler of this process answers, None where it is another's."""
    from distributed import Scheduler

    for scheduler in list(Scheduler._instances):
        if getattr(scheduler, "address_safe", None) == address:
            loop = getattr(scheduler.loop, "asyncio_loop", None)
            return loop if isinstance(loop, asyncio.AbstractEventLoop) else None
    return None


def runs_in_this_loop(address: str) -> bool:
    """Return whether a scheduler runs in the caller's event loop, and cannot answer while that is blocked."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return False
    return loop_of_scheduler(address) is loop


def connection_of(client: Any) -> tuple[str, Mapping[str, Any]] | None:
    """Return the scheduler's address and the arguments of a connection (TLS); None while there is none."""
    scheduler = client.scheduler
    if scheduler is None or client.status in {"closing", "closed"}:
        return None
    return str(scheduler.address), dict(client.connection_args)


def future_states(client: Any, keys: Iterable[Hashable]) -> dict[Hashable, Any]:
    """Return the client's states of these futures, which, unlike futures, keep no result on the cluster."""
    return {key: client.futures.get(key) for key in keys}


def cancel(client: Any, keys: Iterable[Any]) -> None:
    """Have the client cancel these futures unless they have finished, without waiting for it."""
    from distributed import Future

    def cancel_unfinished() -> Any:
        states = future_states(client, keys)
        pending: list[Any] = [
            key for key, state in states.items() if state is not None and state.status == "pending"
        ]
        return client.cancel([Future(key, client) for key in pending], asynchronous=True)

    client.loop.add_callback(cancel_unfinished)


def unfinished_keys(client: Any) -> list[Hashable]:
    """Return the keys that the client waits for."""
    return [key for key, state in list(client.futures.items()) if state.status == "pending"]


_MOST_PARTS = 20_000
_TASK = ("args", "kwargs", "value")
_LAYER = ("layers", "mapping")


def largest_argument(graph: object) -> tuple[str, float] | None:
    """Return the key of the task with the largest value in a graph, and the value's bytes.

    20,000 parts of the graph are visited at most, and no tasks are made of it.
    """
    found: tuple[str, float] | None = None
    walk: list[tuple[object, str]] = [(graph, "")]
    for _ in range(_MOST_PARTS):
        if not walk:
            break
        part, key = walk.pop()
        n_bytes = _value_bytes(part)
        if n_bytes > (0.0 if found is None else found[1]):
            found = key, n_bytes
        walk += _parts(part, key)
    return found


def _is_dask(thing: object) -> bool:
    """Return whether it is a part of a graph: dask-array and others derive their expressions from Dask's."""
    modules = {kind.__module__.partition(".")[0] for kind in type(thing).__mro__}
    return not modules.isdisjoint(("dask", "distributed"))


def _is_map(thing: object) -> bool:
    """Return whether it is a call of `Client.map`; `dask.dataframe.read_csv` has iterables, too."""
    return type(thing).__module__ == "distributed.client" and hasattr(thing, "iterables")


def _value_bytes(value: Any) -> float:
    if isinstance(value, bytes | bytearray | str):
        return float(len(value))
    # Expressions wrap a dataframe, and pass its attributes on.
    if type(value).__name__.lstrip("_") in ("DataFrame", "BackendData"):
        return float(value.memory_usage().sum())
    if _is_dask(value):
        return 0.0
    try:
        n_bytes = getattr(value, "nbytes", 0)
    except Exception:  # noqa: BLE001 - a property of any class, whose value may not exist
        return 0.0
    return float(n_bytes) if isinstance(n_bytes, int) else 0.0


def _parts(whole: Any, key: str) -> Iterator[tuple[object, str]]:
    if isinstance(whole, Mapping):
        # Names of arguments within a task are no keys.
        yield from ((part, key or key_text(name)) for name, part in whole.items())
    elif isinstance(whole, list | tuple | set | frozenset):
        yield from ((part, key) for part in whole)
    elif _is_dask(whole):
        yield from _parts_of_dask(whole, key)


def _parts_of_dask(whole: Any, key: str) -> Iterator[tuple[object, str]]:
    if hasattr(whole, "operands"):
        # An expression without keys of its own names its tasks after its class; `map` has a name of its own.
        name = str(whole.key) if _is_map(whole) else type(whole).__name__.lower()
        for operand in whole.operands:
            is_graph = hasattr(operand, "operands") or hasattr(operand, "layers")
            yield operand, "" if is_graph or isinstance(operand, Mapping) else name
        # Its other attributes may be columns of a dataframe.
        return
    for name in _LAYER:
        yield getattr(whole, name, None), key
    if hasattr(type(whole), "func") or hasattr(type(whole), "value"):
        yield from ((getattr(whole, name, None), key or key_text(whole.key)) for name in _TASK)


def functions_of(graph: object) -> tuple[dict[object, str | None], list[CodeType]]:
    """Return what `user_functions` returns, as far as the client has made the tasks."""
    tasks: dict[object, object] = {}
    for part in _graphs(graph):
        known = part
        if _is_map(part):
            # Its keys make all tasks, and before 2025.4 the client refuses the graph then.
            named = part.key[0] if isinstance(part.key, list) and part.key else str(part.key)
            known = {named: SimpleNamespace(func=part.func)}
        elif hasattr(part, "output") and hasattr(part, "task"):
            known = {(part.output, 0): part.task}
        elif isinstance(getattr(part, "mapping", None), Mapping):
            known = part.mapping
        if type(known) is dict:
            tasks.update(islice(known.items(), _MOST_PARTS))
    return user_functions(tasks)


def _graphs(graph: Any) -> Iterator[Any]:
    """Yield the layers of a graph, its dictionaries, and calls of `map`."""
    operands = getattr(graph, "operands", None)
    if type(graph) is dict or _is_map(graph):
        yield graph
    elif isinstance(operands, list):
        # Any other attribute of an expression may be a column of a dataframe, or fail for want of one.
        for operand in operands if _is_dask(graph) else ():
            yield from _graphs(operand)
    elif isinstance(layers := getattr(graph, "layers", None), Mapping):
        yield from layers.values()


_CLOSING = frozenset(("closing", "closed"))
_lock = threading.RLock()
_observers: tuple[Any, ...] = ()
_originals: dict[str, Any] = {}
_call: ContextVar[Call | None] = ContextVar("taskscope_cluster_call", default=None)
_sent = threading.local()
"""How large the graph is that a thread has just sent."""
_LARGE_BYTES = 1_000_000


def watch(observer: Any) -> bool:
    """Notify `observer` of calls of clients; False if distributed was not imported yet."""
    global _observers  # noqa: PLW0603 - there is one distributed.Client class per process
    with _lock:
        module = sys.modules.get("distributed.client")
        if module is None or not hasattr(module, "Client"):
            return False
        _install(module.Client)
        if observer not in _observers:
            _observers = (*_observers, observer)
        return True


def release(observer: Any) -> None:
    """Notify `observer` no more; distributed is as it was once there is no observer."""
    global _observers  # noqa: PLW0603 - see watch
    with _lock:
        _observers = tuple(o for o in _observers if o is not observer)
        if not _observers and _originals:
            _uninstall(sys.modules["distributed.client"].Client)


def clear() -> None:
    """Watch no client in a forked child, which has none of its parent's connections."""
    global _lock, _observers
    _lock, _observers = threading.RLock(), ()
    if _originals:
        _uninstall(sys.modules["distributed.client"].Client)


def _install(kind: Any) -> None:
    for name, observed in _REPLACED.items():
        if name not in _originals:
            _originals[name] = vars(kind)[name]
            setattr(kind, name, observed(_originals[name]))


def _uninstall(kind: Any) -> None:
    for name in list(_originals):
        setattr(kind, name, _originals.pop(name))


def _observed_get(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def get(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not kwargs.get("sync", True):
            return original(self, *args, **kwargs)
        call = Call(self)
        token = _call.set(call)
        try:
            result = original(self, *args, **kwargs)
        except BaseException as error:
            _returned(call, error)
            raise
        finally:
            _call.reset(token)
        # An asynchronous client returns an awaitable at once; its futures show the end.
        if not isinstance(result, Awaitable):
            _returned(call, None)
        return result

    return get


def _returned(call: Call, error: BaseException | None) -> None:
    _call_observers(lambda observer: observer.returned(call, error))


def _observed_start(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    async def _start(self: Any, *args: Any, **kwargs: Any) -> Any:
        started = await original(self, *args, **kwargs)
        await _call_in_loop(lambda observer: observer.opened(self))
        return started

    return _start


@contextmanager
def _handing_over(client: Any) -> Iterator[None]:
    _call_observers(lambda observer: observer.submitting(client))
    try:
        yield
    finally:
        _call_observers(lambda observer: observer.handed_over())


def _observed_graph(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def graph_to_futures(self: Any, *args: Any, **kwargs: Any) -> Any:
        with _handing_over(self):
            began, _sent.n_bytes = time.perf_counter(), None
            futures = original(self, *args, **kwargs)
            sent_s = time.perf_counter() - began
            caller = sys._getframe(1)
            callers = caller.f_code, getattr(caller.f_back, "f_code", None)
            graph = args[0] if args else kwargs.get("expr", kwargs.get("dsk"))
            # Tasks that a task submits are part of its compute: the scheduler's event names the task.
            if getattr(sys.modules["distributed.client"].thread_state, "key", None) is None:
                _call_observers(
                    lambda observer: observer.submitted(
                        _submission(observer.guard(), self, futures, graph, callers, sent_s)
                    )
                )
        return futures

    return graph_to_futures


def _submission(
    guard: Guard,
    client: Any,
    futures: Iterable[Hashable],
    graph: object,
    callers: Sequence[CodeType | None],
    sent_s: float,
) -> Submission:
    """Return the work of a graph that was sent; what cannot be observed of the graph is unknown."""
    n_bytes: float | None = _sent.n_bytes
    is_large = (n_bytes or 0) > _LARGE_BYTES
    single = guard.value(lambda: _is_single(client, callers), default=False)
    unknown: tuple[dict[object, str | None], list[CodeType]] = {}, []
    functions, codes = guard.value(lambda: functions_of(graph), unknown)
    return Submission(
        client,
        frozenset(futures),
        None if client.asynchronous else _call.get(),
        single,
        # Tasks of `submit` and `map` are one run of many graphs.
        before={} if single else {"send_s": sent_s},
        graph_bytes=n_bytes,
        largest_argument=guard.value(lambda: largest_argument(graph), None) if is_large else None,
        functions=functions,
        codes=codes,
    )


def _observed_send(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def _send_to_scheduler(self: Any, msg: Any) -> Any:
        if msg.get("op") == "update-graph":
            _call_observers(lambda _observer: _note_size(msg))
        return original(self, msg)

    return _send_to_scheduler


def _note_size(message: Mapping[str, Any]) -> None:
    # It is in two pieces before distributed 2025.4.
    graph = message.get("expr_ser")
    frames = message.get("graph_frames", ()) if graph is None else graph.frames
    _sent.n_bytes = float(sum(getattr(frame, "nbytes", None) or len(frame) for frame in frames))


def _observed_retry(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def retry(self: Any, *args: Any, **kwargs: Any) -> Any:
        given = args[0] if args else kwargs.get("futures")
        failed = [key for key, state in dict(self.futures).items() if state.status == "error"]
        began = time.perf_counter()

        def tell(observer: Any) -> None:
            keys = {future.key for future in sys.modules["distributed.client"].futures_of(given)}
            # Futures that had failed with them are pending, too.
            states = future_states(self, failed)
            keys.update(key for key, state in states.items() if state is not None and state.status != "error")
            submission = Submission(self, frozenset(keys), None, single=True, began=began, is_retry=True)
            observer.submitted(submission)

        async def awaited(result: Awaitable[Any]) -> Any:
            with _handing_over(self):
                done = await result
                _call_observers(tell)
            return done

        with _handing_over(self):
            result = original(self, *args, **kwargs)
            if isinstance(result, Awaitable):
                return awaited(result)
            _call_observers(tell)
        return result

    return retry


def _observed_close(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def close(self: Any, *args: Any, **kwargs: Any) -> Any:
        # The garbage collector closes clients that it frees, on a thread that may hold any lock.
        if sys._getframe(1).f_code is not getattr(type(self).__del__, "__code__", None):
            _call_observers(lambda observer: observer.closing(self))
        return original(self, *args, **kwargs)

    return close


def _observed_end(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    async def _close(self: Any, *args: Any, **kwargs: Any) -> Any:
        # One that blocks was announced in `close`, and is asynchronous on its own loop, too.
        if self._asynchronous and self.status != "closed":
            await _call_in_loop(lambda observer: observer.closing_in_loop(self))
        try:
            return await original(self, *args, **kwargs)
        finally:
            _call_observers(lambda observer: observer.closed(self))

    return _close


def _observed_release(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def _release_key(self: Any, key: Any) -> Any:
        # A client that closes releases all its futures, whether or not they have finished.
        state = self.futures.get(key) if self.status not in _CLOSING else None
        if state is not None:
            _call_observers(lambda observer: observer.released(key, state))
        return original(self, key)

    return _release_key


_REPLACED = {
    "_start": _observed_start,
    "get": _observed_get,
    "_graph_to_futures": _observed_graph,
    "_send_to_scheduler": _observed_send,
    "retry": _observed_retry,
    "close": _observed_close,
    # It ends the scheduler before it closes the client.
    "shutdown": _observed_close,
    "_close": _observed_end,
    "_release_key": _observed_release,
}


def _call_observers(tell: Callable[[Any], None]) -> None:
    for observer in _observers:
        with observer.guard():
            tell(observer)


async def _call_in_loop(tell: Callable[[Any], Awaitable[None]]) -> None:
    for observer in _observers:
        with observer.guard():
            await tell(observer)


def _is_single(client: Any, callers: Sequence[CodeType | None]) -> bool:
    return any(code in callers for code in (type(client).submit.__code__, type(client).map.__code__))
