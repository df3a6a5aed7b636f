"""Run a script as Python would, and record it."""

from __future__ import annotations

import argparse
import runpy
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from taskscope.cli.terminal import TerminalProgress
from taskscope.errors import FileError
from taskscope.export import check_target
from taskscope.profiling import Block, BlockOptions
from taskscope.profiling.output import Terminal
from taskscope.session import current

__all__ = ["run"]

_INTERRUPTED = 130


def run(given: argparse.Namespace) -> int:
    """Run the script and return its exit status.

    Raises
    ------
    TaskscopeError
        Before the script runs, if there is none, or if a file could not be written.
    """
    script = Path(given.script)
    if not script.is_file():
        raise FileError(f"cannot run {given.script!r}: there is no such file")
    files = tuple(path for path in (given.dump, given.text) if path is not None)
    for path in files:
        check_target(path, overwrite=given.overwrite)
    block = Block(current(), BlockOptions(label=given.label or script.name, dt=given.dt, save=files))
    block.start()
    progress = None if given.quiet else TerminalProgress.on_a_terminal(block)
    error: BaseException | None = None
    try:
        with _as_main(script, given.arguments):
            runpy.run_path(str(script), run_name="__main__")
    except BaseException as raised:  # noqa: BLE001 - the script's own end becomes the command's exit status
        error = raised
    if progress is not None:
        progress.close()
    status = _status(error)
    recording = block.stop(None if isinstance(error, SystemExit) else error)
    if not given.quiet:
        Terminal().finish(recording)
    return status


@contextmanager
def _as_main(script: Path, arguments: list[str]) -> Iterator[None]:
    before = sys.argv, sys.path[:]
    sys.argv = [str(script), *arguments]
    sys.path.insert(0, str(script.resolve().parent))
    try:
        yield
    finally:
        sys.argv, sys.path[:] = before


def _status(error: BaseException | None) -> int:
    """Return what Python would exit with, having said what it would say."""
    if error is None:
        return 0
    if isinstance(error, SystemExit):
        if error.code is None or isinstance(error.code, int):
            return error.code or 0
        sys.stderr.write(f"{error.code}\n")
        return 1
    error.__traceback__ = _of_the_script(error.__traceback__)
    sys.excepthook(type(error), error, error.__traceback__)
    return _INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1


def _of_the_script(trace: TracebackType | None) -> TracebackType | None:
    """Return the traceback without our frames and those of `runpy` in front."""
    while trace is not None:
        name = trace.tb_frame.f_globals.get("__name__")
        if name not in {__name__, "runpy"}:
            return trace
        trace = trace.tb_next
    return None
