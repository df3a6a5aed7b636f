"""Put our callbacks into local computes, whatever else happens to ``Callback.active``.

Dask swaps that class attribute for an empty set during each compute and puts back what it found, so two
computes at a time from two threads see, and may put back for good, a set that lacks a registered callback.
`dask.local.get_async` asks ``dask.local.local_callbacks`` which callbacks a compute has; while something is
registered here, ours answers. What is installed (`install`) is part of every compute, also of those with an
explicit ``callbacks=`` and of those that tasks start. What is registered (`register`) stands in
``Callback.active`` like a registered callback of Dask's, and is put back where Dask has lost it. Of these a
``finish`` that never raises may come first, too (`finish_first`). Other callbacks are never touched.

An interrupt may come at any line, so what must be called is called twice: once a compute is over, however it
ended, the ``finish`` of what is installed, and those that come first, are called again. They do nothing the
second time.

``tests/unit/test_private_names.py`` and ``tests/unit/sources/local/adapter/test_registration.py`` fail when
Dask changes this.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Iterable
from contextlib import AbstractContextManager, suppress
from types import TracebackType
from typing import Any, TypeAlias, TypeVar

import dask.local
from dask.callbacks import Callback

from taskscope.model.errortext import drop_frames, is_a, set_traceback
from taskscope.model.interrupts import Entered, seen_by_with
from taskscope.sources.local.adapter.scheduler import find_state, is_nested

__all__ = ["CallbackTuple", "finish_first", "install", "register", "uninstall", "unregister"]

CallbackTuple: TypeAlias = tuple[Callable[..., None] | None, ...]
_LocalCallbacks: TypeAlias = Callable[..., AbstractContextManager[Iterable[CallbackTuple]]]

_Finish = TypeVar("_Finish", bound=Callable[..., Any])

_FIRST = "_taskscope_finish_first"
_lock = threading.Lock()
_in_all: tuple[CallbackTuple, ...] = ()
_registered: dict[object, CallbackTuple] = {}
_withdrawn: set[CallbackTuple] = set()
"""What was unregistered while a compute had swapped ``Callback.active``, and will put it back."""
_computes: set[object] = set()
"""Those that have swapped it."""
_original: _LocalCallbacks | None = None
_installed = False
"""Whether ours may stand there, or below what another tool has put there since."""


class _Manager:
    """What a generator does around a compute; no frame of it stays in what Dask's own part raises.

    `contextlib` would set the traceback of the compute's exception, which the exception's class may forbid.
    """

    def __init__(self, generator: Generator[list[CallbackTuple], None, None]) -> None:
        self._generator = generator

    def __enter__(self) -> list[CallbackTuple]:
        """Begin."""
        self._entered = Entered(self, self._abandon)
        return next(self._generator)

    def _abandon(self) -> None:
        """End what has not ended, as an interrupt at the first line of `__exit__` would leave it."""
        with suppress(KeyboardInterrupt):
            self._generator.throw(KeyboardInterrupt())

    @seen_by_with
    def __exit__(self, _kind: object, value: BaseException | None, traceback: TracebackType | None) -> None:
        """End, with the compute's exception as it was."""
        # In one frame: what is raised again in it leaves no trace of it, and would of one that it calls.
        try:
            if value is None:
                next(self._generator, None)
            else:
                self._generator.throw(value)
        except BaseException as error:
            # A generator cannot raise StopIteration: it raises a RuntimeError instead.
            instead = type(error) is RuntimeError and is_a(value, StopIteration)
            if value is None or not (error is value or instead):
                for each in (error, value):
                    if each is not None:
                        drop_frames(each, __file__)
                raise
            set_traceback(value, traceback)
        self._entered.is_over()


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
    compute = _Compute(_in_all)
    try:
        try:
            if callbacks is None and not is_nested():
                compute.take_active()
            with original(callbacks) as found:
                yield compute.callbacks(found)
        finally:
            compute.end()
    finally:
        # An interrupt may have come while it ended.
        compute.end()


class _Compute:
    """One compute: whose hooks are called."""

    def __init__(self, in_all: tuple[CallbackTuple, ...]) -> None:
        self._in_all = in_all
        self._registered: list[CallbackTuple] = []
        self._ends = [callback[-1] for callback in in_all]
        self._graphs: list[object] = []
        self._takes_active = False

    def take_active(self) -> None:
        """Note what is registered, before Dask takes ``Callback.active`` away."""
        self._takes_active = True
        with _lock:
            _computes.add(self)
            self._registered = list(dict.fromkeys(_registered.values()))

    def callbacks(self, found: Iterable[CallbackTuple]) -> list[CallbackTuple]:
        """Return what Dask has to call, in this order."""
        # At the end we come first: one that raises there keeps all after it from being called.
        ends = [_only_end(callback) for callback in self._in_all]
        active = list(found)
        others = [*active, *(c for c in self._registered if c not in active)]
        first = [callback for callback in others if _finishes_first(callback)]
        self._ends += [callback[-1] for callback in first]
        ends += map(_only_end, first)
        rest = [_without_end(callback) if _finishes_first(callback) else callback for callback in others]
        # Otherwise last: what others do at the start of a task is not in the task's way.
        return [(self._graphs.append, None, None, None, None), *ends, *rest, *map(_without_end, self._in_all)]

    def end(self) -> None:
        """Call what ends, and see to it that Dask has put back nothing else of ours; twice is as once."""
        for graph in self._graphs:
            for finish in self._ends:
                if finish is not None:
                    finish(graph, find_state(), True)
        self._graphs.clear()
        if self._takes_active:
            with _lock:
                _computes.discard(self)
                Callback.active.difference_update(_withdrawn)
                Callback.active.update(_registered.values())
                if not _computes:
                    _withdrawn.clear()


def finish_first(finish: _Finish) -> _Finish:
    """Have a ``finish`` hook called before those that may keep it from being called.

    It never raises, and does nothing when it is called again.
    """
    setattr(finish, _FIRST, True)
    return finish


def _finishes_first(callback: CallbackTuple) -> bool:
    return getattr(callback[-1], _FIRST, False) is True


def _only_end(callback: CallbackTuple) -> CallbackTuple:
    return (None, None, None, None, callback[-1])


def _without_end(callback: CallbackTuple) -> CallbackTuple:
    return (*callback[:-1], None)


def install(callback: CallbackTuple) -> None:
    """Make a callback part of every local compute of this process that starts before `uninstall`.

    Once more changes nothing. Its ``finish`` hook never raises, and does nothing when it is called again.
    """
    global _in_all  # noqa: PLW0603 - there is one dask.local per process
    with _lock:
        _in_all = (*(c for c in _in_all if c is not callback), callback)
        _install()


def uninstall(callback: CallbackTuple) -> None:
    """Take a callback out again; Dask is as it was once nothing is registered."""
    global _in_all  # noqa: PLW0603 - see install
    with _lock:
        _in_all = tuple(c for c in _in_all if c is not callback)
        _uninstall()


def register(owner: object, callback: CallbackTuple) -> None:
    """Register a callback as Dask would, for one owner, until `unregister`; once more changes nothing.

    It is called for the computes that a registered callback is called for: not those that tasks start, nor
    those with callbacks of their own.
    """
    with _lock:
        _registered[owner] = callback
        _withdrawn.discard(callback)
        Callback.active.add(callback)
        _install()


def unregister(owner: object) -> None:
    """End what `register` began for this owner, if it did."""
    with _lock:
        callback = _registered.get(owner)
        if callback is not None and sum(c == callback for c in _registered.values()) == 1:
            Callback.active.discard(callback)
            if _computes:
                _withdrawn.add(callback)
        _registered.pop(owner, None)
        _uninstall()


def _install() -> None:
    global _installed, _original  # noqa: PLW0603 - see install
    found = dask.local.local_callbacks
    # Another tool may have wrapped ours since; asking it would then ask us again, for ever.
    if found is not _local_callbacks and (not _installed or found is _original):
        _original = found
        _installed = True
        dask.local.local_callbacks = _local_callbacks  # type: ignore[assignment]  # it is called and used alike


def _uninstall() -> None:
    global _installed  # noqa: PLW0603 - see install
    if not _in_all and not _registered and dask.local.local_callbacks is _local_callbacks:
        dask.local.local_callbacks = _original  # type: ignore[assignment]  # what was found there
        _installed = False


def _renew_in_child() -> None:
    """Replace the lock, which a thread of the parent may have taken at the fork."""
    global _lock  # noqa: PLW0603 - a lock cannot forget who has it
    _lock = threading.Lock()
    _computes.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_in_child)
