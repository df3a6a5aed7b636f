"""Put our callback into every local compute, whatever else happens to ``Callback.active``.

Dask swaps that class attribute for an empty set during each compute and puts back what it found, so two
computes at a time from two threads see, and may put back for good, a set that lacks a registered callback.
`dask.local.get_async` asks ``dask.local.local_callbacks`` which callbacks a compute has; while something is
held here, that answer has the held callbacks appended. The user's own set is never touched, computes with an
explicit ``callbacks=`` and computes nested in tasks are seen too, and nothing can be lost.

This is the only module that knows this private detail; ``tests/unit/sources/test_registration.py`` fails when
Dask changes it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TypeAlias

import dask.local

__all__ = ["CallbackTuple", "hold", "release"]

CallbackTuple: TypeAlias = tuple[Callable[..., None] | None, ...]
_LocalCallbacks: TypeAlias = Callable[..., AbstractContextManager[Iterable[CallbackTuple]]]

_lock = threading.Lock()
_held: tuple[CallbackTuple, ...] = ()
_original: _LocalCallbacks | None = None
_installed = False


@contextmanager
def _local_callbacks(callbacks: Iterable[CallbackTuple] | None = None) -> Iterator[list[CallbackTuple]]:
    original = _original
    if original is None:
        raise RuntimeError("taskscope was detached from dask.local while a compute was starting")
    held = _held
    # At the end we come first: one that raises there keeps all after it from hearing of the end.
    ends: list[CallbackTuple] = [(None, None, None, None, finish) for *_, finish in held]
    with original(callbacks) as active:
        # Otherwise last: what others do at the start of a task is not in the task's way.
        yield [*ends, *active, *((*hooks, None) for *hooks, _ in held)]


def hold(callback: CallbackTuple) -> None:
    """Make a callback part of every local compute of this process that starts before `release`."""
    global _held, _installed, _original  # noqa: PLW0603 - there is one dask.local per process
    with _lock:
        # Another tool may have wrapped ours since; asking it would then ask us again, for ever.
        if not _installed or dask.local.local_callbacks is _original:
            _original = dask.local.local_callbacks
            dask.local.local_callbacks = _local_callbacks
            _installed = True
        _held = (*_held, callback)


def release(callback: CallbackTuple) -> None:
    """Take a callback out again; Dask is as it was once nothing is held."""
    global _held, _installed  # noqa: PLW0603 - see hold
    with _lock:
        _held = tuple(c for c in _held if c is not callback)
        if not _held and dask.local.local_callbacks is _local_callbacks:
            dask.local.local_callbacks = _original  # type: ignore[assignment]  # what was found there
            _installed = False


def renew_lock() -> None:
    """Replace the lock, in a child process whose parent may have held it at the fork."""
    global _lock  # noqa: PLW0603 - a lock cannot be told to forget who holds it
    _lock = threading.Lock()
