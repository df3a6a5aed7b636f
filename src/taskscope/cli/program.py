"""A program as Python runs it, with its name, arguments and module path."""

from __future__ import annotations

import os
import runpy
import sys
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

from taskscope.errors import FileError


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
