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
    """Return the recording in a ``.taskscope`` file; never runs code, whatever the file holds.

    Parameters
    ----------
    path
        The file.
    partial
        Return what stands before the damage of a damaged file, instead of raising.
    max_bytes
        Most bytes that the file may unpack to, 4 GiB by default; it is known before anything is unpacked.

    Raises
    ------
    FileError
        If the file cannot be read.
    DamagedFileError
        If it is damaged, of another tool or of a newer version, or unpacks to more than `max_bytes`.

    Notes
    -----
    A file that ends early, because its process was killed or because a copy was cut off, is no error: what
    it holds is returned, with ``metadata["truncated"]`` and a message that says so. What is returned with
    `partial` is marked in the same way.
    """
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
