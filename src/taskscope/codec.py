r"""Batches of tables as bytes, and back with everything checked: what pages, files and offline pages carry.

::

    stream  = frame 0 (header), frame 1, frame 2, …; in a complete file the last one is of kind END
    frame   = "\x89TSK", format (u8), kind (u8), packed (u8), 0 (u8), stream, number, stored bytes, unpacked
              bytes, CRC-32 of the stored bytes, CRC-32 of these 28 bytes (u32 each), content
    content = of a header JSON, else sections, in the order in which the header names the tables
    section = table (u8), number of rows, number of the first row, number of columns (varints), columns
    column  = head (u8: bits 0-2 planes, 3-4 transform, 5 exceptions, 6-7 kind), what its kind asks for

Numbers are little endian; a varint has seven bits a byte, the low ones first. A column of whole numbers is
what its values have above the least of them, all low bytes first, then all next bytes, with as many of these
planes as most values need; the few that need more follow as places and rests.
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

__all__ = [
    "BATCH",
    "END",
    "FORMAT",
    "HEADER",
    "LIMITS",
    "TICK_S",
    "Budget",
    "CutOffError",
    "Decoder",
    "Encoder",
    "Section",
    "Values",
    "budget_for",
    "is_constant",
    "read_frames",
    "repeated",
]

FORMAT = 1
TICK_S = 1e-7
"""Length of a tick, in which times are told, wherever a stream does not say another."""

HEADER, BATCH, END = range(3)

LIMITS: Mapping[str, int] = {
    "frame": 16 * 2**20,  # bytes that a frame unpacks to
    "header": 2**20,
    "rows": 2**18,  # of a section
    "columns": 256,
    "text": 4096,  # characters
    "value": 2**52,  # so that all sums of these are whole numbers in a browser, too
    "step": 2**34,  # of transforms, in zigzag
    "class": 2**16,  # that rows are of
}
"""What no writer makes more of and no reader takes more of."""

_MAGIC = b"\x89TSK"
_HEAD = struct.Struct("<4sBBBBIIIII")
_CRC = struct.Struct("<I")
_WHOLE, _OPTIONAL, _FLOATS, _TEXTS = range(4)
_PLAIN, _STEPS, _BY = range(3)
_EXCEPTIONS = 32
_MOST = LIMITS["value"] - 1
"""As one more is stored where a value may be unknown."""
_NOTHING = np.zeros(1, np.int64)
_SHORT = 8
"""Columns that are not longer are written without transforms."""

Whole: TypeAlias = NDArray[np.int64]
Values: TypeAlias = NDArray[Any] | Sequence[str | None]


class CutOffError(DamagedFileError):
    """A file ends before its last frame, as one does whose process was killed."""


class Section(NamedTuple):
    """Rows of a table, from row `first` on.

    Columns are arrays or, of texts, lists. Times and durations are seconds, or whole ticks; what is unknown
    is NaN, and None among texts.
    """

    first: int
    columns: Mapping[str, Values]


# ----------------------------------------------------------------------------------------------- writing


class Encoder:
    """Makes the frames of one stream, numbered from 0.

    Parameters
    ----------
    tables
        What it carries, what is referred to before what refers to it.
    header
        What its first frame says besides the tables.
    tick_s
        Seconds of a tick.
    level
        How much zlib is to try, 0: not at all.
    stream
        What all frames are marked with, so that those of another stream are refused; by default random.
    """

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
        self._header = {"format": FORMAT, **header, "tick_s": tick_s}
        self._tick_s = tick_s
        self._level = level
        self._stream = secrets.randbits(32) if stream is None else stream
        self._number = 0

    def header(self) -> bytes:
        """Return the first frame."""
        names = {name: [column.name for column in table.columns] for name, table in self._tables.items()}
        content = json.dumps({**self._header, "tables": names}, default=str, separators=(",", ":")).encode()
        if len(content) > LIMITS["header"]:
            raise ValueError(f"a header of {len(content):,} bytes")
        return self._frame(HEADER, content)

    def batch(self, batch: Mapping[str, Section], *, is_last: bool = False) -> bytes:
        """Return a frame; sections without rows are left out, and beyond `LIMITS` it is a ValueError."""
        content = bytearray()
        for number, (name, table) in enumerate(self._tables.items()):
            if name in batch:
                _section(content, number, table, batch[name], self._tick_s)
        has_texts = any(_has_texts(self._tables[name], section) for name, section in batch.items())
        return self._frame(END if is_last else BATCH, bytes(content), has_texts=has_texts)

    def _frame(self, kind: int, content: bytes, *, has_texts: bool = True) -> bytes:
        if len(content) > LIMITS["frame"]:
            raise ValueError(f"a frame of {len(content):,} bytes")
        stored = _packed(content, self._level, has_texts=has_texts) if self._level else content
        packed = len(stored) < len(content)
        stored = stored if packed else content
        sizes = len(stored), len(content), zlib.crc32(stored)
        head = _HEAD.pack(_MAGIC, FORMAT, kind, packed, 0, self._stream, self._number, *sizes)
        self._number += 1
        return b"".join([head, _CRC.pack(zlib.crc32(head)), stored])


def _has_texts(table: Table, section: Section) -> bool:
    return any(
        column.wire.startswith("text") and not isinstance(section.columns.get(column.name), np.ndarray | None)
        for column in table.columns
    )


def _packed(content: bytes, level: int, *, has_texts: bool) -> bytes:
    # Planes of numbers repeat a byte or nothing: to look for more takes twice the time and wins a twelfth.
    packer = zlib.compressobj(level, strategy=zlib.Z_DEFAULT_STRATEGY if has_texts else zlib.Z_RLE)
    return packer.compress(content) + packer.flush()


def _section(content: bytearray, number: int, table: Table, section: Section, tick_s: float) -> None:
    n = len(section.columns[table.columns[0].name])
    if not n:
        return
    columns = {
        c.name: _stored(c, section.columns[c.name], tick_s) if c.name in section.columns else _none(c, n)
        for c in table.columns
    }
    if n > LIMITS["rows"] or any(len(values) != n for values in columns.values()):
        raise ValueError(f"{n:,} rows of {table.name}, or columns that are not equally long")
    parts = [_column(c, columns, 0) for c in table.columns]
    if sum(map(len, parts)) < n:
        # A byte a row at least, so that nobody has to take more rows than they are given bytes.
        parts[0] = _column(table.columns[0], columns, 1)
    content.append(number)
    for count in (n, section.first, len(parts)):
        _put_varint(content, count)
    content += b"".join(parts)


def _none(column: Column, n: int) -> Values:
    """Return a column in which nothing is known; of texts, their lengths."""
    if not column.optional:
        raise KeyError(column.name)
    return np.full(n, np.nan) if column.wire.startswith("f") else np.full(n, -1, np.int64)


def _stored(column: Column, values: Values, tick_s: float) -> Values:
    """Return texts and floats as they are, and whole numbers as such, -1: unknown."""
    wire = column.wire
    if wire.startswith(("text", "f4", "f8")):
        return values
    array = np.asarray(values, np.float64) if isinstance(values, list | tuple) else np.asarray(values)
    if array.dtype.kind == "f":
        with np.errstate(invalid="ignore", over="ignore"):
            scaled = array / tick_s if wire.startswith(("time", "duration")) else array
            whole = np.rint(np.clip(scaled, -_MOST, _MOST)).astype(np.int64)
        # Where -1 says that it is unknown, a time a tick before the zero is told as the zero.
        known = np.maximum(whole, 0) if column.optional and not column.is_time else whole + (whole == -1)
        return np.where(np.isfinite(array), known, -1) if column.optional else whole
    return array.astype(np.int64, copy=False)


def _column(column: Column, columns: Mapping[str, Values], least: int) -> bytes:
    values, wire, out = columns[column.name], column.wire, bytearray()
    if wire.startswith("text"):
        out.append(_TEXTS << 6)
        if isinstance(values, np.ndarray):
            _put_whole(out, values, least, is_optional=column.optional)
            return bytes(out)
        texts = [None if v is None else v.encode("utf-8", "backslashreplace") for v in values]
        lengths = np.array([-1 if text is None else len(text) for text in texts], np.int64)
        _put_whole(out, lengths, least, is_optional=column.optional)
        out += b"".join(text for text in texts if text)
    elif wire.startswith("f"):
        size = int(wire[1])
        out.append(_FLOATS << 6 | (size == 8))
        with np.errstate(over="ignore"):
            floats = np.asarray(values, np.float64).astype(f"<f{size}")
        floats[~np.isfinite(floats)] = np.nan
        if not column.optional and np.isnan(floats).any():
            raise ValueError(f"{column.name} must be known")
        out += floats.view(np.uint8).reshape(-1, size).T.tobytes()
    else:
        near = (columns[column.by], columns.get(column.plus, _NOTHING)) if column.by else None
        _put_whole(out, np.asarray(values), least, is_optional=column.optional, near=near)
    return bytes(out)


def _put_signed(out: bytearray, n: int) -> None:
    _put_varint(out, -2 * n - 1 if n < 0 else 2 * n)


def _put_varint(out: bytearray, n: int) -> None:
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)


def _put_whole(
    out: bytearray,
    values: Whole,
    least: int = 0,
    *,
    is_optional: bool = False,
    near: tuple[Values, Values] | None = None,
) -> None:
    """Append a column of whole numbers with at least so many planes; `near` has those of `by` and `plus`."""
    kind = _OPTIONAL if is_optional else _WHOLE
    low, high = (int(values[0]),) * 2 if len(values) == 1 else (int(values.min()), int(values.max()))
    if max(-low, high + is_optional) > LIMITS["value"]:
        raise ValueError(f"{low} or {high} is too large")
    if low == high:
        # As most are in a small batch.
        out.append(least | kind << 6)
        _put_signed(out, low + is_optional)
        out += bytes(least * len(values))
        return
    coded = _coded(values + 1 if is_optional else values, near)
    _put_planes(out, coded, max(coded.n_planes, least), kind)


class _Coded(NamedTuple):
    """Whole numbers from 0 on, and what makes values of them."""

    above: Whole
    base: int
    transform: int
    n_planes: int


def _coded(values: Whole, near: tuple[Values, Values] | None) -> _Coded:
    """Return values in the way that takes the fewest planes; steps where these are mostly small."""
    best = _plain(values, is_short=False)
    if best.n_planes < 2 or len(values) <= _SHORT:
        return best
    steps, widest = _zigzag(np.diff(values, prepend=values[:1])), int(values.max()) - int(values.min())
    if int(steps.max()) < LIMITS["step"] and np.count_nonzero(steps > widest // 2) * 16 < len(values):
        best = _Coded(steps, int(values[0]), _STEPS, _n_planes(steps))
    if near is not None:
        found = _by(values, *map(np.asarray, near))
        best = found if found is not None and found.n_planes < best.n_planes else best
    return best


def _plain(values: Whole, *, is_short: bool) -> _Coded:
    low, high = int(values.min()), int(values.max())
    above = values - low if low else values
    return _Coded(above, low, _PLAIN, _width(high - low) if is_short else _n_planes(above))


def _put_planes(out: bytearray, coded: _Coded, n_planes: int, kind: int) -> None:
    rests = coded.above >> (8 * n_planes)
    places = np.flatnonzero(rests)
    out.append(n_planes | coded.transform << 3 | (_EXCEPTIONS if len(places) else 0) | kind << 6)
    _put_signed(out, coded.base)
    if n_planes:
        planes = np.ascontiguousarray(coded.above, "<i8").view(np.uint8).reshape(-1, 8)
        out += planes[:, :n_planes].T.tobytes()
    if len(places):
        _put_varint(out, len(places))
        for column in (places, rests[places]):
            exceptions = _plain(column, is_short=True)
            _put_planes(out, exceptions, exceptions.n_planes, _WHOLE)


def _width(top: int) -> int:
    return (top.bit_length() + 7) // 8


def _n_planes(values: Whole) -> int:
    """Return how many low bytes of the values are to be planes: all but those of a twelfth need no more."""
    n_planes = _width(int(values.max()))
    while (
        n_planes and len(values) > 16 and np.count_nonzero(values >> (8 * n_planes - 8)) * 12 <= len(values)
    ):
        n_planes -= 1
    return n_planes


def _zigzag(values: Whole) -> Whole:
    return (values << 1) ^ (values >> 63)


def _unzigzag(values: Whole) -> Whole:
    signs = values & 1
    np.negative(signs, out=signs)
    signs ^= values >> 1
    return signs


def _by(values: Whole, by: Whole, plus: Whole) -> _Coded | None:
    """Return the steps from the last row of the same class and its `plus`."""
    if plus.min() < 0 or plus.max() >= LIMITS["step"] or by.min() < 0 or by.max() >= LIMITS["class"]:
        return None
    order, starts = _classes(by)
    base = int(values[0] - plus[0])
    before = np.empty_like(values)
    before[order[1:]] = values[order[:-1]]
    before[order[starts]] = base
    steps = _zigzag(values - before - plus)
    return _Coded(steps, base, _BY, _n_planes(steps)) if int(steps.max()) < LIMITS["step"] else None


def _classes(by: Whole) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the places of the rows, those of one class one after the other, and where each class begins."""
    # Of 16 bits, numpy sorts in steps of bits instead of comparing.
    order = np.argsort(by.astype(np.uint16), kind="stable")
    return order, np.flatnonzero(np.diff(by[order], prepend=-1))


# ----------------------------------------------------------------------------------------------- reading


@dataclass(slots=True)
class Budget:
    """How many bytes a stream may still make of what it was given.

    Parameters
    ----------
    left
        The bytes.
    """

    left: int

    def charge(self, n_bytes: int) -> None:
        """Take bytes before they are allocated; a file that wants more is damaged."""
        self.left -= n_bytes
        _require(self.left >= 0, "it unpacks to more than it may; pass a larger max_bytes if you trust it")


def budget_for(n_bytes: int) -> Budget:
    """Return what a stream of so many bytes may unpack to."""
    return Budget(64 * 2**20 + 256 * n_bytes)


def _require(condition: object, problem: str) -> None:
    if not condition:
        raise DamagedFileError(problem)


def read_frames(file: BinaryIO, budget: Budget) -> Iterator[tuple[int, bytes]]:
    """Yield kind and content of every frame, once it is checked and the budget charged with it."""
    kind, number, stream = -1, 0, 0
    while kind != END:
        head = file.read(_HEAD.size + _CRC.size)
        whole = head.ljust(_HEAD.size, b"\0")[: _HEAD.size]
        magic, version, kind, packed, zero, own_stream, own, n_stored, n_bytes, crc = _HEAD.unpack(whole)
        if number == 0:
            is_ours = head and _MAGIC.startswith(head[: len(_MAGIC)])
            _require(is_ours, f"not a recording of taskscope: it begins with {head[:8]!r}")
        if len(head) < _HEAD.size + _CRC.size:
            raise CutOffError(f"it ends before part {number + 1} is complete")
        is_whole = magic == _MAGIC and _CRC.pack(zlib.crc32(whole)) == head[_HEAD.size :]
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
    """Reads the batches of one stream, each after the ones before it.

    Parameters
    ----------
    tables
        What is known; other tables and columns are skipped.
    budget
        What batches may allocate.
    """

    tables: Mapping[str, Table]
    budget: Budget
    tick_s: float = TICK_S
    ends: dict[str, int] = field(default_factory=dict)
    """How many rows there are of each table, those that were dropped included."""
    _announced: list[tuple[str, dict[str, _Known]]] = field(default_factory=list)

    def header(self, content: bytes) -> dict[str, Any]:
        """Take the content of the first frame; return what it says besides the tables."""
        try:
            said: Any = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise DamagedFileError(f"its header is no JSON: {error}") from error
        _require(isinstance(said, dict), "its header is no object")
        _require(
            said.get("format") == FORMAT, "its header is of another version; a newer taskscope may read it"
        )
        tables, tick_s = said.pop("tables", None), said.get("tick_s")
        _require(isinstance(tables, dict) and len(tables) <= 256, "its header names no tables")
        for names in tables.values():
            is_names = isinstance(names, list) and all(isinstance(name, str) for name in names)
            _require(
                is_names and 0 < len(names) <= LIMITS["columns"] and len(set(names)) == len(names),
                "its header names no columns",
            )
        _require(isinstance(tick_s, float) and 1e-12 <= tick_s <= 1, "its header has no tick")
        self.tick_s = float(tick_s)
        self._announced = [(name, _known(self.tables.get(name), names)) for name, names in tables.items()]
        header: dict[str, Any] = said
        return header

    def batch(self, content: bytes) -> dict[str, Section]:
        """Return the sections of a batch: whole numbers as ``i8``, where they may be unknown as ``f8``."""
        reader = _Reader(content, self.budget)
        found: dict[str, Section] = {}
        self.ends.update({name: 0 for name, table in self.tables.items() if table.mode == "whole"})
        last = -1
        while reader.left:
            number, n, first, n_columns = reader.byte(), reader.varint(), reader.varint(), reader.varint()
            _require(last < number < len(self._announced), "its tables are out of order")
            last = number
            name, known = self._announced[number]
            _require(n_columns == len(known), f"{name} has {n_columns} columns, not {len(known)}")
            _require(0 < n <= LIMITS["rows"] and n <= reader.left, f"{name} claims {n:,} rows")
            table = self.tables.get(name)
            columns: dict[str, Values] = {}
            for column, as_known in known.items():
                values = reader.column(n, as_known, columns)
                if as_known.column is not None:
                    columns[column] = values
            if table is not None:
                found[name] = self._checked(table, first, n, columns, known)
        return found

    def _checked(
        self, table: Table, first: int, n: int, stored: dict[str, Values], known: dict[str, _Known]
    ) -> Section:
        _require(first >= (self.ends.get(table.name, 0) if table.mode == "append" else 0), "rows come twice")
        _require(first + n <= LIMITS["value"], f"{table.name} has too many rows")
        self.ends[table.name] = first + n
        columns = {}
        for c in table.columns:
            _require(c.optional or c.name in stored, f"{table.name} lacks {c.name}")
            columns[c.name] = (
                self._meant(c, known[c.name].wire, stored[c.name]) if c.name in stored else _unknown(c, n)
            )
        return Section(first, columns)

    def _meant(self, column: Column, wire: str, values: Values) -> Values:
        if wire.startswith(("text", "f")):
            return values
        whole = np.asarray(values)
        if is_constant(whole):
            return repeated(np.asarray(self._meant(column, wire, whole[:1].copy())), len(whole))
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


def _unknown(column: Column, n: int) -> Values:
    return [None] * n if column.wire.startswith("text") else np.full(n, np.nan)


class _Known(NamedTuple):
    """A column of a stream, as far as this reader knows it."""

    column: Column | None
    wire: str


def _known(table: Table | None, names: Sequence[str]) -> dict[str, _Known]:
    columns = {} if table is None else {c.name: c for c in table.columns}
    return {
        name: _Known(columns[name], columns[name].wire) if name in columns else _Known(None, "")
        for name in names
    }


def is_constant(values: NDArray[Any]) -> bool:
    """Whether an array is one number that was said once."""
    return len(values) > 1 and values.strides == (0,)


def repeated(value: NDArray[Any], n: int) -> NDArray[Any]:
    """Return an array in which the one value stands `n` times, in memory for one."""
    values: NDArray[Any] = np.ndarray((n,), value.dtype, value, strides=(0,))
    values.setflags(write=False)
    return values


class _Reader:
    """Takes what a batch is made of, against what is left of it."""

    def __init__(self, content: bytes, budget: Budget) -> None:
        self._content = content
        self._at = 0
        self._budget = budget

    @property
    def left(self) -> int:
        return len(self._content) - self._at

    def take(self, n: int) -> NDArray[np.uint8]:
        _require(n <= self.left, "a batch ends early")
        self._at += n
        return np.frombuffer(self._content, np.uint8, n, self._at - n)

    def byte(self) -> int:
        _require(self._at < len(self._content), "a batch ends early")
        self._at += 1
        return self._content[self._at - 1]

    def varint(self) -> int:
        n = shift = 0
        while True:
            byte = self.byte()
            n |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return n
            _require(shift < 56, "a number is too long")

    def column(self, n: int, known: _Known, before: Mapping[str, Values]) -> Values:
        """Return a column as it is stored; one that is not known is only read over."""
        head = self.byte()
        kind = head >> 6
        column, wire = known
        is_optional = column is None or column.optional
        if kind == _FLOATS:
            return self._floats(n, head, wire, is_optional=is_optional)
        if kind == _TEXTS:
            return self._texts(n, head, wire, is_optional=is_optional)
        _require(not wire.startswith(("text", "f")), "a column is of another kind")
        _require(is_optional or kind == _WHOLE, "what must be known is not")
        near = None
        if column is not None and column.by in before and (not column.plus or column.plus in before):
            near = np.asarray(before[column.by]), np.asarray(before.get(column.plus, _NOTHING))
        whole = self._whole(n, head, near, is_known=column is not None)
        if kind != _OPTIONAL:
            return whole
        return repeated(whole[:1] - 1, n) if is_constant(whole) else whole - 1

    def _floats(self, n: int, head: int, wire: str, *, is_optional: bool) -> NDArray[np.floating[Any]]:
        size = 8 if head & 1 else 4
        _require(head & 62 == 0 and wire.strip("?") in {"", f"f{size}"}, "a column is of another kind")
        self._budget.charge(8 * n)
        values: NDArray[np.floating[Any]] = self._planes(n, size, size).view(f"<f{size}").reshape(n)
        _require(
            not np.isinf(values).any() and (is_optional or not np.isnan(values).any()), "a number is none"
        )
        return values

    def _planes(self, n: int, n_planes: int, width: int) -> NDArray[np.uint8]:
        """Return numbers of so many bytes, each in a row."""
        planes = self.take(n * n_planes).reshape(n_planes, n)
        parts = np.zeros((n, width), np.uint8)
        for place in range(n_planes):
            # Five times as fast as all at once.
            parts[:, place] = planes[place]
        return parts

    def _texts(self, n: int, head: int, wire: str, *, is_optional: bool) -> list[str | None]:
        _require(head & 63 == 0 and (not wire or wire.startswith("text")), "a column is of another kind")
        head = self.byte()
        _require(head >> 6 == _WHOLE or (is_optional and head >> 6 == _OPTIONAL), "a text has no length")
        lengths = self._whole(n, head, None) - (head >> 6)
        _require(lengths.min() >= -1 + (head >> 6 == _WHOLE), "a text has no length")
        known = np.maximum(lengths, 0)
        total = int(known.sum()) if int(known.max()) <= self.left else self.left + 1
        if not total and lengths.max() < 0:
            self._budget.charge(8 * n)
            return [None] * n
        _require(total <= self.left, "a batch ends early")
        self._budget.charge(64 * n + 2 * total)
        data = self.take(total).tobytes()
        try:
            # All at once where each byte is a character; what a text begins with may not end the one before.
            ends = np.cumsum(known)
            places = zip((ends - known).tolist(), ends.tolist(), strict=True)
            texts: list[str | None]
            if data.isascii():
                whole = data.decode("ascii")
                texts = [whole[a:b] for a, b in places]
            else:
                texts = [data[a:b].decode() for a, b in places]
        except UnicodeDecodeError as error:
            raise DamagedFileError(f"a text is none: {error}") from error
        if lengths.min() < 0:
            for row in np.flatnonzero(lengths < 0).tolist():
                texts[row] = None
        is_short = int(known.max()) <= LIMITS["text"]
        longest = 0 if is_short else max(len(text) for text in texts if text is not None)
        _require(longest <= LIMITS["text"], "a text is too long")
        return texts

    def _whole(
        self,
        n: int,
        head: int,
        near: tuple[Whole, Whole] | None,
        *,
        is_known: bool = True,
        is_plain: bool = False,
    ) -> Whole:
        n_planes, transform = head & 7, head >> 3 & 3
        _require(transform <= _BY and not (is_plain and head >> 3), "a column is of a kind that is not known")
        self._budget.charge(8 * n)
        coded = self.varint()
        base = -(coded + 1 >> 1) if coded & 1 else coded >> 1
        _require(abs(base) <= LIMITS["value"], "a number is too large")
        if not head & ~(3 << 6) and is_known:
            return repeated(np.array([base]), n)
        above: Whole = self._planes(n, n_planes, 8).view("<i8").reshape(n)
        if head & _EXCEPTIONS:
            m = self.varint()
            _require(0 < m <= min(n, self.left), "a column has too many exceptions")
            places, rests = (self._whole(m, self.byte(), None, is_plain=True) for _ in range(2))
            is_ascending = places[0] >= 0 and places[-1] < n and (np.diff(places) > 0).all()
            _require(is_ascending and rests.min() > 0, "its exceptions are out of order")
            _require(rests.max() <= 2 * LIMITS["value"] >> 8 * n_planes, "a number is too large")
            above[places] += rests << 8 * n_planes
        is_small = n_planes < 7 and not head & _EXCEPTIONS
        _require(is_small or above.max() <= 2 * LIMITS["value"], "a number is too large")
        if not is_known:
            return above
        if transform == _PLAIN:
            above += base
            values = above
        else:
            values = self._summed(above, base, transform, near)
        if is_small and transform == _PLAIN and abs(base) < _MOST >> 1:
            return values
        _require(max(-int(values.min()), int(values.max())) <= LIMITS["value"], "a number is too large")
        return values

    def _summed(self, above: Whole, base: int, transform: int, near: tuple[Whole, Whole] | None) -> Whole:
        _require(above.max() < LIMITS["step"], "a step is too large")
        steps = _unzigzag(above)
        if transform == _STEPS:
            values = np.cumsum(steps, out=steps)
            values += base
            return values
        if near is None:
            raise DamagedFileError("a column follows one that is not known")
        by, plus = near
        _require(plus.min() >= 0 and plus.max() < LIMITS["step"], "a step is too large")
        _require(by.min() >= 0 and by.max() < LIMITS["class"], "a row is of no class")
        order, starts = _classes(by)
        steps += plus
        sums = np.cumsum(steps[order])
        before = np.concatenate(([0], sums[starts[1:] - 1]))
        sums -= np.repeat(before - base, np.diff(starts, append=len(by)))
        steps[order] = sums
        return steps
