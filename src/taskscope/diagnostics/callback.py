"""Dask's `Callback`, with a registration that survives concurrent computes, nests, and ends quietly."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeAlias

import dask.callbacks

from taskscope.sources.local.adapter import registration
from taskscope.sources.local.adapter.registration import CallbackTuple

__all__ = ["Callback", "Hook"]

Hook: TypeAlias = Callable[..., object]


class Callback(dask.callbacks.Callback):
    """Hooks that the local schedulers call.

    Use it as a context manager, or `register` it. Hooks are given as keywords, or by a subclass as methods
    with an underscore in front (``_pretask``).

    Parameters
    ----------
    start
        ``start(dsk)``: a compute begins.
    start_state
        ``start_state(dsk, state)``: the scheduler's state is there.
    pretask
        ``pretask(key, dsk, state)``: a task is about to be submitted.
    posttask
        ``posttask(key, result, dsk, state, worker_id)``: a task's result has come back.
    finish
        ``finish(dsk, state, failed)``: the compute has ended.

    Notes
    -----
    An exception in a hook ends the user's compute, as with Dask's own class. Computes that are given
    ``callbacks=`` and computes that tasks start do not call it, as with Dask's own class.

    Examples
    --------
    >>> import dask
    >>> keys = []
    >>> with Callback(pretask=lambda key, dsk, state: keys.append(key)):
    ...     dask.get({"a": (abs, -1), "b": (abs, "a")}, "b")
    1
    >>> keys
    ['a', 'b']
    """

    def __init__(
        self,
        start: Hook | None = None,
        start_state: Hook | None = None,
        pretask: Hook | None = None,
        posttask: Hook | None = None,
        finish: Hook | None = None,
    ) -> None:
        super().__init__(start, start_state, pretask, posttask, finish)  # type: ignore[no-untyped-call]  # Dask's

    def __enter__(self) -> Self:
        owner = object()
        self._entered().append(owner)
        try:
            self._register_hooks(owner)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._entered():
            try:
                self._unregister_hooks(self._entered()[-1])
            finally:
                self._entered().pop()

    def _entered(self) -> list[object]:
        # A subclass need not call our __init__, as none of Dask's has to.
        entries: list[object] = self.__dict__.setdefault("_entries", [])
        return entries

    def register(self) -> None:
        """Watch from now on, as in a block; once more changes nothing."""
        self._register_hooks(self._registration())

    def unregister(self) -> None:
        """End what `register` began; without it nothing happens."""
        self._unregister_hooks(self._registration())

    def _registration(self) -> object:
        owner: object = self.__dict__.setdefault("_registered_as", object())
        return owner

    def _register_hooks(self, owner: object) -> None:
        """Begin, for this entering or for the registration."""
        callback: CallbackTuple = self._callback
        registration.register(owner, callback)

    def _unregister_hooks(self, owner: object) -> None:
        """End what was begun for this owner, or a part of it; it may be called again."""
        registration.unregister(owner)
