"""Source lines: which one an instruction of a code object belongs to, and what they say."""

from __future__ import annotations

import linecache
import sysconfig
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from types import CodeType

_LIBRARIES = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))


def line_at(code: CodeType, offset: int) -> int:
    """Return the line of an instruction: that of the definition where a frame has none yet."""
    for first, stop, line in code.co_lines():
        if first <= offset < stop:
            return line or code.co_firstlineno
    return code.co_firstlineno


def source_of(file: str, recorded_at: datetime) -> Sequence[str]:
    """Return the lines of a file as it was at that time, without their ends; none where unknown."""
    try:
        if Path(file).stat().st_mtime > recorded_at.timestamp():
            return []
    except (OSError, ValueError):
        # Cells of a notebook are in no file; `linecache` knows those of this kernel.
        if file not in linecache.cache:
            return []
    return [line.rstrip("\r\n") for line in linecache.getlines(file)]


def is_of_library(file: str) -> bool:
    """Return whether a file is Python's or a package's, and not the user's own."""
    # What NumPy dispatches to is compiled under a name of its own.
    return "-packages" in file or file.startswith(("<frozen", "<__array_function__", *_LIBRARIES))
