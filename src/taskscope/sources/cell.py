"""Whether this is a notebook, and which of its cells and which line of the user's code is running."""

from __future__ import annotations

import os
import sys
import traceback
import zlib
from collections.abc import Callable, Mapping
from types import CodeType, FrameType
from typing import Any, NamedTuple

from taskscope.model.source_lines import PlaceName, file_of, is_of_library, place_text


class Cell(NamedTuple):
    """The cell whose code runs."""

    name: str | None
    """The cell's id in its notebook where the front end sends it, else ``In [n]``; None outside of cells."""
    execution_count: int | None
    """The ``n`` of ``In [n]``; None where it is not certain."""
    source_crc: int | None = None
    """CRC-32 of the source that the front end sent, in UTF-8; None where it sent none."""


NO_CELL = Cell(None, None)

_MAX_FRAMES = 60
_OWN = f"{__name__.partition('.')[0]}."

_RUNNERS = frozenset(
    {
        "IPython",
        "ipykernel",
        "ipykernel_launcher.py",
        "taskscope",
        "asyncio",
        "tornado",
        "traitlets",
        "runpy.py",
    }
)


def current_cell() -> Cell:
    """Return the cell whose code runs on this thread now."""
    shell = _shell()
    if shell is None:
        return NO_CELL
    if not hasattr(getattr(shell, "kernel", None), "get_parent"):
        return _prompt(_execution_count(shell))
    request = _request()
    if request is None:
        # A button's callback, for one, runs in no cell.
        return NO_CELL
    code = request.get("content", {}).get("code")
    count = _execution_count(shell, code)
    cell_id = request.get("metadata", {}).get("cellId")
    if not cell_id:
        return _prompt(count)
    return Cell(str(cell_id), count, None if code is None else zlib.crc32(code.encode(errors="replace")))


def current_execution() -> str | None:
    """Return the id of the kernel's request that runs this thread's code, None outside of cells."""
    request = _request()
    return None if request is None else str(request["header"].get("msg_id"))


def vscode_window() -> str | None:
    """Return the id of the VS Code window that runs this thread's cell; None elsewhere.

    It is None, too, for the kernel of a Jupyter server, whose scripts of widgets VS Code cannot read.
    """
    request = _request()
    if request is None or "JPY_SESSION_NAME" in os.environ:
        return None
    is_vscode = str(request.get("metadata", {}).get("cellId")).startswith("vscode-")
    return str(request["header"].get("session")) if is_vscode else None


def in_kernel() -> bool:
    """Return whether this is a Jupyter kernel, so that something can be shown under a cell."""
    return getattr(_shell(), "kernel", None) is not None


def at_cell_end(callback: Callable[[], None]) -> Callable[[], None]:
    """Call `callback` after each cell, before its end is shown; return a function that ends this.

    Without IPython's shell there are no cells.
    """
    shell = _shell()
    if shell is None:
        return lambda: None

    def call(*_: object) -> None:
        callback()

    # Not post_execute, which every message to a comm fires, too.
    shell.events.register("post_run_cell", call)
    return lambda: shell.events.unregister("post_run_cell", call)


def caller() -> FrameType | None:
    """Return the innermost frame on this thread that is neither taskscope's, nor Dask's, nor a library's."""
    frame: FrameType | None = sys._getframe(1)
    for _ in range(_MAX_FRAMES):
        if frame is None:
            return None
        module = str(frame.f_globals.get("__name__", ""))
        if not module.startswith((_OWN, "dask.", "distributed.")) and not is_of_library(
            frame.f_code.co_filename
        ):
            return frame
        frame = frame.f_back
    return None


def calling_line() -> str | None:
    """Return the file or cell and the line of the user's code that runs on this thread."""
    frame = caller()
    return None if frame is None else place_of(frame.f_code, frame.f_lineno)


def place_of(code: CodeType, line: int) -> str:
    """Return the file or cell and a line of some code, as a person reads them."""
    return PlaceName.of(place_text(file_of(code.co_filename), line, has_folder=False), [(code, line)])


def is_runner(file: str) -> bool:
    """Return whether a file is of what runs the user's code: a kernel, IPython, an event loop, taskscope."""
    return not _RUNNERS.isdisjoint(file.replace("\\", "/").split("/")) or file.startswith("<frozen ")


def show_error(error: BaseException) -> None:
    """Show a user's error that was raised on a thread of taskscope's, where no user code can catch it."""
    shell = _shell()
    if shell is None:
        traceback.print_exception(error)
    else:
        shell.showtraceback((type(error), error, error.__traceback__))


def _shell() -> Any:  # noqa: ANN401 - IPython's, which is not imported: a script without it is in no notebook
    # Another thread may be importing it.
    get_ipython = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return None if get_ipython is None else get_ipython()


def _request() -> Mapping[str, Any] | None:
    """Return the kernel's request that runs this thread's code, None outside of cells."""
    kernel: Any = getattr(_shell(), "kernel", None)
    parent: Any = kernel.get_parent() if hasattr(kernel, "get_parent") else None
    is_cell = isinstance(parent, Mapping) and parent.get("header", {}).get("msg_type") == "execute_request"
    return parent if is_cell else None


def _prompt(count: int | None) -> Cell:
    return NO_CELL if count is None else Cell(f"In [{count}]", count)


def _execution_count(shell: Any, code: str | None = None) -> int | None:  # noqa: ANN401 - an IPython shell
    # `shell.execution_count` is that of the running cell in IPython 8, and of the next one from 9.18 on.
    inputs = shell.history_manager.input_hist_raw
    count = len(inputs) - 1
    if shell.execution_count not in (count, count + 1):
        return None
    # Code of an earlier cell, such as a task of asyncio, may run while the latest cell is another.
    is_latest = code is None or inputs[-1] == code.rstrip("\n")
    return count if is_latest and count > 0 else None
