"""Read a saved recording."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import BinaryIO

from taskscope.errors import DamagedFileError, FileError
from taskscope.export.assembly import Assembly
from taskscope.export.frames import CutOffError, read_frames
from taskscope.model.recording import RecordedData

__all__ = ["MAX_BYTES", "load"]

MAX_BYTES = 4 * 2**30
"""Most bytes that a file may unpack to, by default; one million tasks take about 60 MB."""


def load(path: str | PathLike[str], *, partial: bool = False, max_bytes: int = MAX_BYTES) -> RecordedData:
    """Return what a ``.taskscope`` file holds; see `taskscope.load`."""
    target = Path(path).expanduser()
    try:
        with target.open("rb") as file:
            return _read(file, partial=partial, max_bytes=max_bytes)
    except DamagedFileError as error:
        raise DamagedFileError(f"cannot load {str(target)!r}: {error}") from error
    except OSError as error:
        raise FileError(f"cannot read {str(target)!r}: {error.strerror or error}") from error


def _read(file: BinaryIO, *, partial: bool, max_bytes: int) -> RecordedData:
    assembly = Assembly()
    problem = None
    try:
        for kind, content in read_frames(file, max_bytes):
            assembly.add(kind, content)
    except DamagedFileError as error:
        if not assembly.begun or not (partial or isinstance(error, CutOffError)):
            raise
        problem = str(error)
    return assembly.recording(problem)
