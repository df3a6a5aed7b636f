"""Every error taskscope raises on purpose, under one root.

::

    TaskscopeError
    ├── OptionError (ValueError)       an option has a value that cannot work
    ├── UnknownNameError (KeyError)    a table or column that does not exist
    ├── FileError (OSError)            a file cannot be written or read
    │   ├── DamagedFileError           a saved recording is truncated, or no recording
    │   └── ExistingFileError          a file of that name exists, and was left alone
    ├── MissingDependencyError (ImportError)   an optional package is needed and absent
    └── StillRunningError (TimeoutError)   what was waited for is not over yet
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches

__all__ = [
    "DamagedFileError",
    "ExistingFileError",
    "FileError",
    "MissingDependencyError",
    "OptionError",
    "StillRunningError",
    "TaskscopeError",
    "UnknownNameError",
    "required",
    "unknown_name",
]


class TaskscopeError(Exception):
    """Root of all errors that taskscope raises on purpose."""


class OptionError(TaskscopeError, ValueError):
    """An option has a value that cannot work."""


class UnknownNameError(TaskscopeError, KeyError):
    """There is no table or column of that name."""

    def __str__(self) -> str:
        """Return the message itself; ``KeyError`` would show its ``repr``."""
        return str(self.args[0]) if self.args else ""


class FileError(TaskscopeError, OSError):
    """A file cannot be written or read."""


class DamagedFileError(FileError):
    """A saved recording is truncated, damaged or of another tool."""


class ExistingFileError(FileError):
    """A file of that name exists, and ``overwrite`` is False.

    Parameters
    ----------
    problem
        The sentence of the message without its advice.
    """

    def __init__(self, problem: str) -> None:
        self.problem = problem
        super().__init__(f"{problem}; pass overwrite=True to replace it")


class MissingDependencyError(TaskscopeError, ImportError):
    """An optional package is needed for this and is not installed."""


class StillRunningError(TaskscopeError, TimeoutError):
    """Computes that were waited for are not over yet."""


@contextmanager
def required(what: str, package: str, install: str | None = None) -> Iterator[None]:
    """Raise MissingDependencyError where an import in the block fails; `install` is the argument of pip."""
    try:
        yield
    except ImportError as error:
        raise MissingDependencyError(
            f"{what} needs {package}; install it: pip install {install or package}"
        ) from error


def unknown_name(kind: str, name: object, known: Iterable[str]) -> str:
    """Return a message for an unknown name, with the nearest known one.

    Examples
    --------
    >>> unknown_name("table", "task", ["tasks", "runs"])
    "unknown table 'task'; did you mean 'tasks'? Known: 'tasks', 'runs'"
    """
    choices = list(known)
    near = get_close_matches(str(name), choices, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    return f"unknown {kind} {name!r}{hint} Known: {', '.join(map(repr, choices))}"
