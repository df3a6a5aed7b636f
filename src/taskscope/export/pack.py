"""Columns and JSON as the bytes of a frame, and back with everything checked.

Packed columns are the length of a JSON head (u32), the head, and the columns' bytes, one after the other. In
each column all first bytes come first, then all second ones: numbers of one magnitude compress better so.
"""

from __future__ import annotations

import json
import reprlib
import struct
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taskscope.errors import DamagedFileError
from taskscope.export.schema import Kinds
from taskscope.model.keys import KeyBlock

__all__ = ["Packed", "keys_columns", "keys_of", "pack", "pack_json", "pieces", "unpack", "unpack_json"]

Packed = Mapping[str, NDArray[Any]]

_LENGTH = struct.Struct("<I")
_PIECE_BYTES = 4 * 2**20


def pack_json(value: object) -> bytes:
    """Return a value as JSON; what JSON does not know becomes text."""
    return json.dumps(value, default=str, separators=(",", ":")).encode()


def unpack_json(content: bytes) -> dict[str, Any]:
    """Return the object that `pack_json` was given."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise DamagedFileError(f"it holds no JSON where it should: {error}") from error
    if not isinstance(value, dict):
        raise DamagedFileError(f"it holds {type(value).__name__} where an object should be")
    return value


def pack(head: Mapping[str, object], columns: Packed) -> bytes:
    """Return columns as bytes; `head` holds what is said once for all rows."""
    listed = [[name, values.dtype.str, len(values)] for name, values in columns.items()]
    text = pack_json({**head, "columns": listed})
    return b"".join([_LENGTH.pack(len(text)), text, *map(_shuffled, columns.values())])


def unpack(content: bytes, kinds: Kinds) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return head and columns, each of a name and a type that `kinds` allows.

    Raises
    ------
    DamagedFileError
        If anything is not as `pack` makes it.
    """
    if len(content) < _LENGTH.size:
        raise DamagedFileError("columns without a head")
    (n_head,) = _LENGTH.unpack_from(content)
    head = unpack_json(content[_LENGTH.size : _LENGTH.size + n_head])
    columns: dict[str, NDArray[Any]] = {}
    place = _LENGTH.size + n_head
    for name, kind, n in _listed(head):
        if kind not in kinds.get(name, ()) or name in columns:
            raise DamagedFileError(f"a column {name!r} of type {kind!r} is not known")
        n_bytes = n * np.dtype(kind).itemsize
        if not 0 <= n_bytes <= len(content) - place:
            raise DamagedFileError(f"the column {name!r} is shorter than it says")
        columns[name] = _unshuffled(content[place : place + n_bytes], np.dtype(kind))
        place += n_bytes
    if place != len(content):
        raise DamagedFileError("there is more than the columns")
    return head, columns


def _listed(head: Mapping[str, Any]) -> Iterator[tuple[str, str, int]]:
    listed = head.get("columns")
    for entry in listed if isinstance(listed, list) else [None]:
        if not isinstance(entry, list) or [type(part) for part in entry] != [str, str, int]:
            raise DamagedFileError(f"{reprlib.repr(entry)} describes no column")
        yield entry[0], entry[1], entry[2]


def _shuffled(values: NDArray[Any]) -> bytes:
    rows = np.ascontiguousarray(values).view(np.uint8).reshape(len(values), values.itemsize)
    return rows.T.tobytes()


def _unshuffled(content: bytes, dtype: np.dtype[Any]) -> NDArray[Any]:
    planes = np.frombuffer(content, np.uint8).reshape(dtype.itemsize, -1)
    values: NDArray[Any] = np.ascontiguousarray(planes.T).view(dtype).reshape(-1)
    return values


def pieces(columns: Packed) -> Iterator[Packed]:
    """Yield columns in parts of at most about four megabytes, to be joined by name again."""
    piece: dict[str, NDArray[Any]] = {}
    for name, values in columns.items():
        step = _PIECE_BYTES // values.itemsize
        for first in range(0, max(len(values), 1), step):
            part = values[first : first + step]
            if name in piece or sum(p.nbytes for p in piece.values()) + part.nbytes > _PIECE_BYTES:
                yield piece
                piece = {}
            piece[name] = part
    yield piece


def keys_columns(keys: KeyBlock) -> dict[str, NDArray[Any]]:
    """Return keys as columns."""
    texts = [text.encode("utf-8", "backslashreplace") for text in keys.texts]
    return {
        "dims": keys.dims,
        "ints": keys.ints,
        "text_bytes": np.array([len(text) for text in texts], "<u4"),
        "texts": np.frombuffer(b"".join(texts), np.uint8),
    }


def keys_of(columns: Packed) -> KeyBlock:
    """Return the keys that `keys_columns` was given."""
    data = columns["texts"].tobytes()
    ends = np.cumsum(columns["text_bytes"], dtype=np.int64)
    if (ends[-1] if len(ends) else 0) != len(data):
        raise DamagedFileError("texts of keys are missing")
    starts = [0, *ends.tolist()]
    try:
        texts = tuple(data[a:b].decode() for a, b in pairwise(starts))
    except UnicodeDecodeError as error:
        raise DamagedFileError(f"the text of a key is no text: {error}") from error
    return KeyBlock(columns["dims"], columns["ints"], texts)
