"""The container of a ``.taskscope`` file: numbered, checksummed, compressed frames after a signature.

::

    file  = signature (8 bytes), version (u16), 0 (u16), frame, frame, …
    frame = kind (4 letters), number (u32), stored and unpacked bytes (u32, u32),
            CRC-32 of the stored bytes (u32), CRC-32 of these 20 bytes (u32), zlib stream

Numbers are little endian. Whatever a process has written before it was killed is a file that ends early.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from taskscope.errors import DamagedFileError

__all__ = ["LAST", "MAX_FRAME_BYTES", "SIGNATURE", "VERSION", "CutOffError", "FrameWriter", "read_frames"]

SIGNATURE = b"\x89tskscp\n"
VERSION = 2
MAX_FRAME_BYTES = 64 * 2**20
"""Most bytes that a frame may unpack to."""

LAST = "LAST"
"""The kind of the frame that ends a complete file."""

_PREFIX = struct.Struct("<8sHH")
_HEADER = struct.Struct("<4sIIII")
_CRC = struct.Struct("<I")
_LEVEL = 1


class CutOffError(DamagedFileError):
    """A file ends before its last frame, as one does whose process was killed."""


class FrameWriter:
    """Writes the signature at once, then frames.

    Parameters
    ----------
    file
        Where to.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._number = 0
        file.write(_PREFIX.pack(SIGNATURE, VERSION, 0))

    def write(self, kind: str, content: bytes) -> None:
        """Append one frame.

        Raises
        ------
        ValueError
            If the content is larger than `MAX_FRAME_BYTES`.
        """
        if len(content) > MAX_FRAME_BYTES:
            raise ValueError(f"{len(content):,} bytes are too much for one frame ({MAX_FRAME_BYTES:,})")
        stored = zlib.compress(content, _LEVEL)
        header = _HEADER.pack(kind.encode(), self._number, len(stored), len(content), zlib.crc32(stored))
        # In one call, so that a kill between two leaves whole frames more often.
        self._file.write(b"".join([header, _CRC.pack(zlib.crc32(header)), stored]))
        self._number += 1


def read_frames(file: BinaryIO, max_bytes: int) -> Iterator[tuple[str, bytes]]:
    """Yield kind and content of every frame; nothing is yielded that was not checked.

    Parameters
    ----------
    file
        At its beginning.
    max_bytes
        Most bytes that all frames together may unpack to; known before any of them is unpacked.

    Raises
    ------
    CutOffError
        Where the file ends early.
    DamagedFileError
        Where it is not one of ours, of a newer version, or damaged.
    """
    _check_prefix(file.read(_PREFIX.size))
    kind, number, left = "", 0, max_bytes
    while kind != LAST:
        kind, stored, n_bytes = _read_frame(file, number)
        left -= n_bytes
        if left < 0:
            raise DamagedFileError(
                f"it unpacks to more than {max_bytes:,} bytes; pass a larger max_bytes if you trust it"
            )
        yield kind, _unpack(stored, n_bytes, number)
        number += 1
    if file.read(1):
        raise DamagedFileError("there is something after its end")


def _check_prefix(prefix: bytes) -> None:
    if not SIGNATURE.startswith(prefix[: len(SIGNATURE)]) or not prefix:
        raise DamagedFileError(f"not a recording of taskscope: it begins with {prefix[:8]!r}")
    if len(prefix) < _PREFIX.size:
        raise CutOffError("it ends within its first bytes")
    _, version, reserved = _PREFIX.unpack(prefix)
    if not 1 <= version <= VERSION or reserved:
        raise DamagedFileError(
            f"it has version {version}.{reserved} of the format and this taskscope reads up to {VERSION}.0;"
            " a newer taskscope may read it"
        )


def _read_frame(file: BinaryIO, number: int) -> tuple[str, bytes, int]:
    header = file.read(_HEADER.size + _CRC.size)
    if len(header) < _HEADER.size + _CRC.size:
        raise CutOffError(f"it ends before part {number + 1} is complete")
    kind, own_number, n_stored, n_bytes, crc = _HEADER.unpack(header[: _HEADER.size])
    if _CRC.pack(zlib.crc32(header[: _HEADER.size])) != header[_HEADER.size :] or own_number != number:
        raise DamagedFileError(f"the header of part {number + 1} is damaged")
    # zlib never grows what it stores by more than this, so a larger claim is no frame of ours.
    if n_bytes > MAX_FRAME_BYTES or n_stored > MAX_FRAME_BYTES + MAX_FRAME_BYTES // 1000 + 64:
        raise DamagedFileError(f"part {number + 1} claims {n_bytes:,} bytes, more than {MAX_FRAME_BYTES:,}")
    stored = file.read(n_stored)
    if len(stored) < n_stored:
        raise CutOffError(f"it ends within part {number + 1}")
    if zlib.crc32(stored) != crc:
        raise DamagedFileError(f"part {number + 1} is damaged")
    return kind.decode("ascii", "replace"), stored, n_bytes


def _unpack(stored: bytes, n_bytes: int, number: int) -> bytes:
    unpacker = zlib.decompressobj()
    try:
        content = unpacker.decompress(stored, n_bytes + 1)
    except zlib.error as error:
        raise DamagedFileError(f"part {number + 1} cannot be unpacked: {error}") from error
    if len(content) != n_bytes or not unpacker.eof or unpacker.unused_data:
        raise DamagedFileError(f"part {number + 1} does not unpack to the {n_bytes:,} bytes it claims")
    return content
