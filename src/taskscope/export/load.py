"""Read a saved recording."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from taskscope.errors import DamagedFileError, FileError
from taskscope.export import arrow
from taskscope.model.recording import Recording

__all__ = ["load"]


def load(path: str | PathLike[str]) -> Recording:
    """Return the recording in a ``.taskscope`` file; never runs code, whatever the file holds.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    FileError
        If the file cannot be read.
    DamagedFileError
        If it is truncated, damaged or of another tool.
    """
    target = Path(path).expanduser()
    try:
        with target.open("rb") as file:
            return arrow.read(file)
    except DamagedFileError as error:
        raise DamagedFileError(f"cannot load {str(target)!r}: {error}") from error
    except OSError as error:
        raise FileError(f"cannot read {str(target)!r}: {error.strerror or error}") from error
