"""What is used of ``dask.distributed`` beyond its documented interface, and how its clients are watched.

Four methods of ``distributed.Client`` are replaced while anybody watches: ``get``, which `dask.compute`
calls and which tells when a compute has ended and how, ``_graph_to_futures``, through which all work goes to
the scheduler, ``close``, and ``_close``, which every way of closing a client comes to. They only tell us of
the call. Nothing is put on the scheduler or the workers.

This is the only module that knows private names of distributed; ``tests/unit/cluster/test_adapter.py`` fails
when they change. It never imports distributed: without a client there is nothing to watch.
"""

from __future__ import annotations

import functools
import inspect
import math
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Collection, Hashable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from types import FrameType
from typing import Any, Protocol

import dask
from dask._task_spec import convert_legacy_graph

__all__ = [
    "MAX_GRAPH_TASKS",
    "Call",
    "Observer",
    "Submission",
    "connection_of",
    "default_client",
    "future_states",
    "is_client",
    "materialize",
    "may_have_clients",
    "may_retry",
    "release",
    "unfinished_keys",
    "watch",
]

MAX_GRAPH_TASKS = 300_000
"""The largest graph of which we look at the keys; the scheduler materializes it, too."""


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One call of ``Client.get`` that waits for its result."""

    client: Any


@dataclass(frozen=True, slots=True, eq=False)
class Submission:
    """What a client has handed to its scheduler.

    Parameters
    ----------
    client
        The client.
    expr
        The graph, or an expression that can be made into one.
    keys
        The requested keys.
    call
        The call of ``Client.get`` that waits for it, if one does.
    single
        Whether it came by ``submit`` or ``map``, which hand over tasks, not collections.
    may_retry
        Whether tasks that fail may be tried again, as far as the call itself says so; see `may_retry`.
    began
        A moment before it was handed over, by `time.perf_counter`; infinite where that is not known.
    """

    client: Any
    expr: Any
    keys: frozenset[Hashable]
    call: Call | None
    single: bool
    may_retry: bool = False
    began: float = math.inf


class Observer(Protocol):
    """Who is told, on the thread of the user's that does it."""

    def submitting(self, client: object) -> None:
        """Be ready: a client is about to hand work to its scheduler."""

    def submitted(self, submission: Submission) -> None:
        """Hear that a client has handed work to its scheduler."""

    def handed_over(self) -> None:
        """Hear that what it was told to be ready for is over, whether or not work was handed over."""

    def returned(self, call: Call, error: BaseException | None) -> None:
        """Hear that a call that waited for its result has come back with it, or with an error."""

    def closing(self, client: object) -> None:
        """Hear that a client will be closed, perhaps its scheduler with it."""

    def closed(self, client: object) -> None:
        """Hear that a client was closed, on the thread of its event loop."""

    def fault(self, where: str, error: BaseException) -> None:
        """Hear that one of the above has failed, which the user's computation must never see."""


_lock = threading.Lock()
_observers: tuple[Observer, ...] = ()
_originals: dict[str, Any] = {}
_call: ContextVar[Call | None] = ContextVar("taskscope_cluster_call", default=None)


def watch(observer: Observer) -> bool:
    """Tell `observer` of what clients do from now on; False if distributed was not imported yet."""
    global _observers  # noqa: PLW0603 - there is one distributed.Client class per process
    with _lock:
        module = sys.modules.get("distributed.client")
        if module is None or not hasattr(module, "Client"):
            return False
        if not _originals:
            _install(module.Client)
        if observer not in _observers:
            _observers = (*_observers, observer)
        return True


def release(observer: Observer) -> None:
    """Tell `observer` nothing any more; distributed is as it was once nobody watches."""
    global _observers  # noqa: PLW0603 - see watch
    with _lock:
        _observers = tuple(o for o in _observers if o is not observer)
        if not _observers and _originals:
            _uninstall(sys.modules["distributed.client"].Client)


def _install(kind: Any) -> None:
    for name, make in _REPLACED.items():
        original = vars(kind)[name]
        _originals[name] = (original, replacement := make(original))
        setattr(kind, name, replacement)


def _uninstall(kind: Any) -> None:
    for name, (original, replacement) in list(_originals.items()):
        # Another tool may have put its own over ours since; ours stays below it, and passes everything on.
        if vars(kind).get(name) is replacement:
            setattr(kind, name, original)
            del _originals[name]


def _observed_get(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def get(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not _observers or not kwargs.get("sync", True):
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
        # An asynchronous client gives an awaitable at once; its futures tell the end.
        if not isinstance(result, Awaitable):
            _returned(call, None)
        return result

    return get


def _returned(call: Call, error: BaseException | None) -> None:
    _tell(lambda observer: observer.returned(call, error))


def _observed_graph(original: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(original)

    @functools.wraps(original)
    def graph_to_futures(self: Any, *args: Any, **kwargs: Any) -> Any:
        _tell(lambda observer: observer.submitting(self))
        began = time.perf_counter()
        try:
            futures = original(self, *args, **kwargs)
            single = _is_single(self, sys._getframe(1))

            def tell(observer: Observer) -> None:
                given = signature.bind(self, *args, **kwargs).arguments
                call = None if self.asynchronous else _call.get()
                retries = given.get("retries") or dask.get_annotations().get("retries")
                submission = Submission(
                    self, given["expr"], frozenset(futures), call, single, bool(retries), began
                )
                observer.submitted(submission)

            _tell(tell)
        finally:
            _tell(lambda observer: observer.handed_over())
        return futures

    return graph_to_futures


def _observed_close(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def close(self: Any, *args: Any, **kwargs: Any) -> Any:
        # The garbage collector closes what it frees, on a thread that may hold any lock, ours among them.
        if sys._getframe(1).f_code is not type(self).__del__.__code__:
            _tell(lambda observer: observer.closing(self))
        return original(self, *args, **kwargs)

    return close


def _observed_end(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    async def _close(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return await original(self, *args, **kwargs)
        finally:
            _tell(lambda observer: observer.closed(self))

    return _close


_REPLACED = {
    "get": _observed_get,
    "_graph_to_futures": _observed_graph,
    "close": _observed_close,
    "_close": _observed_end,
}


def _tell(tell: Callable[[Observer], None]) -> None:
    for observer in _observers:
        try:
            tell(observer)
        except Exception as error:  # noqa: BLE001 - what raises here would fail the user's compute
            observer.fault("watching a client", error)


def _is_single(client: Any, caller: FrameType) -> bool:
    codes = {type(client).submit.__code__, type(client).map.__code__}
    return caller.f_code in codes or (caller.f_back is not None and caller.f_back.f_code in codes)


def may_have_clients() -> bool:
    """Return whether distributed was imported."""
    return "distributed.client" in sys.modules


def is_client(thing: object) -> bool:
    """Return whether this is a ``distributed.Client``."""
    module = sys.modules.get("distributed.client")
    return module is not None and isinstance(thing, module.Client)


def default_client() -> Any:
    """Return the client that is Dask's default scheduler, None if there is none."""
    distributed = sys.modules.get("distributed")
    if distributed is None or dask.config.get("scheduler", None) not in {"dask.distributed", "distributed"}:
        return None
    try:
        return distributed.default_client()
    except ValueError:
        return None


def connection_of(client: Any) -> tuple[str, Mapping[str, Any]] | None:
    """Return the scheduler's address and what a connection to it needs (TLS); None if there is none yet."""
    scheduler = client.scheduler
    if scheduler is None or client.status in {"closing", "closed"}:
        return None
    return str(scheduler.address), dict(client.connection_args)


def future_states(client: Any, keys: Iterable[Hashable]) -> dict[Hashable, Any]:
    """Return what the client knows of these futures; unlike a future, it keeps no result on the cluster."""
    return {key: client.futures.get(key) for key in keys}


def unfinished_keys(client: Any) -> list[Hashable]:
    """Return the keys that the client waits for."""
    return [key for key, state in list(client.futures.items()) if state.status == "pending"]


def materialize(expr: Any, keys: Collection[Hashable]) -> dict[Hashable, tuple[Hashable, ...]] | None:
    """Return the dependencies of every task that the scheduler makes of a graph; None if it is too large.

    Parameters
    ----------
    expr
        What was handed to the scheduler.
    keys
        The requested keys.
    """
    if _n_tasks_at_least(expr) > MAX_GRAPH_TASKS:
        return None
    graph = convert_legacy_graph(expr.__dask_graph__())
    if type(expr).__name__ == "LLGExpr":
        graph = _culled(graph, keys)
    return {key: tuple(d for d in node.dependencies if d in graph) for key, node in graph.items()}


def may_retry(expr: Any) -> bool:
    """Return whether tasks of a graph were annotated with ``retries`` when it was made."""
    return bool(expr.__dask_annotations__().get("retries"))


def _n_tasks_at_least(expr: Any) -> int:
    """Return how many tasks are certain without making them."""
    layers = getattr(getattr(expr, "hlg", None), "layers", None)
    if layers is not None:
        return max((len(layer) for layer in layers.values()), default=0)
    return int(getattr(expr, "npartitions", 0) or 0)


def _culled(graph: Mapping[Hashable, Any], keys: Collection[Hashable]) -> dict[Hashable, Any]:
    found: dict[Hashable, Any] = {}
    work = list(keys)
    while work:
        key = work.pop()
        if key not in found and key in graph:
            found[key] = graph[key]
            work.extend(graph[key].dependencies)
    return found
