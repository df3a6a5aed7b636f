"""Hooks of Dask's local schedulers, with lasting registrations."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeAlias

import dask.callbacks

from taskscope.diagnostics.of_2015 import EndCallback, StartCallback, with_start_and_end
from taskscope.sources.local.adapter import registration
from taskscope.sources.local.adapter.registration import CallbackTuple

Hook: TypeAlias = Callable[..., object]


class Callback(dask.callbacks.Callback):
    """Hooks of the local schedulers, as in Dask; no registration is lost, and ``with`` nests.

    The hooks of 2015, ``start_callback(key, dask, state)`` and ``end_callback(key, dask, state, id)``, are
    accepted, too, as keywords and as methods of a subclass.

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
        *,
        start_callback: StartCallback | None = None,
        end_callback: EndCallback | None = None,
    ) -> None:
        super().__init__(start, start_state, pretask, posttask, finish)  # type: ignore[no-untyped-call]  # Dask's
        if start_callback is not None:
            self.start_callback = start_callback
        if end_callback is not None:
            self.end_callback = end_callback

    @property
    def _callback(self) -> CallbackTuple:
        of_2015 = getattr(self, "start_callback", None), getattr(self, "end_callback", None)
        return with_start_and_end(super()._callback, *of_2015)

    def __enter__(self) -> Self:
        owner = object()
        self._blocks().append(owner)
        self._begin(owner)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._blocks():
            self._end(self._blocks()[-1])
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
        registration.register(owner, self._callback)

    def _end(self, owner: object) -> None:
        registration.unregister(owner)
