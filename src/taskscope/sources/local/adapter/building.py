"""When ``dask.compute`` or ``persist`` was called: before any hook of Dask's, collections become a graph.

Both begin with a call of ``collections_to_expr``, or of ``collections_to_dsk`` before Dask 2025.4, which they
look up in their module. While somebody watches, it notes the moment, for the frame that called it; who is
told of the compute later, further down in the same call, asks how long ago that was (`seconds`). Where Dask
is handed a graph, nothing was noted and nobody knows.

``tests/unit/test_private_names.py`` fails when Dask changes this.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from time import perf_counter
from types import CodeType, FrameType, ModuleType
from typing import Any

import dask.base

from taskscope.model.forklock import ForkLock

_NAMES = ("collections_to_expr", "collections_to_dsk")
_CALLERS = ("compute", "persist")
_MAX_FRAMES = 16
_MAX_NOTES = 32
_lock = ForkLock()
_watching: dict[ModuleType, set[object]] = {}
_originals: dict[tuple[ModuleType, str], tuple[Any, Any]] = {}
_callers: set[CodeType] = set()
"""The code of the functions by which computes begin."""


class _Notes(threading.local):
    """When calls of this thread began, by the identity of their frame, theirs as long as they go on."""

    def __init__(self) -> None:
        self.began: dict[int, float] = {}


_notes = _Notes()


def watch(owner: object, module: ModuleType = dask.base, kind: object = None) -> None:
    """Have it noted from now on, for one owner, until `release`; once more changes nothing.

    Parameters
    ----------
    owner
        Whoever wants it.
    module
        Where what is replaced is looked up.
    kind
        What has ``compute`` and ``persist``, the module if that is None.
    """
    with _lock:
        _watch(owner, module, module if kind is None else kind)


def _watch(owner: object, module: ModuleType, kind: object) -> None:
    _watching.setdefault(module, set()).add(owner)
    functions = (getattr(kind, name, None) for name in _CALLERS)
    _callers.update(each.__code__ for each in functions if each is not None)
    for name in _NAMES:
        found = vars(module).get(name)
        known = _originals.get((module, name))
        if found is not None and (known is None or found is known[0]):
            replacement = _noting(found)
            _originals[module, name] = (found, replacement)
            setattr(module, name, replacement)


def release(owner: object, module: ModuleType = dask.base) -> None:
    """End what `watch` began for this owner; the module is as it was once nobody watches."""
    with _lock:
        _release(owner, module)


def _release(owner: object, module: ModuleType) -> None:
    owners = _watching.get(module, set())
    owners.discard(owner)
    if owners:
        return
    for name in _NAMES:
        original, replacement = _originals.get((module, name), (None, None))
        # Where another tool has put its own over ours, ours stays below it.
        if replacement is not None and vars(module).get(name) is replacement:
            setattr(module, name, original)
        # Last, so that after an interrupt this can be done again.
        _originals.pop((module, name), None)


def seconds() -> float | None:
    """Return how long ago the compute was asked for in which the caller is; None where that is not known."""
    frame: FrameType | None = sys._getframe(1)
    for _ in range(_MAX_FRAMES):
        if frame is None:
            return None
        if frame.f_code in _callers:
            began = _notes.began.get(id(frame))
            return None if began is None else max(perf_counter() - began, 0.0)
        frame = frame.f_back
    return None


def _noting(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def noted(*args: object, **kwargs: object) -> object:
        caller = sys._getframe(1)
        while caller.f_code not in _callers and caller.f_code.co_name in _NAMES and caller.f_back:
            # A method of the client stands in between there (distributed before 2025.4).
            caller = caller.f_back
        if caller.f_code in _callers:
            _note(caller)
        return original(*args, **kwargs)

    return noted


def _note(caller: FrameType) -> None:
    began = _notes.began
    began.pop(id(caller), None)
    began[id(caller)] = perf_counter()
    while len(began) > _MAX_NOTES:
        del began[next(iter(began))]
