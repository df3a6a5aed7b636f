"""Run a script or a module as Python would, and record it."""

from __future__ import annotations

import argparse
import os
import runpy
import sys
import threading
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType, TracebackType

from taskscope.cli.terminal import TerminalProgress
from taskscope.errors import FileError, OptionError
from taskscope.options import given_options
from taskscope.profiling import Block, BlockOptions


def run(given: argparse.Namespace) -> int:
    """Run the program and return its exit status."""
    program = _program(given)
    options = BlockOptions(**{"label": program.name, **given_options(given)})
    block = Block(options)
    block.start()
    progress = TerminalProgress.on_a_terminal(block) if options.display else None
    error: BaseException | None = None
    try:
        program.run()
    except BaseException as raised:  # noqa: BLE001 - the program's own end becomes the command's exit status
        error = raised
    if progress is not None:
        progress.close()
    for name in _left_running():
        block.session.recorder.warn(
            f"the thread {name!r} outlives the program; what it computes from here on is not recorded"
        )
    status = _status(error)
    recording = block.stop(None if isinstance(error, SystemExit) else error)
    block.show(recording)
    if isinstance(error, KeyboardInterrupt):
        sys.excepthook = _say_nothing
        raise KeyboardInterrupt
    return status


def _program(given: argparse.Namespace) -> Program:
    if given.module:
        name, *arguments = given.module
        return Module(name, arguments)
    if given.script is None:
        hint = "; what follows --lines are names of functions up to --" if given.lines else ""
        raise OptionError(f"nothing to run: name a script, or a module after -m{hint}")
    return Script(given.script, given.arguments)


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
    ours = {__name__, Program.__module__, "runpy", "importlib._bootstrap"}
    while trace is not None and trace.tb_frame.f_globals.get("__name__") in ours:
        trace = trace.tb_next
    return trace


class Program(ABC):
    """Something to run as ``__main__``."""

    name: str

    @abstractmethod
    def run(self) -> None:
        """Run it to its end; its exceptions are raised."""


class Script(Program):
    """What ``python PATH`` runs: a file, or a directory or archive with a ``__main__.py``."""

    def __init__(self, path: str, arguments: Sequence[str]) -> None:
        if not (Path(path).is_file() or (Path(path) / "__main__.py").is_file()):
            raise FileError(f"cannot run {path!r}: there is no such file")
        self.name = Path(path).name
        self._path = path
        self._arguments = arguments

    def run(self) -> None:
        """Run it."""
        path = Path(self._path)
        with _as_main([self._path, *self._arguments], str(path.resolve().parent)):
            if path.is_file() and not zipfile.is_zipfile(path):
                # Python leaves "./" in its name, which runpy would take out, of sys.argv, too.
                file = self._path if path.is_absolute() else f"{Path.cwd()}{os.sep}{self._path}"
                _run_file(file)
            else:
                runpy.run_path(self._path, run_name="__main__")


class Module(Program):
    """What ``python -m NAME`` runs: a module, or the ``__main__`` of a package."""

    def __init__(self, name: str, arguments: Sequence[str]) -> None:
        self.name = name
        self._arguments = arguments

    def run(self) -> None:
        """Run it."""
        with _as_main(["-m", *self._arguments], str(Path.cwd())):
            runpy.run_module(self.name, run_name="__main__", alter_sys=True)


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
