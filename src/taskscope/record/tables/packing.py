"""How old records of small computes are packed."""

from __future__ import annotations

import pickle
import zlib
from typing import Any

N_OPEN = 250
"""How many of the newest stay as objects, because pages and files read them."""
N_PACKED = 100
"""How many are packed together."""


def pack(values: object) -> bytes:
    """Return values as compressed bytes, which only `unpack` of this process reads."""
    return zlib.compress(pickle.dumps(values, pickle.HIGHEST_PROTOCOL), 1)


def unpack(packed: bytes) -> Any:  # noqa: ANN401 - what was packed
    """Return what was packed."""
    return pickle.loads(zlib.decompress(packed))  # noqa: S301 - made in this process
