"""Put taskscope's callbacks into local computes, whatever else happens to ``Callback.active``.

Dask swaps that class attribute for an empty set during each compute and puts back what it found, so two
computes at a time from two threads see, and may put back for good, a set that lacks a registered callback.
`dask.local.get_async` calls ``dask.local.local_callbacks`` for the callbacks of a compute; while something is
registered here, `_local_callbacks` replaces it. Installed callbacks are part of every compute, also
with an explicit ``callbacks=`` and within tasks. Registered ones (`register`) are in ``Callback.active`` like
Dask's own, and are put back where Dask has lost them.

A callback of the user's that raises at the end, or an interrupt, keeps Dask from calling the ``finish`` of
others, so the ``finish`` of installed callbacks is called again when the compute is over: it is idempotent.

``tests/unit/test_private_names.py`` and ``tests/unit/diagnostics/test_callback.py`` fail when
Dask changes this.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TypeAlias

import dask.callbacks
import dask.local
from dask.callbacks import Callback

from taskscope.sources.local.adapter.scheduler import find_state, is_nested

CallbackTuple: TypeAlias = tuple[Callable[..., None] | None, ...]
_LocalCallbacks: TypeAlias = Callable[..., AbstractContextManager[Iterable[CallbackTuple]]]

_lock = threading.Lock()
_in_all: tuple[CallbackTuple, ...] = ()
_registered: dict[object, CallbackTuple] = {}
_withdrawn: set[CallbackTuple] = set()
"""Callbacks that were unregistered while a compute had swapped ``Callback.active``, and will put it back."""
_computes: set[object] = set()
"""The computes that have swapped it."""
_original: _LocalCallbacks | None = None
"""Dask's own; None while nothing is registered here."""


@contextmanager
def _local_callbacks(callbacks: Iterable[CallbackTuple] | None = None) -> Iterator[list[CallbackTuple]]:
    original = _original or dask.callbacks.local_callbacks
    compute = _ComputeHooks(_in_all)
    try:
        if callbacks is None and not is_nested():
            compute.take_active()
        with original(callbacks) as found:
            yield compute.callbacks(found)
    finally:
        compute.end()


class _ComputeHooks:
    """One compute: which hooks are called."""

    def __init__(self, in_all: tuple[CallbackTuple, ...]) -> None:
        self._in_all = in_all
        self._registered: list[CallbackTuple] = []
        self._graphs: list[object] = []
        self._takes_active = False

    def take_active(self) -> None:
        """Keep the registered callbacks, before Dask swaps ``Callback.active``."""
        self._takes_active = True
        with _lock:
            _computes.add(self)
            self._registered = list(dict.fromkeys(_registered.values()))

    def callbacks(self, found: Iterable[CallbackTuple]) -> list[CallbackTuple]:
        """Return the callbacks in the order in which Dask has to call them."""
        active = list(found)
        others = [*active, *(c for c in self._registered if c not in active)]
        # Ends run first: another callback that raises there keeps those after it from being called. The rest
        # runs last: work of others at the start of a task does not count as the task's.
        ends = [(None, None, None, None, callback[-1]) for callback in self._in_all]
        rest = [(*callback[:-1], None) for callback in self._in_all]
        return [(self._graphs.append, None, None, None, None), *ends, *others, *rest]

    def end(self) -> None:
        """Call the ``finish`` hooks, and put back registered callbacks that Dask has lost."""
        for graph in self._graphs:
            for callback in self._in_all:
                if callback[-1] is not None:
                    callback[-1](graph, find_state(), True)
        self._graphs.clear()
        if self._takes_active:
            with _lock:
                _computes.discard(self)
                Callback.active.difference_update(_withdrawn)
                Callback.active.update(_registered.values())
                if not _computes:
                    _withdrawn.clear()


def install(callback: CallbackTuple, instead_of: CallbackTuple | None = None) -> None:
    """Make a callback part of every local compute of this process that starts before `uninstall`.

    Its ``finish`` hook never raises and is idempotent. `instead_of` is uninstalled and leaves its place.
    """
    global _in_all  # noqa: PLW0603 - there is one dask.local per process
    with _lock:
        installed = [callback if c is instead_of else c for c in _in_all]
        _in_all = tuple(dict.fromkeys([*installed, callback]))
        _install()


def uninstall(callback: CallbackTuple) -> None:
    """Remove a callback; with the last one Dask's own function is restored."""
    global _in_all  # noqa: PLW0603 - there is one dask.local per process
    with _lock:
        _in_all = tuple(c for c in _in_all if c is not callback)
        _uninstall()


def register(owner: object, callback: CallbackTuple) -> None:
    """Register a callback as Dask would, for one owner, until `unregister`.

    It is called for the same computes as Dask's own: not for those that tasks start, nor for those with
    callbacks of their own.
    """
    with _lock:
        _registered[owner] = callback
        _withdrawn.discard(callback)
        Callback.active.add(callback)
        _install()


def unregister(owner: object) -> None:
    """End what `register` began for this owner, if it did."""
    with _lock:
        callback = _registered.pop(owner, None)
        if callback is not None and callback not in _registered.values():
            Callback.active.discard(callback)
            if _computes:
                _withdrawn.add(callback)
        _uninstall()


def _install() -> None:
    global _original  # noqa: PLW0603 - there is one dask.local per process
    if _original is None:
        _original = dask.local.local_callbacks
    dask.local.local_callbacks = _local_callbacks


def _uninstall() -> None:
    global _original  # noqa: PLW0603 - there is one dask.local per process
    if not _in_all and not _registered and _original is not None:
        dask.local.local_callbacks = _original  # type: ignore[assignment]  # Dask's own, as it was found
        _original = None


def clear() -> None:
    """Remove all callbacks in a forked child; they belong to its parent, whose threads may hold the lock."""
    global _lock, _in_all
    _lock, _in_all = threading.Lock(), ()
    _registered.clear()
    _computes.clear()
    _uninstall()
