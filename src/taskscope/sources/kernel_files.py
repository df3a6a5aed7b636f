"""Read small files of the kernel without giving the interpreter's lock away, as `open` and `os.read` do.

Beside threads that compute in Python a thread gets the lock back 5 ms after it gave it away: to read the
sixty files of a sample took half a second.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from pathlib import Path
from typing import Any

_DT_NAME = 19
"""Where the name begins in `struct dirent` on 64-bit Linux, after `d_ino`, `d_off`, `d_reclen`, `d_type`."""
_SIZE = 8192


def _load() -> Any:  # noqa: ANN401 - the functions of a C library have no types
    if not sys.platform.startswith("linux") or sys.maxsize < 2**32:
        return None
    # `PyDLL` keeps the interpreter's lock during a call; `CDLL` gives it away.
    libc = ctypes.PyDLL(None, use_errno=True)
    libc.opendir.restype = libc.readdir.restype = ctypes.c_void_p
    libc.read.restype = ctypes.c_ssize_t
    for function in (libc.readdir, libc.closedir):
        function.argtypes = [ctypes.c_void_p]
    libc.read.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t]
    return libc


_libc = _load()


def _failed(path: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number), path)


def read(path: str) -> bytes:
    """Return the content of a file of up to 8 kB."""
    if _libc is None:
        return Path(path).read_bytes()[:_SIZE]
    descriptor = _libc.open(os.fsencode(path), os.O_RDONLY | os.O_CLOEXEC)
    if descriptor < 0:
        raise _failed(path)
    try:
        buffer = ctypes.create_string_buffer(_SIZE)
        n = _libc.read(descriptor, buffer, _SIZE)
        if n < 0:
            raise _failed(path)
        return buffer.raw[:n]
    finally:
        _libc.close(descriptor)


def names(folder: str) -> list[str]:
    """Return the names in a folder."""
    if _libc is None:
        return [path.name for path in Path(folder).iterdir()]
    handle = _libc.opendir(os.fsencode(folder))
    if not handle:
        raise _failed(folder)
    try:
        found = []
        while entry := _libc.readdir(handle):
            found.append(os.fsdecode(ctypes.string_at(entry + _DT_NAME)))
        return [name for name in found if name not in {".", ".."}]
    finally:
        _libc.closedir(handle)


def has_children() -> bool:
    """Return whether this process has children; True where that is not known."""
    if _libc is None:
        return True
    # WNOWAIT: nothing is reaped, so no other code loses the exit status of its subprocess.
    flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
    return bool(_libc.waitid(os.P_ALL, 0, None, flags) == 0 or ctypes.get_errno() != errno.ECHILD)
