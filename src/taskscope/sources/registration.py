"""Put our callbacks into local computes, whatever else happens to ``Callback.active``.

Dask swaps that class attribute for an empty set during each compute and puts back what it found, so two
computes at a time from two threads see, and may put back for good, a set that lacks a registered callback.
`dask.local.get_async` asks ``dask.local.local_callbacks`` which callbacks a compute has; while something is
registered here, ours answers. What is held (`hold`) is part of every compute, also of those with an explicit
``callbacks=`` and of those that tasks start. What listens (`listen`) stands in ``Callback.active`` like a
registered callback of Dask's, and is put back where Dask has lost it. Of these a ``finish`` that never raises
may come first, too (`ends_first`). Other callbacks are never touched.

``tests/unit/test_private_names.py`` and ``tests/unit/sources/test_registration.py`` fail when Dask changes
this.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import Any, TypeAlias, TypeVar

import dask.local
from dask.callbacks import Callback

from taskscope.model.errortext import drop_frames, is_a, set_traceback
from taskscope.sources.scheduler import is_nested

__all__ = ["CallbackTuple", "ends_first", "hold", "listen", "release", "unlisten"]

CallbackTuple: TypeAlias = tuple[Callable[..., None] | None, ...]
_LocalCallbacks: TypeAlias = Callable[..., AbstractContextManager[Iterable[CallbackTuple]]]

_Finish = TypeVar("_Finish", bound=Callable[..., Any])

_FIRST = "_taskscope_ends_first"
_lock = threading.Lock()
_held: tuple[CallbackTuple, ...] = ()
_listening: dict[object, CallbackTuple] = {}
_withdrawn: set[CallbackTuple] = set()
"""What stopped listening while a compute had ``Callback.active`` in its hands, and will put it back."""
_n_computes = 0
_original: _LocalCallbacks | None = None
_installed = False


class _Manager:
    """What a generator does around a compute; no frame of it stays in what Dask's own part raises.

    `contextlib` would set the traceback of the compute's exception, which the exception's class may forbid.
    """

    def __init__(self, generator: Generator[list[CallbackTuple], None, None]) -> None:
        self._generator = generator

    def __enter__(self) -> list[CallbackTuple]:
        """Begin."""
        return next(self._generator)

    def __exit__(self, _kind: object, value: BaseException | None, traceback: TracebackType | None) -> None:
        """End, with the compute's exception as it was."""
        try:
            if value is None:
                next(self._generator, None)
            else:
                self._generator.throw(value)
        except BaseException as error:
            # A generator cannot raise StopIteration: it raises a RuntimeError instead.
            instead = type(error) is RuntimeError and is_a(value, StopIteration)
            if value is not None and (error is value or instead):
                set_traceback(value, traceback)
                return
            for each in (error, value):
                if each is not None:
                    drop_frames(each, __file__)
            raise


def _manager(
    function: Callable[..., Generator[list[CallbackTuple], None, None]],
) -> Callable[..., AbstractContextManager[list[CallbackTuple]]]:
    return lambda callbacks=None: _Manager(function(callbacks))


@_manager
def _local_callbacks(
    callbacks: Iterable[CallbackTuple] | None = None,
) -> Generator[list[CallbackTuple], None, None]:
    original = _original
    if original is None:
        raise RuntimeError("taskscope was detached from dask.local while a compute was starting")
    held = _held
    # At the end we come first: one that raises there keeps all after it from hearing of the end.
    ends = [_only_end(callback) for callback in held]
    with _listeners(callbacks) as listening, original(callbacks) as found:
        active = list(found)
        lost = [c for c in listening if c not in active]
        others = [*active, *lost]
        ends += [_only_end(callback) for callback in others if _ends_first(callback)]
        rest = [_without_end(callback) if _ends_first(callback) else callback for callback in others]
        # Otherwise last: what others do at the start of a task is not in the task's way.
        yield [*ends, *rest, *map(_without_end, held)]


def ends_first(finish: _Finish) -> _Finish:
    """Have a ``finish`` hook that never raises called before those that may keep it from hearing."""
    setattr(finish, _FIRST, True)
    return finish


def _ends_first(callback: CallbackTuple) -> bool:
    return getattr(callback[-1], _FIRST, False) is True


def _only_end(callback: CallbackTuple) -> CallbackTuple:
    return (None, None, None, None, callback[-1])


def _without_end(callback: CallbackTuple) -> CallbackTuple:
    return (*callback[:-1], None)


@contextmanager
def _listeners(callbacks: Iterable[CallbackTuple] | None) -> Iterator[list[CallbackTuple]]:
    """Yield what must hear of a compute, and see to it that Dask puts back nothing else of ours."""
    global _n_computes  # noqa: PLW0603 - see hold
    if callbacks is not None or is_nested():
        yield []
        return
    with _lock:
        _n_computes += 1
        listening = list(dict.fromkeys(_listening.values()))
    try:
        yield listening
    finally:
        with _lock:
            _n_computes = max(_n_computes - 1, 0)
            Callback.active.difference_update(_withdrawn)
            Callback.active.update(_listening.values())
            if not _n_computes:
                _withdrawn.clear()


def hold(callback: CallbackTuple) -> None:
    """Make a callback part of every local compute of this process that starts before `release`."""
    global _held  # noqa: PLW0603 - there is one dask.local per process
    with _lock:
        _install()
        _held = (*_held, callback)


def release(callback: CallbackTuple) -> None:
    """Take a callback out again; Dask is as it was once nothing is registered."""
    global _held  # noqa: PLW0603 - see hold
    with _lock:
        _held = tuple(c for c in _held if c is not callback)
        _uninstall()


def listen(owner: object, callback: CallbackTuple) -> None:
    """Register a callback as Dask would, for one owner, until `unlisten`; once more changes nothing.

    It hears of the computes that a registered callback hears of: not of those that tasks start, nor of those
    with callbacks of their own.
    """
    with _lock:
        _install()
        _listening[owner] = callback
        _withdrawn.discard(callback)
        Callback.active.add(callback)


def unlisten(owner: object) -> None:
    """End what `listen` began for this owner, if it did."""
    with _lock:
        callback = _listening.pop(owner, None)
        if callback is not None and callback not in _listening.values():
            Callback.active.discard(callback)
            if _n_computes:
                _withdrawn.add(callback)
        _uninstall()


def _install() -> None:
    global _installed, _original  # noqa: PLW0603 - see hold
    # Another tool may have wrapped ours since; asking it would then ask us again, for ever.
    if not _installed or dask.local.local_callbacks is _original:
        _original = dask.local.local_callbacks
        dask.local.local_callbacks = _local_callbacks  # type: ignore[assignment]  # it is called and used alike
        _installed = True


def _uninstall() -> None:
    global _installed  # noqa: PLW0603 - see hold
    if not _held and not _listening and dask.local.local_callbacks is _local_callbacks:
        dask.local.local_callbacks = _original  # type: ignore[assignment]  # what was found there
        _installed = False


def _renew_in_child() -> None:
    """Replace the lock, which a thread of the parent may have held at the fork."""
    global _lock, _n_computes  # noqa: PLW0603 - a lock cannot be told to forget who holds it
    _lock = threading.Lock()
    _n_computes = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_in_child)
