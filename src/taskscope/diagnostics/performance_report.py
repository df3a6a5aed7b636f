"""Write the computes of a block into one offline page."""

from __future__ import annotations

import inspect
import logging
import sys
import warnings
from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from types import FrameType
from typing import Any, Self

from taskscope.errors import OptionError
from taskscope.export.atomic import check_writable, write_atomically
from taskscope.model.errortext import describe
from taskscope.model.guard import Guard
from taskscope.model.recording import RecordedData
from taskscope.profiling import Block, BlockOptions
from taskscope.report import performance_html

_log = logging.getLogger("taskscope")


class performance_report(Block):  # noqa: N801 - its name in distributed
    """Record the computes of a block, here and on clusters, and write an HTML page of them at its end.

    The page needs no network and no server: summary, task stream, CPU and memory, profile, transfers,
    versions, and the code that called. It is written also if the block raises.

    Parameters
    ----------
    filename
        Where to, ``dask-report.html`` by default; a file of that name is replaced. ``fsspec`` writes names
        with a ``://``.
    stacklevel
        Whose code the page shows: 1 (default) is what uses ``performance_report``, 2 what called that, ….
    mode
        Without meaning, for compatibility: the page is always whole.
    storage_options
        For ``fsspec``.

    Raises
    ------
    OptionError, FileError
        Before the block runs, if the page could not be written.

    Notes
    -----
    Where writing fails at the end all the same, that is a warning; `recording` still has everything.

    Examples
    --------
    >>> import dask, tempfile
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp())
    >>> with performance_report(filename=folder / "report.html"):
    ...     dask.delayed(sum)([1, 2]).compute(scheduler="synchronous")
    3
    >>> (folder / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    True
    """

    def __init__(
        self,
        filename: str | PathLike[str] = "dask-report.html",
        stacklevel: int = 1,
        mode: str | None = None,
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        if type(stacklevel) is not int:
            raise OptionError(f"stacklevel must be a whole number of frames, got {stacklevel!r}")
        super().__init__(BlockOptions(display=False))
        self.filename = filename
        self._target = _checked(filename, dict(storage_options or {}))
        self._stacklevel = max(stacklevel, 1)
        self._code: str | None = None

    def __enter__(self) -> Self:
        self._code = _source(_outwards(sys._getframe(1), self._stacklevel - 1))
        return super().__enter__()

    async def __aenter__(self) -> Self:
        self._code = _source(_outwards(sys._getframe(1), self._stacklevel - 1))
        return await super().__aenter__()

    def end(self, error: BaseException | None, *, is_settled: bool) -> None:
        """Write the page."""
        self._write(self.stop(error, is_settled=is_settled))

    def _write(self, recording: RecordedData) -> None:
        with Guard("the report", self._warn):
            page = performance_html(recording, self._code).encode()
            if isinstance(self._target, Path):
                write_atomically(self._target, lambda file: file.write(page), overwrite=True)
            else:
                with self._target as file:
                    file.write(page)

    def _warn(self, name: str, error: BaseException) -> None:
        text = f"{name} {fspath(self.filename)!r} was not written: {describe(error)}"
        _log.error(text)
        warnings.warn(text, stacklevel=5)


def _checked(filename: object, storage_options: dict[str, Any]) -> Any:
    """Return the target, or raise an error with the reason."""
    try:
        name = fspath(filename)  # type: ignore[call-overload]  # it raises for other types
    except TypeError:
        name = None
    if not isinstance(name, str) or not name:
        raise OptionError(f"filename must be the path of the page, got {filename!r}")
    if "://" not in name:
        target = Path(name).expanduser()
        check_writable(target, overwrite=True)
        return target
    import fsspec

    try:
        return fsspec.open(name, mode="wb", compression="infer", **storage_options)
    except (ValueError, ImportError, TypeError, OSError) as error:
        raise OptionError(f"cannot write to {name!r}: {error}") from error


def _outwards(frame: FrameType, n_calls: int) -> FrameType:
    """Return the frame so many calls further out, or the outermost there is."""
    while n_calls > 0 and frame.f_back is not None:
        n_calls, frame = n_calls - 1, frame.f_back
    return frame


def _source(frame: FrameType) -> str | None:
    """Return the source of the function, cell or script that a frame runs."""
    try:
        return inspect.getsource(frame)
    except (OSError, TypeError):
        return None
