"""Source lines: their text, the line of an instruction, and how a place in the code is named."""

from __future__ import annotations

import linecache
import re
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from types import CodeType
from typing import Self

from taskscope.model.tables.stacks import Wait

_LIBRARIES = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
_TASKSCOPE = str(Path(__file__).parents[1])
_CELL = re.compile(r"In \[\d+\]")
_COMPILED_CELLS = ("ipykernel_", "<ipython-input-")
_LIBRARY = re.compile(r"-packages|[/\\]lib[/\\]python3\.\d+[/\\]")
"""Part of the path of a file of a package, or of Python's, on any machine."""

_WAITS: tuple[tuple[Wait, str], ...] = (
    # A `with` statement that calls nothing and takes time waits for a lock.
    ("lock", r"\bwith\s+[\w.\[\]'\"]+(\s+as\s+\w+)?\s*:|\.acquire\(|\bwith\b.*\block\b"),
    ("sleep", r"\bsleep\("),
    ("network", r"\.recv(_into|from)?\(|\burlopen\(|\.connect\(|\.getresponse\(|\.accept\(|\bhttpx?\."),
    ("process", r"\bsubprocess\.|\.communicate\(|\bcheck_(output|call)\(|os\.(system|wait)"),
    ("queue", r"\bqueue\.|\b\w*[qQ](ueue)?\.(get|put)\("),
    ("result", r"\.result\(|\.gather\(|\.compute\("),
    ("event", r"\.wait\(|\.join\(\s*(timeout.*)?\)"),
    (
        "file",
        r"\.read(\w*)\(|\bos\.p?read\(|\.write(\w*)\(|\bopen\(|\bfsync\(|\bfromfile\(|\bread_\w+\(",
    ),
)
_WAIT_OF_TEXT = tuple((kind, re.compile(pattern)) for kind, pattern in _WAITS)


class _CellName(str):  # noqa: SLOT000 - a subclass of str cannot have slots with values of its own
    """A cell's name, ``In [n]``, with the file name under which this kernel compiled the cell.

    Only the name is saved: the ``In [n]`` of a file may be another cell than the ``In [n]`` of this kernel.
    """

    path: str

    def __new__(cls, name: str, path: str = "") -> Self:
        made = super().__new__(cls, name)
        made.path = path or name
        return made


class PlaceName(str):  # noqa: SLOT000 - a subclass of str cannot have slots with values of its own
    """Places in words, with the files and lines of this process; only the words are saved."""

    places: tuple[tuple[str, int], ...] = ()

    @classmethod
    def of(cls, words: str, codes: Iterable[tuple[CodeType, int]]) -> Self:
        """Return the words for lines of some code."""
        return cls._of(words, tuple((code.co_filename, line) for code, line in codes))

    @classmethod
    @lru_cache(maxsize=1_000)
    def _of(cls, words: str, places: tuple[tuple[str, int], ...]) -> Self:
        """Return one object for the same places: each compute of a loop has them."""
        made = cls(words)
        made.places = places
        return made


def file_of(path: str) -> str:
    """Return the file that a recording has for a code object's file: ``In [n]`` for a notebook's cell."""
    if not any(part in path for part in _COMPILED_CELLS):
        return path
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    named = shell.compile.format_code_name(path) if shell is not None else None
    return path if named is None else _CellName(str(named[1]).replace("In[", "In ["), path)


def is_file_of(file: str, code: CodeType) -> bool:
    """Return whether a recording's file is that of a function, also after its cell has run again."""
    return _path(file) == code.co_filename or file == file_of(code.co_filename)


def place_text(file: str, line: int = 0, *, has_folder: bool = True) -> str:
    """Return a file and a line, or the file alone, as a person reads them: a cell by its number.

    Examples
    --------
    >>> place_text("In [19]", 5)
    'In [19], line 5'
    >>> place_text("/data/pread.py", 31, has_folder=False)
    'pread.py:31'
    """
    if any(part in file for part in _COMPILED_CELLS):
        file = "a cell"
    elif not _CELL.fullmatch(file):
        file = file if has_folder else file.replace("\\", "/").rpartition("/")[2]
        return f"{file}:{line}" if file and line else file
    return f"{file}, line {line}" if line else file


def _path(file: str) -> str:
    return file.path if isinstance(file, _CellName) else file


def line_at(code: CodeType, offset: int) -> int:
    """Return the line of an instruction: that of the definition where a frame has none yet."""
    for first, stop, line in code.co_lines():
        if first <= offset < stop:
            return line or code.co_firstlineno
    return code.co_firstlineno


def source_of(file: str, recorded_at: datetime) -> Sequence[str]:
    """Return the lines of a file as it was at that time, with their ends; none where unknown."""
    file = _path(file)
    try:
        if Path(file).stat().st_mtime > recorded_at.timestamp():
            return []
    except (OSError, ValueError):
        # Cells of a notebook are in no file; `linecache` has those of this kernel.
        if file not in linecache.cache:
            return []
    return linecache.getlines(file)


def source_text(lines: Sequence[str], number: int) -> str | None:
    """Return a line by its number, without its end; None where there is none."""
    return lines[number - 1].rstrip("\r\n") if 0 < number <= len(lines) else None


def source_lines(file: str) -> list[str]:
    """Return the lines of a file as it is, with their ends."""
    return linecache.getlines(_path(file))


def is_of_library(file: str) -> bool:
    """Return whether a file is Python's or a package's, and not the user's own."""
    # What NumPy dispatches to is compiled under a name of its own.
    is_python = file.startswith(("<frozen", "<__array_function__", *_LIBRARIES))
    return is_python or file.startswith(_TASKSCOPE) or _LIBRARY.search(file) is not None


_WAITS_IN_FILE: tuple[tuple[Wait, str], ...] = (
    ("process", "subprocess.py multiprocessing/popen_fork.py multiprocessing/pool.py"),
    ("queue", "queue.py multiprocessing/queues.py distributed/queues.py"),
    ("result", "concurrent/futures/_base.py distributed/client.py"),
    ("file", "pathlib.py pathlib/ fsspec/implementations/local.py"),
    ("network", "socket.py ssl.py http/client.py urllib3/ requests/ botocore/ aiohttp/ httpcore/"),
    ("lock", "filelock/ xarray/backends/locks.py dask/utils.py portalocker/"),
    ("lock", "distributed/lock.py distributed/semaphore.py"),
    ("event", "threading.py"),
)


def wait_of_file(file: str) -> tuple[Wait | None, str]:
    """Return what functions of a library's file wait for, and the part of its path that shows it."""
    path = file.replace("\\", "/")
    of_parts = ((kind, part) for kind, parts in _WAITS_IN_FILE for part in parts.split())
    return next(((kind, part) for kind, part in of_parts if f"/{part}" in path), (None, ""))


def wait_of_line(lines: Sequence[str], number: int) -> Wait | None:
    """Return the kind of wait that a line reads like, if it had no CPU time."""
    text = source_text(lines, number) or ""
    return next((kind for kind, pattern in _WAIT_OF_TEXT if pattern.search(text)), None)
