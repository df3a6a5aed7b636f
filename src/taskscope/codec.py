r"""Batches of tables as bytes, and back with everything checked: what pages, files and offline pages carry.

::

    stream  = frame 0 (header), frame 1, frame 2, …; in a complete file the last one is of kind END
    frame   = "\x89TSK", format (u8), kind (u8), packed (u8), 0 (u8), stream, number, stored bytes, unpacked
              bytes, CRC-32 of the stored bytes, CRC-32 of these 28 bytes (u32 each), content
    content = length (u32) of a JSON object, the object, the bytes of columns; packed: deflated by zlib
    object  = of frame 0 the header, else {"tables": [[name, number of the first row, number of rows,
              [column, …]], …]}
    column  = [name, width, base]: whole numbers above the base, in so many bytes (0 to 7): first the lowest
              bytes of all rows, then the next ones, which zlib packs better
              [name, "f8"]: floats, NaN where unknown
              [name, "text", [text, …]]

Numbers are little endian. Whole numbers that may be unknown are -1 then; a column that is unknown in all rows
is left out.
"""

from __future__ import annotations

import json
import secrets
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from taskscope.errors import DamagedFileError
from taskscope.schema import Column, Table

FORMAT = 1
TICK_S = 1e-7
"""Length of a tick, the unit of times, wherever a stream does not name another."""

HEADER, BATCH, END = range(3)

LIMITS: Mapping[str, int] = {
    "frame": 16 * 2**20,  # bytes that a frame unpacks to
    "rows": 2**18,  # of a section
    "value": 2**52,  # so that all sums of these are whole numbers in a browser, too
}
"""The limits of writers and readers."""

_MAGIC = b"\x89TSK"
_HEAD = struct.Struct("<4sBBBBIIIII")
_U32 = struct.Struct("<I")
_MOST = LIMITS["value"] - 1
_WIDTHS = {"f8": 8, "text": 0}
_WIDEST = 7
_JSON_VALUE_BYTES = 72

Values: TypeAlias = NDArray[Any] | Sequence[str | None]


class CutOffError(DamagedFileError):
    """A file ends before its last frame, as one does whose process was killed."""


class Section(NamedTuple):
    """Rows of a table, from row `first` on.

    Columns are arrays or, of texts, lists. Times and durations are seconds, or whole ticks; unknown numbers
    are NaN, unknown texts None.
    """

    first: int
    columns: Mapping[str, Values]


# ----------------------------------------------------------------------------------------------- writing


class Encoder:
    """Makes the frames of one stream, numbered from 0."""

    def __init__(
        self,
        tables: Mapping[str, Table],
        header: Mapping[str, object],
        *,
        tick_s: float = TICK_S,
        level: int = 0,
        stream: int | None = None,
    ) -> None:
        self._tables = tables
        self._header = {**header, "tick_s": tick_s}
        self._tick_s = tick_s
        self._level = level
        self._stream = secrets.randbits(32) if stream is None else stream
        self._number = 0

    def header(self) -> bytes:
        """Return the first frame."""
        return self._frame(HEADER, _content(self._header))

    def batch(self, batch: Mapping[str, Section], *, is_last: bool = False) -> bytes:
        """Return a frame without the sections that have no rows; beyond `LIMITS` it is a ValueError."""
        tables, parts = [], list[bytes]()
        for name, table in self._tables.items():
            if name in batch and (n := len(batch[name].columns[table.columns[0].name])):
                found = (self._column(column, batch[name], n) for column in table.columns)
                known = [column for column in found if column is not None]
                tables.append([name, batch[name].first, n, [spec for spec, _ in known]])
                parts += [data for _, data in known]
        return self._frame(END if is_last else BATCH, _content({"tables": tables}, parts))

    def _column(self, column: Column, section: Section, n: int) -> tuple[list[object], bytes] | None:
        """Return how a column is described, and its bytes; None where nothing in it is known."""
        values = section.columns.get(column.name)
        if values is None and column.optional:
            return None
        if values is None or len(values) != n or n > LIMITS["rows"]:
            raise ValueError(f"{column.name} has not {n:,} rows, or more than a section may")
        if column.wire.startswith("text"):
            # An array of texts holds none: they are all unknown.
            is_known = not isinstance(values, np.ndarray) and values.count(None) < n
            return ([column.name, "text", values], b"") if is_known else None
        if column.wire.startswith("f"):
            floats = np.array(values, "<f8")
            floats[~np.isfinite(floats)] = np.nan
            is_unknown = column.optional and np.isnan(floats).all()
            return None if is_unknown else ([column.name, "f8"], floats.tobytes())
        whole = _ticks(column, values, self._tick_s)
        low, high = int(whole.min()), int(whole.max())
        if max(-low, high) > LIMITS["value"]:
            raise ValueError(f"{low} or {high} is too large")
        if column.optional and low == high == -1:
            return None
        width = ((high - low).bit_length() + 7) // 8
        above = np.ascontiguousarray(whole - low, "<i8") if width else whole[:0]
        planes = above.view(np.uint8).reshape(-1, 8)[:, :width].T
        return [column.name, width, low], planes.tobytes()

    def _frame(self, kind: int, content: bytes) -> bytes:
        if len(content) > LIMITS["frame"]:
            raise ValueError(f"a frame of {len(content):,} bytes, of at most {LIMITS['frame']:,}")
        stored = zlib.compress(content, self._level) if self._level else content
        packed = len(stored) < len(content)
        stored = stored if packed else content
        sizes = len(stored), len(content), zlib.crc32(stored)
        head = _HEAD.pack(_MAGIC, FORMAT, kind, packed, 0, self._stream, self._number, *sizes)
        self._number += 1
        return b"".join([head, _U32.pack(zlib.crc32(head)), stored])


def _content(described: Mapping[str, object], parts: Sequence[bytes] = ()) -> bytes:
    text = json.dumps(described, default=str, ensure_ascii=False, separators=(",", ":"))
    encoded = text.encode("utf-8", "replace")
    return b"".join([_U32.pack(len(encoded)), encoded, *parts])


def _ticks(column: Column, values: Values, tick_s: float) -> NDArray[np.int64]:
    """Return numbers as whole numbers, times as ticks; -1 is unknown."""
    array = np.asarray(values, np.float64) if isinstance(values, list | tuple) else np.asarray(values)
    if array.dtype.kind != "f":
        return array.astype(np.int64, copy=False)
    with np.errstate(invalid="ignore", over="ignore"):
        scaled = array / tick_s if column.wire.startswith(("time", "duration")) else array
        whole: NDArray[np.int64] = np.rint(np.clip(scaled, -_MOST, _MOST)).astype(np.int64)
    if not column.optional:
        return whole
    # -1 is unknown, so a time one tick before the zero is written as the zero.
    known = whole + (whole == -1) if column.is_time else np.maximum(whole, 0)
    known[~np.isfinite(array)] = -1
    return known


# ----------------------------------------------------------------------------------------------- reading


@dataclass(slots=True)
class Budget:
    """How many bytes may still be allocated for a stream."""

    left: int

    def charge(self, n_bytes: int) -> None:
        """Take bytes before they are allocated; a file that needs more is damaged."""
        self.left -= n_bytes
        _require(self.left >= 0, "it unpacks to more than it may; pass a larger max_bytes if you trust it")


def budget_for(n_bytes: int) -> Budget:
    """Return the bytes that a stream of so many bytes may unpack to."""
    return Budget(64 * 2**20 + 256 * n_bytes)


def _require(condition: object, problem: str) -> None:
    if not condition:
        raise DamagedFileError(problem)


def read_frames(file: BinaryIO, budget: Budget) -> Iterator[tuple[int, bytes]]:
    """Yield kind and content of every frame, once it is checked and the budget charged with it."""
    kind, number, stream = -1, 0, 0
    while kind != END:
        head = file.read(_HEAD.size + _U32.size)
        whole = head.ljust(_HEAD.size, b"\0")[: _HEAD.size]
        magic, version, kind, packed, zero, own_stream, own, n_stored, n_bytes, crc = _HEAD.unpack(whole)
        part = f"part {number + 1}"
        if number == 0:
            is_ours = head and _MAGIC.startswith(head[: len(_MAGIC)])
            begins = f"it begins with {head[:8]!r}" if head else "it is empty"
            _require(is_ours, f"not a recording of taskscope: {begins}")
        if len(head) < _HEAD.size + _U32.size:
            raise CutOffError(f"it ends before {part} is complete")
        is_whole = magic == _MAGIC and _U32.pack(zlib.crc32(whole)) == head[_HEAD.size :]
        _require(is_whole, f"the header of {part} is damaged")
        _require(
            version == FORMAT,
            f"it has version {version} of the format and this taskscope reads {FORMAT}; a newer taskscope may"
            " read it",
        )
        is_next = own == number and own_stream == (stream if number else own_stream)
        is_of_kind = (kind == HEADER) == (number == 0) and kind <= END
        _require(is_next and is_of_kind and packed <= 1 and not zero, f"{part} is out of place")
        most = LIMITS["frame"]
        _require(
            n_stored <= n_bytes <= most and (packed or n_stored == n_bytes),
            f"{part} claims {n_bytes:,} bytes, of at most {most:,}",
        )
        budget.charge(n_bytes)
        stored = file.read(n_stored)
        if len(stored) < n_stored:
            raise CutOffError(f"it ends within {part}")
        _require(zlib.crc32(stored) == crc, f"{part} is damaged")
        yield kind, _unpacked(stored, n_bytes, part) if packed else stored
        stream, number = own_stream, number + 1
    _require(not file.read(1), "there is something after its end")


def has_frame(file: BinaryIO) -> bool:
    """Return whether a file that grows has all bytes of its next frame, or something that is no frame."""
    place = file.tell()
    head, n_bytes = file.read(_HEAD.size + _U32.size), file.seek(0, 2) - place
    file.seek(place)
    if not head.startswith(_MAGIC[: len(head)]):
        return True
    return len(head) == _HEAD.size + _U32.size and n_bytes - len(head) >= _HEAD.unpack(head[: _HEAD.size])[7]


def _unpacked(stored: bytes, n_bytes: int, part: str) -> bytes:
    unpacker = zlib.decompressobj()
    try:
        content = unpacker.decompress(stored, n_bytes + 1)
    except zlib.error as error:
        raise DamagedFileError(f"{part} cannot be unpacked: {error}") from error
    is_all = len(content) == n_bytes and unpacker.eof and not unpacker.unused_data
    _require(is_all, f"{part} does not unpack to the {n_bytes:,} bytes it claims")
    return content


@dataclass(slots=True)
class Decoder:
    """Reads the batches of one stream, each after the ones before it."""

    tables: Mapping[str, Table]
    budget: Budget
    tick_s: float = TICK_S
    ends: dict[str, int] = field(default_factory=dict)
    """How many rows there are of each table, dropped ones included."""

    def header(self, content: bytes) -> dict[str, Any]:
        """Take the content of the first frame; return it."""
        header, _ = self._described(content)
        tick_s = header.get("tick_s")
        _require(isinstance(tick_s, float) and 1e-12 <= tick_s <= 1, "its header has no tick")
        self.tick_s = float(header["tick_s"])
        return header

    def batch(self, content: bytes) -> dict[str, Section]:
        """Return the sections of a batch: whole numbers as ``i8``, where they may be unknown as ``f8``."""
        try:
            return self._batch(content)
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            # Its checksum is right, so that a program has written it which is not taskscope.
            raise DamagedFileError(f"a batch contradicts itself: {error!r}") from error

    def _described(self, content: bytes) -> tuple[dict[str, Any], memoryview]:
        """Return the JSON object of a frame, and the bytes that follow it."""
        end = 4 + int.from_bytes(content[:4], "little")
        _require(len(content) >= 4 and end <= len(content), "a frame ends early")
        text = content[4:end]
        n_values = text.count(b",") + text.count(b"[") + text.count(b"{")
        self.budget.charge(_JSON_VALUE_BYTES * n_values + 4 * len(text))
        try:
            said: Any = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise DamagedFileError(f"a description is no JSON: {error}") from error
        _require(isinstance(said, dict), "a description is no object")
        return said, memoryview(content)[end:]

    def _batch(self, content: bytes) -> dict[str, Section]:
        said, data = self._described(content)
        self.ends.update({name: 0 for name, table in self.tables.items() if table.mode == "whole"})
        found: dict[str, Section] = {}
        for name, first, n, described in said["tables"]:
            _require(_is_whole(n) and 0 < n <= LIMITS["rows"], f"{name!s:.50} claims {n!s:.20} rows")
            _require(_is_whole(first) and 0 <= first <= _MOST - n, f"{name!s:.50} has too many rows")
            parts: dict[str, tuple[list[Any], memoryview]] = {}
            for column, kind, *how in described:
                width = _WIDTHS.get(kind, kind)
                _require(type(width) is int and 0 <= width <= 8, "a column is of no kind")
                _require(width * n <= len(data), "a batch ends early")
                parts[column] = [kind, *how], data[: width * n]
                data = data[width * n :]
            _require(len(parts) == len(described) and name not in found, f"{name!s:.50} is there twice")
            if (table := self.tables.get(name)) is not None:
                lacking = [c.name for c in table.columns if not c.optional and c.name not in parts]
                _require(not lacking, f"{name} lacks {', '.join(lacking)}")
                self._place(table, first, n)
                found[name] = Section(first, {c.name: self._column(c, n, parts) for c in table.columns})
        _require(not data, "there is more in a batch than it describes")
        return found

    def _place(self, table: Table, first: int, n: int) -> None:
        end = self.ends.get(table.name, 0)
        follows = first >= end if table.mode == "append" else first in {0, end}
        _require(follows or table.mode in {"by key", "whole"}, "rows come twice")
        self.ends[table.name] = first + n

    def _column(self, column: Column, n: int, parts: Mapping[str, tuple[list[Any], memoryview]]) -> Values:
        """Return a column in its unit, NaN or None where it is unknown, within its bounds."""
        self.budget.charge(8 * n)
        is_text = column.wire.startswith("text")
        if column.name not in parts:
            return [None] * n if is_text else np.full(n, np.nan)
        (kind, *how), data = parts[column.name]
        expected = "text" if is_text else "f8" if column.wire.startswith("f") else type(kind) is int and kind
        _require(kind == expected and kind is not False, f"{column.name} is of another kind")
        if is_text:
            (texts,) = how
            known = [text for text in texts if text is not None]
            _require(len(texts) == n and (column.optional or len(known) == n), "a text must be known")
            # It raises for lone surrogates, and for values that are no texts.
            "".join(known).encode()
            return list(texts)
        if kind == "f8":
            floats = np.frombuffer(data, "<f8").astype(np.float64)
            is_number = not np.isinf(floats).any() and (column.optional or not np.isnan(floats).any())
            _require(is_number and not how, "a number is none")
            return floats
        (base,) = how
        _require(_is_whole(base) and kind <= _WIDEST, "a number is too large")
        if kind == 0:
            return repeated(self._meant(column, np.array([base])), n)
        padded = np.zeros((n, 8), np.uint8)
        padded[:, :kind] = np.frombuffer(data, np.uint8).reshape(kind, n).T
        whole = padded.view("<i8").reshape(n).astype(np.int64, copy=False)
        whole += base
        return self._meant(column, whole)

    def _meant(self, column: Column, whole: NDArray[np.int64]) -> NDArray[Any]:
        kind, _, bound = column.wire.partition(" ")
        least, most = int(whole.min()), int(whole.max())
        _require(max(-least, most) <= LIMITS["value"], "a number is too large")
        is_signed = kind in {"int", "time", "time?"} and not bound
        _require(is_signed or least >= -column.optional, f"{column.name} must not be less than 0")
        if bound:
            word, _, of = bound.partition(" ")
            _require(
                most < (int(of) if word == "<" else self.ends.get(of, 0)), f"{column.name} must be known"
            )
        values = whole * self.tick_s if kind.startswith(("time", "duration")) else whole
        if not column.optional:
            return values
        values = values.astype(np.float64, copy=False)
        if least < 0:
            values[whole == -1] = np.nan
        return values


def _is_whole(value: object) -> bool:
    return type(value) is int and abs(value) <= LIMITS["value"]


def is_constant(values: NDArray[Any]) -> bool:
    """Return whether an array repeats one number that is in memory once."""
    return len(values) > 1 and values.strides == (0,)


def repeated(value: NDArray[Any], n: int) -> NDArray[Any]:
    """Return an array that repeats one value `n` times, in memory for one."""
    values: NDArray[Any] = np.ndarray((n,), value.dtype, value, strides=(0,))
    values.setflags(write=False)
    return values
