"""Write a file whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from taskscope.errors import ExistingFileError, FileError


def check_writable(path: Path, *, overwrite: bool) -> None:
    """Raise now what writing would raise later."""
    directory = path.parent
    if not directory.is_dir():
        raise FileError(
            f"cannot write {str(path)!r}: the directory {str(directory)!r} does not exist; make it first"
        )
    if not os.access(directory, os.W_OK | os.X_OK):
        raise FileError(f"cannot write {str(path)!r}: the directory {str(directory)!r} is not writable")
    if path.is_dir():
        raise FileError(f"cannot write {str(path)!r}: it is a directory; name a file")
    if not overwrite and os.path.lexists(path):
        kind = "a symbolic link" if path.is_symlink() else "a file"
        raise ExistingFileError(f"cannot write {str(path)!r}: {kind} of that name exists")


def write_atomically(path: Path, write: Callable[[BinaryIO], object], *, overwrite: bool) -> None:
    """Call `write` with a temporary file beside `path`, then move it there."""
    # A symbolic link is replaced, never followed. A failure leaves the old file.
    check_writable(path, overwrite=overwrite)
    temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}")
    # Its name is known before it is there: an interrupt, which may come at any line, leaves no rubbish.
    try:
        with _new(temporary, path) as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        _move(temporary, path, overwrite=overwrite)
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(
            f"cannot write {str(path)!r}: {error.strerror or error}; the recording is still in memory"
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


def _move(temporary: Path, path: Path, *, overwrite: bool) -> None:
    """Give a file its name; unasked it replaces none, also none that appeared while it was written."""
    if not overwrite:
        # Where there are no hard links, two that are saved at the same moment may get one name.
        with suppress(OSError):
            path.hardlink_to(temporary)
            return
    check_writable(path, overwrite=overwrite)
    temporary.replace(path)


def _new(temporary: Path, path: Path) -> BinaryIO:
    try:
        # With the rights that any new file of the user's has, unlike a file of `tempfile`.
        return temporary.open("xb")
    except OSError as error:
        raise FileError(f"cannot write {str(path)!r}: {error.strerror or error}") from error
