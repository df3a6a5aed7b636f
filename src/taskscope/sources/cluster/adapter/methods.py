"""Watch clients: their methods are replaced by ones that notify observers."""

from __future__ import annotations

import functools
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from types import FrameType
from typing import Any

from taskscope.sources.cluster.adapter.clients import Call, Observer, Submission, largest_argument

_CLOSING = frozenset(("closing", "closed"))
_lock = threading.RLock()
_observers: tuple[Observer, ...] = ()
_originals: dict[str, Any] = {}
_call: ContextVar[Call | None] = ContextVar("taskscope_cluster_call", default=None)
_sent = threading.local()
"""How large the graph is that a thread has just sent."""
_LARGE_BYTES = 1_000_000


def watch(observer: Observer) -> bool:
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


def release(observer: Observer) -> None:
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
        if self._asynchronous:
            await _call_in_loop(lambda observer: observer.opened_in_loop(self))
        else:
            _call_observers(lambda observer: observer.opened(self))
        return started

    return _start


def _observed_graph(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def graph_to_futures(self: Any, *args: Any, **kwargs: Any) -> Any:
        _call_observers(lambda observer: observer.submitting(self))
        began, _sent.n_bytes = time.perf_counter(), None
        try:
            futures = original(self, *args, **kwargs)
            sent_s = time.perf_counter() - began
            single = _is_single(self, sys._getframe(1))
            # Tasks of `submit` and `map` are one run of many graphs.
            before = {} if single else {"send_s": sent_s}

            def tell(observer: Observer) -> None:
                # Tasks that a task submits are part of its compute: the scheduler's event names the task.
                if getattr(sys.modules["distributed.client"].thread_state, "key", None) is not None:
                    return
                call = None if self.asynchronous else _call.get()
                n_bytes = _sent.n_bytes
                argument = largest_argument(args or kwargs) if (n_bytes or 0) > _LARGE_BYTES else None
                observer.submitted(
                    Submission(
                        self,
                        frozenset(futures),
                        call,
                        single,
                        began,
                        before=before,
                        graph_bytes=n_bytes,
                        largest_argument=argument,
                    )
                )

            _call_observers(tell)
        finally:
            _call_observers(lambda observer: observer.handed_over())
        return futures

    return graph_to_futures


def _observed_send(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def _send_to_scheduler(self: Any, msg: Any) -> Any:
        if msg.get("op") == "update-graph":
            # It is in two pieces before distributed 2025.4.
            graph = msg.get("expr_ser")
            frames = msg.get("graph_frames", ()) if graph is None else graph.frames
            _sent.n_bytes = float(sum(getattr(frame, "nbytes", None) or len(frame) for frame in frames))
        return original(self, msg)

    return _send_to_scheduler


def _observed_retry(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def retry(self: Any, *args: Any, **kwargs: Any) -> Any:
        retrying = _Retrying(self, args, kwargs)
        _call_observers(lambda observer: observer.submitting(self, retrying.failed))
        try:
            result = original(self, *args, **kwargs)
            if not isinstance(result, Awaitable):
                _call_observers(retrying.tell)
        finally:
            _call_observers(lambda observer: observer.handed_over())
        return retrying.awaited(result) if isinstance(result, Awaitable) else result

    return retry


class _Retrying:
    """A call of ``Client.retry``, by which futures that have failed are pending again."""

    def __init__(self, client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._client = client
        self._given = args[0] if args else kwargs.get("futures")
        self.failed = frozenset(key for key, state in dict(client.futures).items() if state.status == "error")
        self._began = time.perf_counter()

    def tell(self, observer: Observer) -> None:
        """Notify of the given futures, and of futures that had failed with them."""
        futures = self._client.futures
        keys = {future.key for future in sys.modules["distributed.client"].futures_of(self._given)}
        keys.update(key for key in self.failed if key in futures and futures[key].status != "error")
        submission = Submission(
            self._client, frozenset(keys), None, single=True, began=self._began, is_retry=True
        )
        observer.submitted(submission)

    async def awaited(self, result: Awaitable[Any]) -> Any:
        _call_observers(lambda observer: observer.submitting(self._client, self.failed))
        try:
            done = await result
            _call_observers(self.tell)
        finally:
            _call_observers(lambda observer: observer.handed_over())
        return done


def _observed_close(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def close(self: Any, *args: Any, **kwargs: Any) -> Any:
        # The garbage collector closes clients that it frees, on a thread that may hold any lock.
        if sys._getframe(1).f_code is not type(self).__del__.__code__:
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


def _call_observers(tell: Callable[[Observer], None]) -> None:
    for observer in _observers:
        with observer.guard():
            tell(observer)


async def _call_in_loop(tell: Callable[[Observer], Awaitable[None]]) -> None:
    for observer in _observers:
        with observer.guard():
            await tell(observer)


def _is_single(client: Any, caller: FrameType) -> bool:
    codes = {type(client).submit.__code__, type(client).map.__code__}
    return caller.f_code in codes or (caller.f_back is not None and caller.f_back.f_code in codes)
