r"""Batches of tables as bytes, and back with everything checked: what pages, files and offline pages carry.

::

    stream  = frame 0 (header), frame 1, frame 2, …; in a complete file the last one is of kind END
    frame   = "\x89TSK", format (u8), kind (u8), packed (u8), 0 (u8), stream, number, stored bytes, unpacked
              bytes, CRC-32 of the stored bytes, CRC-32 of these 28 bytes (u32 each), content
    content = of a header JSON, else length (u32) of a JSON description, the description, the columns' bytes
    description = {"planes": whether bytes of a column are sorted by place, "tables": [table, …]}
    table   = [name, number of the first row, number of rows, [column, …]]
    column  = [name, "u1" | "u2" | "u4" | "u8", base]: whole numbers above the base
              [name, "f8"]: floats, NaN where unknown
              [name, "text", number of bytes, *length]: UTF-8 texts one after the other, whose lengths in
              bytes are described like a column without its name and come before them
              [name, "one", value]: the same value in all rows

Numbers are little endian. Whole numbers that may be unknown are -1 then. What is compressed has planes:
first the lowest bytes of all values, then the next ones, which zlib packs better.
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
    "header": 2**20,  # bytes of JSON
    "rows": 2**18,  # of a section
    "value": 2**52,  # so that all sums of these are whole numbers in a browser, too
}
"""The limits of writers and readers."""

_MAGIC = b"\x89TSK"
_HEAD = struct.Struct("<4sBBBBIIIII")
_U32 = struct.Struct("<I")
_MOST = LIMITS["value"] - 1
_WHOLE = {f"u{size}": np.dtype(f"<u{size}") for size in (1, 2, 4, 8)}
_FLOAT = np.dtype("<f8")

Integers: TypeAlias = NDArray[np.int64]
Values: TypeAlias = NDArray[Any] | Sequence[str | None]
_Spec: TypeAlias = list[Any]


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
        planes: bool | None = None,
        stream: int | None = None,
    ) -> None:
        self._tables = tables
        self._header = {**header, "tick_s": tick_s}
        self._tick_s = tick_s
        self._level = level
        self._planes = bool(level) if planes is None else planes
        self._stream = secrets.randbits(32) if stream is None else stream
        self._number = 0

    def header(self) -> bytes:
        """Return the first frame."""
        return self._frame(HEADER, _json(self._header))

    def batch(self, batch: Mapping[str, Section], *, is_last: bool = False) -> bytes:
        """Return a frame without the sections that have no rows; beyond `LIMITS` it is a ValueError."""
        tables, parts = [], list[bytes]()
        for name, table in self._tables.items():
            if name in batch and (n := len(batch[name].columns[table.columns[0].name])):
                specs = [self._column(parts, column, batch[name], n) for column in table.columns]
                # A column in which nothing is known is as good as none.
                known = [spec for spec in specs if spec[1:] != ["one", None]]
                tables.append([name, batch[name].first, n, known])
        description = _json({"planes": self._planes, "tables": tables})
        return self._frame(
            END if is_last else BATCH, b"".join([_U32.pack(len(description)), description, *parts])
        )

    def _column(self, parts: list[bytes], column: Column, section: Section, n: int) -> _Spec:
        """Append the bytes of a column; return its description."""
        if column.name not in section.columns:
            if not column.optional:
                raise KeyError(column.name)
            return [column.name, "one", None]
        values = section.columns[column.name]
        if len(values) != n or n > LIMITS["rows"]:
            raise ValueError(f"{len(values):,} rows of {column.name}, where there are {n:,}")
        if column.wire.startswith("text"):
            spec, data = self._texts(column, values)
        elif column.wire.startswith("f"):
            spec, data = self._floats(column, values)
        else:
            spec, data = self._whole(_ticks(column, values, self._tick_s), is_optional=column.optional)
        parts.append(data)
        return [column.name, *spec]

    def _bytes(self, values: NDArray[Any]) -> bytes:
        if not self._planes or values.dtype.itemsize == 1:
            return values.tobytes()
        return values.view(np.uint8).reshape(-1, values.dtype.itemsize).T.tobytes()

    def _texts(self, column: Column, values: Values) -> tuple[_Spec, bytes]:
        if isinstance(values, np.ndarray):
            # An array of texts holds none: they are all unknown.
            return ["one", None], b""
        texts = [None if v is None else v.encode("utf-8", "backslashreplace") for v in values]
        if texts.count(texts[0]) == len(texts):
            return ["one", None if texts[0] is None else texts[0].decode()], b""
        lengths = np.array([-1 if text is None else len(text) for text in texts], np.int64)
        (kind, base), data = self._whole(lengths, is_optional=column.optional)
        content = b"".join(text for text in texts if text)
        return ["text", len(content), kind, base], data + content

    def _floats(self, column: Column, values: Values) -> tuple[_Spec, bytes]:
        floats = np.array(values, _FLOAT)
        floats[~np.isfinite(floats)] = np.nan
        first = floats[0].item()
        if (np.isnan(floats) if np.isnan(first) else floats == first).all():
            return ["one", None if np.isnan(first) else first], b""
        return ["f8"], self._bytes(floats)

    def _whole(self, values: Integers, *, is_optional: bool) -> tuple[_Spec, bytes]:
        low, high = int(values.min()), int(values.max())
        if max(-low, high) > LIMITS["value"]:
            raise ValueError(f"{low} or {high} is too large")
        if low == high:
            return ["one", None if is_optional and low == -1 else low], b""
        kind = next(k for k, dtype in _WHOLE.items() if high - low < 256**dtype.itemsize)
        return [kind, low], self._bytes((values - low).astype(_WHOLE[kind]))

    def _frame(self, kind: int, content: bytes) -> bytes:
        most = LIMITS["header" if kind == HEADER else "frame"]
        if len(content) > most:
            raise ValueError(f"a frame of {len(content):,} bytes, of at most {most:,}")
        stored = zlib.compress(content, self._level) if self._level else content
        packed = len(stored) < len(content)
        stored = stored if packed else content
        sizes = len(stored), len(content), zlib.crc32(stored)
        head = _HEAD.pack(_MAGIC, FORMAT, kind, packed, 0, self._stream, self._number, *sizes)
        self._number += 1
        return b"".join([head, _U32.pack(zlib.crc32(head)), stored])


def _json(value: object) -> bytes:
    return json.dumps(value, default=str, separators=(",", ":")).encode()


def _ticks(column: Column, values: Values, tick_s: float) -> Integers:
    """Return numbers as whole numbers, times as ticks; -1 is unknown."""
    array = np.asarray(values, np.float64) if isinstance(values, list | tuple) else np.asarray(values)
    if array.dtype.kind != "f":
        return array.astype(np.int64, copy=False)
    with np.errstate(invalid="ignore", over="ignore"):
        scaled = array / tick_s if column.wire.startswith(("time", "duration")) else array
        whole: Integers = np.rint(np.clip(scaled, -_MOST, _MOST)).astype(np.int64)
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
        if number == 0:
            is_ours = head and _MAGIC.startswith(head[: len(_MAGIC)])
            _require(is_ours, f"not a recording of taskscope: it begins with {head[:8]!r}")
        if len(head) < _HEAD.size + _U32.size:
            raise CutOffError(f"it ends before part {number + 1} is complete")
        is_whole = magic == _MAGIC and _U32.pack(zlib.crc32(whole)) == head[_HEAD.size :]
        _require(is_whole, f"the header of part {number + 1} is damaged")
        _require(
            version == FORMAT,
            f"it has version {version} of the format and this taskscope reads {FORMAT}; a newer taskscope may"
            " read it",
        )
        is_next = (
            own == number and (number == 0 or own_stream == stream) and (kind == HEADER) == (number == 0)
        )
        _require(is_next and kind <= END and packed <= 1 and not zero, f"part {number + 1} is out of place")
        most = LIMITS["header" if kind == HEADER else "frame"]
        _require(
            n_stored <= n_bytes <= most and (packed or n_stored == n_bytes),
            f"part {number + 1} claims {n_bytes:,} bytes, of at most {most:,}",
        )
        budget.charge(n_bytes)
        stored = file.read(n_stored)
        if len(stored) < n_stored:
            raise CutOffError(f"it ends within part {number + 1}")
        _require(zlib.crc32(stored) == crc, f"part {number + 1} is damaged")
        yield kind, _unpacked(stored, n_bytes, number) if packed else stored
        stream, number = own_stream, number + 1
    _require(not file.read(1), "there is something after its end")


def _unpacked(stored: bytes, n_bytes: int, number: int) -> bytes:
    unpacker = zlib.decompressobj()
    try:
        content = unpacker.decompress(stored, n_bytes + 1)
    except zlib.error as error:
        raise DamagedFileError(f"part {number + 1} cannot be unpacked: {error}") from error
    is_all = len(content) == n_bytes and unpacker.eof and not unpacker.unused_data
    _require(is_all, f"part {number + 1} does not unpack to the {n_bytes:,} bytes it claims")
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
        header = _object(content, "its header")
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

    def _batch(self, content: bytes) -> dict[str, Section]:
        n_json = int.from_bytes(content[:4], "little")
        _require(n_json <= min(len(content) - 4, LIMITS["header"]), "a batch ends early")
        said = _object(content[4 : 4 + n_json], "a description")
        _require(isinstance(said["planes"], bool), "a batch has no description")
        reader = _Reader(content, 4 + n_json, self.budget, has_planes=said["planes"])
        self.ends.update({name: 0 for name, table in self.tables.items() if table.mode == "whole"})
        found: dict[str, Section] = {}
        for name, first, n, specs in said["tables"]:
            _require(_is_whole(n) and 0 < n <= LIMITS["rows"], f"{name!s:.50} claims {n!s:.20} rows")
            _require(_is_whole(first) and 0 <= first <= _MOST - n, f"{name!s:.50} has too many rows")
            table = self.tables.get(name)
            wires = {} if table is None else {c.name: c.wire for c in table.columns}
            read = {column: reader.column(n, how, wires.get(column)) for column, *how in specs}
            _require(len(read) == len(specs) and name not in found, f"{name!s:.50} is there twice")
            if table is not None:
                found[name] = self._checked(table, first, n, read)
        _require(reader.is_at_end, "there is more in a batch than it describes")
        return found

    def _checked(self, table: Table, first: int, n: int, read: Mapping[str, Values]) -> Section:
        end = self.ends.get(table.name, 0)
        follows = first >= end if table.mode == "append" else first in {0, end}
        _require(follows or table.mode in {"by key", "whole"}, "rows come twice")
        self.ends[table.name] = first + n
        columns: dict[str, Values] = {}
        for c in table.columns:
            _require(c.optional or c.name in read, f"{table.name} lacks {c.name}")
            if c.name in read:
                columns[c.name] = self._meant(c, read[c.name])
            else:
                columns[c.name] = [None] * n if c.wire.startswith("text") else np.full(n, np.nan)
        return Section(first, columns)

    def _meant(self, column: Column, values: Values) -> Values:
        """Return numbers in their unit, NaN where they are unknown, within the bounds of their column."""
        wire = column.wire
        if wire.startswith(("text", "f")):
            return values
        whole = np.asarray(values)
        if is_constant(whole):
            return repeated(np.asarray(self._meant(column, whole[:1].copy())), len(whole))
        kind, _, bound = wire.partition(" ")
        least = int(whole.min())
        is_signed = kind in {"int", "time", "time?"} and not bound
        _require(is_signed or least >= -column.optional, f"{column.name} must not be less than 0")
        if bound:
            word, _, of = bound.partition(" ")
            most = int(of) if word == "<" else self.ends.get(of, 0)
            _require(whole.max() < most, f"{column.name} must be known")
        values = whole * self.tick_s if kind.startswith(("time", "duration")) else whole
        if not column.optional:
            return values
        values = values.astype(np.float64, copy=False)
        if least < 0:
            values[whole == -1] = np.nan
        return values


def _object(content: bytes, name: str) -> dict[str, Any]:
    try:
        said: Any = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise DamagedFileError(f"{name} is no JSON: {error}") from error
    _require(isinstance(said, dict), f"{name} is no object")
    return dict(said)


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


class _Reader:
    """Takes the columns of a batch one after the other, each checked against its description."""

    def __init__(self, content: bytes, at: int, budget: Budget, *, has_planes: bool) -> None:
        self._content = content
        self._at = at
        self._budget = budget
        self._has_planes = has_planes

    @property
    def is_at_end(self) -> bool:
        return self._at == len(self._content)

    def _take(self, n: int) -> NDArray[np.uint8]:
        _require(n <= len(self._content) - self._at, "a batch ends early")
        self._at += n
        return np.frombuffer(self._content, np.uint8, n, self._at - n)

    def _array(self, n: int, dtype: np.dtype[Any]) -> NDArray[Any]:
        data = self._take(n * dtype.itemsize)
        if self._has_planes:
            data = np.ascontiguousarray(data.reshape(dtype.itemsize, n).T).reshape(-1)
        return data.view(dtype)

    def column(self, n: int, spec: _Spec, wire: str | None) -> Values:
        """Return a column as it is stored; None for the declaration: of any kind."""
        kind, *how = spec
        self._budget.charge(8 * n)
        if wire is None:
            wire = f"{kind if kind in {'text', 'f8'} else 'text' if isinstance(how[0], str) else 'int'}?"
        if kind == "one":
            (value,) = how
            return self._one(n, value, wire)
        if wire.startswith("text"):
            _require(kind == "text", "a column is of another kind")
            return self._texts(n, *how, is_optional="?" in wire)
        if not wire.startswith("f"):
            return self._whole(n, kind, *how)
        _require(kind == "f8" and not how, "a column is of another kind")
        floats = self._array(n, _FLOAT)
        is_number = not np.isinf(floats).any() and ("?" in wire or not np.isnan(floats).any())
        _require(is_number, "a number is none")
        return floats

    def _one(self, n: int, value: Any, wire: str) -> Values:  # noqa: ANN401 - JSON
        is_float = wire.startswith("f")
        if value is None:
            _require("?" in wire, "a value must be known")
            if wire.startswith("text"):
                return [None] * n
            value = np.nan if is_float else -1
        elif wire.startswith("text"):
            # This raises for half characters.
            value.encode()
            return [value] * n
        elif is_float:
            _require(type(value) in {int, float} and np.isfinite(float(value)), "a number is none")
        else:
            _require(_is_whole(value), "a number is none")
        return repeated(np.array([value], _FLOAT if is_float else np.int64), n)

    def _whole(self, n: int, kind: str, base: int) -> Integers:
        _require(kind in _WHOLE and _is_whole(base), "a column is of another kind")
        above = self._array(n, _WHOLE[kind])
        _require(kind != "u8" or above.max() <= 2 * LIMITS["value"], "a number is too large")
        values: Integers = above.astype(np.int64) + base
        _require(max(-int(values.min()), int(values.max())) <= LIMITS["value"], "a number is too large")
        return values

    def _texts(self, n: int, n_bytes: int, *lengths_are: Any, is_optional: bool) -> list[str | None]:  # noqa: ANN401 - JSON
        lengths = np.asarray(self.column(n, [*lengths_are], "int?"))
        _require(lengths.min() >= -is_optional, "a text has no length")
        known = np.maximum(lengths, 0)
        _require(_is_whole(n_bytes) and known.sum() == n_bytes, "texts are not as long as they claim")
        self._budget.charge(48 * n + 2 * n_bytes)
        data = self._take(n_bytes).tobytes()
        ends = np.cumsum(known)
        places = zip((ends - known).tolist(), ends.tolist(), strict=True)
        # All at once where each byte is a character; else the cut between two texts may be within one.
        whole = data.decode("ascii") if data.isascii() else None
        texts: list[str | None] = [data[a:b].decode() if whole is None else whole[a:b] for a, b in places]
        for row in np.flatnonzero(lengths < 0).tolist():
            texts[row] = None
        return texts
