"""A PNG of palette indices, small enough to live in a notebook."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["encode_png"]


def encode_png(pixels: NDArray[np.uint8], palette: Sequence[tuple[int, int, int, int]]) -> bytes:
    """Return an indexed PNG.

    Parameters
    ----------
    pixels
        Places in `palette`, of shape (height, width).
    palette
        At most 256 colours as red, green, blue and opacity, each 0 to 255.
    """
    height, width = pixels.shape
    # Every row starts with the number of its filter; 0 is none.
    rows = np.hstack([np.zeros((height, 1), np.uint8), pixels])
    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            _chunk(b"PLTE", bytes(part for colour in palette for part in colour[:3])),
            _chunk(b"tRNS", bytes(colour[3] for colour in palette)),
            _chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)),
            _chunk(b"IEND", b""),
        ]
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
