"""The peers: nothing, a callback that does nothing, dask.diagnostics, taskscope."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from io import StringIO
from typing import Final, Literal

from dask.callbacks import Callback
from dask.diagnostics import CacheProfiler, Profiler, ProgressBar

import taskscope

Variant = Literal["bare", "no-op", "dask", "taskscope"]
VARIANTS: Final[tuple[Variant, ...]] = ("bare", "no-op", "dask", "taskscope")


def _nothing(*_: object) -> None:
    pass


@contextmanager
def watched_by_dask() -> Iterator[None]:
    """Profile with what dask offers for the same information; the bar writes into memory."""
    with ExitStack() as stack:
        for diagnostic in (Profiler(), CacheProfiler(), ProgressBar(out=StringIO())):
            stack.enter_context(diagnostic)
        yield


def watched_by(variant: Variant) -> AbstractContextManager[object]:
    """Return the context in which a computation is watched by the named variant."""
    match variant:
        case "bare":
            return ExitStack()
        case "no-op":
            return Callback(_nothing, _nothing, _nothing, _nothing, _nothing)
        case "dask":
            return watched_by_dask()
        case "taskscope":
            return taskscope.profile(display=False)
