"""The interface of ``dask.diagnostics`` in July 2015, which `Callback` and `Profiler` accept beside today's.

Its hooks are ``start_callback`` and ``end_callback``, and ``results`` of a profiler is a method.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

from taskscope.sources.local.adapter.registration import CallbackTuple

Get: TypeAlias = Callable[..., Any]
StartCallback: TypeAlias = Callable[[Any, Any, Any], None]
EndCallback: TypeAlias = Callable[[Any, Any, Any, Any], None]


class Rows(list[Any]):
    """The rows of a profiler, as ``prof.results`` and as ``prof.results()``."""

    __slots__ = ()

    def __call__(self) -> Self:
        return self

    def __reduce__(self) -> tuple[type[list[Any]], tuple[list[Any]]]:
        # A pickled list loads without taskscope.
        return list, (list(self),)


def with_start_and_end(
    hooks: CallbackTuple, start: StartCallback | None, end: EndCallback | None
) -> CallbackTuple:
    """Return hooks with those of 2015 added; a hook that is there already is kept."""
    if start is None and end is None:
        return hooks
    added = (None, None, start, end and _Finished(end), _Final(start, end))
    return tuple(hook or of_2015 for hook, of_2015 in zip(hooks, added, strict=True))


@dataclass(frozen=True, slots=True)
class _Finished:
    """Calls `end` without the result, which hooks of 2015 did not get."""

    end: EndCallback

    def __call__(self, key: object, _result: object, dsk: object, state: object, worker: object) -> None:
        self.end(key, dsk, state, worker)


@dataclass(frozen=True, slots=True)
class _Final:
    """Calls the hooks a last time, without a task, when a compute has succeeded."""

    start: StartCallback | None
    end: EndCallback | None

    def __call__(self, dsk: object, state: object, failed: bool) -> None:  # noqa: FBT001 - Dask calls it so
        if failed:
            return
        if self.start is not None:
            self.start(None, dsk, state)
        if self.end is not None:
            self.end(None, dsk, state, None)
