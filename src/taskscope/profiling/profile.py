"""The context managers that profile a block of code."""

from __future__ import annotations

import sys
from inspect import cleandoc
from types import FrameType, TracebackType
from typing import Any, Self

from taskscope.errors import TaskscopeError
from taskscope.options import parameters_section, takes_options
from taskscope.profiling.block import Block, BlockOptions
from taskscope.recording import Recording
from taskscope.session import current


class BlockContext:
    """A context manager around a `Block`.

    ``async with`` waits for clusters' schedulers while the caller's event loop goes on, where one may live.
    """

    _noun = "profile"
    _usage = "with taskscope.profile() as run: ..."

    def __init__(self, options: BlockOptions) -> None:
        self._options = options
        self._block: Block | None = None

    @property
    def recording(self) -> Recording:
        """The recording; inside of the block, and while a cluster computes for it, of the rows there are.

        Raises
        ------
        TaskscopeError
            If the block has not started.
        """
        if self._block is None:
            raise TaskscopeError(f"nothing is recorded yet: use it as `{self._usage}`")
        return self._block.recording

    def _begin(self, caller: FrameType) -> None:
        """Start the block; `caller` is its frame."""
        if self._block is not None:
            raise TaskscopeError(f"this {self._noun} was used before; make a new one for each block")
        self._block = Block(current(), self._options)
        self._block.start()

    def _close(self) -> None:
        if self._block is not None:
            self._block.close()

    def _end(self, block: Block, error: BaseException | None, *, is_settled: bool) -> None:
        block.leave(error, is_settled=is_settled)

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
        assert self._block is not None
        try:
            self._end(self._block, error, is_settled=False)
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
        assert self._block is not None
        try:
            await current().cluster.settled()
            self._end(self._block, error, is_settled=True)
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
        super().__init__(BlockOptions(**options))

    def wait(self, timeout: float | None = None) -> Recording:
        """Return the recording once it is complete; see `taskscope.Recording.wait`."""
        return self.recording.wait(timeout)

    def __repr__(self) -> str:
        """Return the summary, or why there is none."""
        if self._block is None:
            return "taskscope.profile: not started yet"
        result = self._block.ended
        return "taskscope.profile: not finished yet" if result is None else result.summary()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """Return the recording's own view, or why there is none."""
        result = None if self._block is None else self._block.ended
        return {"text/plain": repr(self)} if result is None else result._repr_mimebundle_()


if profile.__doc__:
    # Python 3.13 takes the indentation out of docstrings, older ones do not.
    profile.__doc__ = cleandoc(profile.__doc__).replace("{parameters}", parameters_section())
