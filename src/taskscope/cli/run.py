"""Run a script or a module as Python would, and record it, with a line of progress on a terminal."""

from __future__ import annotations

import argparse
import os
import runpy
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING

from taskscope.errors import FileError, OptionError
from taskscope.options import given_options
from taskscope.profiling import Block, BlockOptions

if TYPE_CHECKING:
    from logging import Logger

    from taskscope.profiling.output import Output
    from taskscope.session import Session


def run(given: argparse.Namespace) -> int:
    """Run the program and return its exit status."""
    name, program = _program(given)
    options = BlockOptions(**{"label": name, **given_options(given)})
    if given.live and not options.display:
        raise OptionError("--live shows computes and --quiet shows nothing: leave one of them out")
    block = Block(options, _live_terminal() if given.live else None)
    block.start()
    error: BaseException | None = None
    try:
        program()
    except BaseException as raised:  # noqa: BLE001 - the program's own end becomes the command's exit status
        error = raised
    block.end_live_view()
    for name in _left_running():
        block.session.recorder.warn(
            "the thread %s outlives the program; its later computes are not recorded", repr(name)
        )
    status = _status(error)
    recording = block.stop(None if isinstance(error, SystemExit) else error)
    block.show(recording)
    if given.live:
        with block.session.recorder.guard("explaining"):
            sys.stderr.write(f"\n{recording.explain()}\n")
    if isinstance(error, KeyboardInterrupt):
        sys.excepthook = _say_nothing
        raise KeyboardInterrupt
    return status


def _live_terminal() -> Callable[[Session, Logger | None], Output]:
    from taskscope.cli.live import choose_terminal

    return choose_terminal()


def _program(given: argparse.Namespace) -> tuple[str, Callable[[], None]]:
    """Return the name of the program, and what runs it as ``__main__``, to its end."""
    # A first -- ends the names after --lines; any other belongs to the program.
    name, *arguments = given.program[given.program[:1] == ["--"] :] or [None]
    if name is None:
        hint = "; what follows --lines are names of functions up to --" if given.lines else ""
        raise OptionError(f"nothing to run: name a script, or a module after -m{hint}")
    if given.is_module:
        return name, partial(_run_module, name, arguments)
    path = Path(name)
    if not (path.is_file() or (path / "__main__.py").is_file()):
        raise FileError(f"cannot run {name!r}: there is no such file")
    return path.name, partial(_run_script, name, arguments)


def _left_running() -> list[str]:
    """Return the names of threads that Python waits for at its end, without pools, whose work is done."""
    return [
        thread.name
        for thread in threading.enumerate()
        if not thread.daemon and thread is not threading.main_thread() and not _is_of_a_pool(thread)
    ]


def _is_of_a_pool(thread: threading.Thread) -> bool:
    return getattr(getattr(thread, "_target", None), "__module__", None) == "concurrent.futures.thread"


def _say_nothing(*_: object) -> None:
    """Print nothing: `_status` has printed the error."""


def _status(error: BaseException | None) -> int:
    """Return Python's exit status, after printing as Python does."""
    if error is None:
        return 0
    if isinstance(error, SystemExit):
        if error.code is None or isinstance(error.code, int):
            return error.code or 0
        sys.stderr.write(f"{error.code}\n")
        return 1
    trace = _of_the_program(error.__traceback__)
    if trace is None and isinstance(error, ImportError):
        # Raised by the search for the module, not by the module.
        sys.stderr.write(f"{sys.executable}: {error}\n")
        return 1
    error.__traceback__ = trace
    sys.excepthook(type(error), error, trace)
    return 1


def _of_the_program(trace: TracebackType | None) -> TracebackType | None:
    """Return the traceback without the leading frames of taskscope and the import system."""
    ours = {__name__, "runpy", "importlib._bootstrap"}
    while trace is not None and trace.tb_frame.f_globals.get("__name__") in ours:
        trace = trace.tb_next
    return trace


def _run_script(name: str, arguments: Sequence[str]) -> None:
    """Run ``python NAME``: a file, or a directory or archive with a ``__main__.py``."""
    path = Path(name)
    with _as_main([name, *arguments], str(path.resolve().parent)):
        if path.is_file() and not zipfile.is_zipfile(path):
            # Python leaves "./" in its name, which runpy would take out, of sys.argv, too.
            _run_file(name if path.is_absolute() else f"{Path.cwd()}{os.sep}{name}")
        else:
            runpy.run_path(name, run_name="__main__")


def _run_module(name: str, arguments: Sequence[str]) -> None:
    """Run ``python -m NAME``: a module, or the ``__main__`` of a package."""
    with _as_main(["-m", *arguments], str(Path.cwd())):
        runpy.run_module(name, run_name="__main__", alter_sys=True)


def _run_file(file: str) -> None:
    module = ModuleType("__main__")
    module.__file__ = file
    module.__loader__ = SourceFileLoader("__main__", file)
    sys.modules["__main__"] = module
    exec(compile(Path(file).read_bytes(), file, "exec", dont_inherit=True), module.__dict__)  # noqa: S102 - the user's script


@contextmanager
def _as_main(argv: list[str], folder: str) -> Iterator[None]:
    before, main = (sys.argv, sys.path[:]), sys.modules["__main__"]
    sys.argv = argv
    # The first entry is where this command itself was found.
    if not getattr(sys.flags, "safe_path", False):
        sys.path[:1] = [folder]
    try:
        yield
    finally:
        sys.argv, sys.path[:] = before
        sys.modules["__main__"] = main
