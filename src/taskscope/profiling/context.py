"""Enter and leave a profiled block, by ``with`` or ``async with``."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from types import FrameType, TracebackType
from typing import Self

from taskscope.session import current

__all__ = ["BlockContext"]


class BlockContext(ABC):
    """What every context manager has that profiles a block.

    Notes
    -----
    ``async with`` waits, at the beginning and at the end, for clusters' schedulers while the caller's event
    loop goes on, where one may live.
    """

    @abstractmethod
    def _begin(self, caller: FrameType) -> None:
        """Begin; `caller` is the frame that the block is in."""

    @abstractmethod
    def _close(self) -> None:
        """End what `_begin` began and `_end` has not ended, as it stands; it never raises."""

    @abstractmethod
    def _end(self, error: BaseException | None, left_s: float | None) -> None:
        """End."""

    async def _end_in_loop(self, error: BaseException | None, left_s: float) -> None:
        """End where the caller's event loop may go on meanwhile."""
        self._end(error, left_s)

    def __enter__(self) -> Self:
        try:
            self._begin(sys._getframe(1))
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._end(error, None)
        finally:
            self._close()

    async def __aenter__(self) -> Self:
        try:
            self._begin(sys._getframe(1))
            await current().cluster.ready()
        except BaseException:
            self._close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._end_in_loop(error, await current().cluster.settled())
        finally:
            self._close()
