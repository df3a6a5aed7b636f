"""Dask's `Callback`, with a registration that survives concurrent computes, nests, and ends quietly."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeAlias

import dask.callbacks

from taskscope.sources import registration
from taskscope.sources.registration import CallbackTuple

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
        # A subclass need not call our __init__, as none of Dask's has to.
        entries = self.__dict__.setdefault("_entries", [])
        owner = object()
        self._listen(owner)
        entries.append(owner)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        entries = self.__dict__.get("_entries")
        if entries:
            self._unlisten(entries.pop())

    def register(self) -> None:
        """Call the hooks for every local compute from now on; once more changes nothing."""
        self._listen(self._registration())

    def unregister(self) -> None:
        """End what `register` began; without it nothing happens."""
        self._unlisten(self._registration())

    def _registration(self) -> object:
        owner: object = self.__dict__.setdefault("_registered_as", object())
        return owner

    def _listen(self, owner: object) -> None:
        callback: CallbackTuple = self._callback
        registration.listen(owner, callback)

    def _unlisten(self, owner: object) -> None:
        registration.unlisten(owner)
