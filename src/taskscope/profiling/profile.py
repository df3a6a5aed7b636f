"""The context managers that profile a block of code."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from inspect import cleandoc
from types import FrameType, TracebackType
from typing import Any, Self

from taskscope.errors import TaskscopeError
from taskscope.options import parameters_section, takes_options
from taskscope.profiling.block import Block, BlockOptions
from taskscope.recording import Recording
from taskscope.session import current


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


class profile(BlockContext):  # noqa: N801 - read as a verb: with taskscope.profile() as run
    """Record every Dask compute of a block, and show it.

    Parameters
    ----------
    {parameters}

    Raises
    ------
    OptionError, FileError
        At once, if an option cannot work or the file could not be written.

    Notes
    -----
    The block's own exception always comes through unchanged. A file that cannot be written at the end is
    logged, and noted in the recording, which stays usable. Computes that other threads start during the block
    are part of it. Blocks may be nested. With an asynchronous client ``async with`` waits, at the beginning
    and at the end, for the scheduler without holding up the event loop; ``with`` may miss its first and last
    tasks.

    Examples
    --------
    >>> import dask, taskscope
    >>> with taskscope.profile(label="one", display=False) as run:
    ...     dask.delayed(sum)([1, 2]).compute(scheduler="synchronous")
    3
    >>> run.recording.runs[0].label
    'one'
    """

    @takes_options(BlockOptions)
    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - typed by the decorator
        self._options = BlockOptions(**options)
        self._block: Block | None = None

    @property
    def recording(self) -> Recording:
        """What was recorded; inside of the block, and while a cluster goes on with it, so far.

        Raises
        ------
        TaskscopeError
            If the block has not started.
        """
        if self._block is None:
            raise TaskscopeError("nothing is recorded yet: use it as `with taskscope.profile() as run: ...`")
        return self._block.recording

    def wait(self, timeout: float | None = None) -> Recording:
        """Return what was recorded, once all is over that the block began; see `taskscope.Recording.wait`."""
        return self.recording.wait(timeout)

    def __repr__(self) -> str:
        """Return the summary, or why there is none."""
        if self._block is None:
            return "taskscope.profile: not started yet"
        result = self._block.ended
        return "taskscope.profile: not finished yet" if result is None else result.summary()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """Return what its recording shows in a notebook, or why there is none."""
        result = None if self._block is None else self._block.ended
        return {"text/plain": repr(self)} if result is None else result._repr_mimebundle_()

    def _begin(self, caller: FrameType) -> None:
        if self._block is not None:
            raise TaskscopeError("this profile was used before; make a new one for each block")
        self._block = Block(current(), self._options)
        self._block.start()

    def _close(self) -> None:
        if self._block is not None:
            self._block.close()

    def _end(self, error: BaseException | None, left_s: float | None) -> None:
        assert self._block is not None
        self._block.leave(error, left_s)


if profile.__doc__:
    # Python 3.13 takes the indentation out of docstrings, older ones do not.
    profile.__doc__ = cleandoc(profile.__doc__).replace("{parameters}", parameters_section())
