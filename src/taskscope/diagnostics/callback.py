"""Dask's `Callback`, with a registration that survives concurrent computes and nests."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeAlias

import dask.callbacks

from taskscope.sources.local.adapter import registration

Hook: TypeAlias = Callable[..., object]


class Callback(dask.callbacks.Callback):
    """Hooks that the local schedulers call, as `dask.callbacks.Callback`; `register` and ``with`` nest.

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
        self._blocks().append(owner)
        try:
            self._begin(owner)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._blocks():
            try:
                self._end(self._blocks()[-1])
            finally:
                self._blocks().pop()

    def register(self) -> None:
        """Watch, as in a block, until `unregister`; idempotent."""
        self._begin(self)

    def unregister(self) -> None:
        """End what `register` began, if it did."""
        self._end(self)

    def _blocks(self) -> list[object]:
        # A subclass need not call this class's __init__, as none of Dask's has to.
        entries: list[object] = self.__dict__.setdefault("_entries", [])
        return entries

    def _begin(self, owner: object) -> None:
        """Begin, for one entering or for the registration."""
        registration.register(owner, self._callback)

    def _end(self, owner: object) -> None:
        """End the registration of this owner; idempotent."""
        registration.unregister(owner)
