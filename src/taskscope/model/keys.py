"""Dask keys: their group, their prefix, their text, and a compact column of many of them.

A key may be any nesting of ``str``, ``bytes``, ``int``, ``float`` and ``tuple``, and is hostile text. The
terms are Dask's own: ``('random_sample-3f2a', 0, 1)`` has the *group* ``random_sample-3f2a`` and the
*prefix* ``random_sample``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain
from typing import TypeAlias, cast

import numpy as np
from dask.utils import key_split
from numpy.typing import NDArray

from taskscope.model.dataframes import text_column

MAX_TEXT = 4096
"""Longest text that recordings, files and pages have, in characters."""

TEXT = 255
"""The value of `KeyBlock.dims` that marks a key kept as text."""

_MAX_DIMS = 200
_DIM_TEXT = 13
"""Longest text of a whole number in a key, with what separates it from the one before."""
_INT_MIN, _INT_MAX = -(2**31), 2**31 - 1
_MAX_NAMES = 10_000
_OTHER = "Other"

_split = getattr(key_split, "__wrapped__", key_split)
"""Dask's function without its cache, which keeps 100,000 keys, however long: here each is split once."""

Key: TypeAlias = object


def key_text(key: Key) -> str:
    """Return a key as text that any encoder accepts.

    Strings stay as they are, other keys are their ``repr``; see `plain_text`.

    Examples
    --------
    >>> key_text(("x-1", 0, 2))
    "('x-1', 0, 2)"
    """
    return plain_text(str.__str__(key) if isinstance(key, str) else repr(key))


def plain_text(text: str) -> str:
    r"""Return a text that any encoder accepts, of at most `MAX_TEXT` characters.

    Lone surrogates are escaped. A longer text is cut, and ends with its length and a digest, so that texts
    that differ stay different.

    Examples
    --------
    >>> plain_text("a\ud800b")
    'a\\ud800b'
    """
    if not text.isascii():
        text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    if len(text) <= MAX_TEXT:
        return text
    digest = blake2b(text.encode(), digest_size=8).hexdigest()
    end = f"…[{len(text)} characters, {digest}]"
    return text[: MAX_TEXT - len(end)] + end


def split_key(key: Key) -> tuple[str, str]:
    """Return the group and the prefix of a key, by Dask's own `dask.utils.key_split`.

    Examples
    --------
    >>> split_key(("random_sample-0123456789abcdef0123456789abcdef", 3))
    ('random_sample-0123456789abcdef0123456789abcdef', 'random_sample')
    >>> split_key("inc-0123456789abcdef0123456789abcdef")
    ('inc', 'inc')
    """
    try:
        if type(key) is tuple and key and type(key[0]) is str and not key[0].startswith("("):
            return key_text(key[0]), key_text(_split(key[0]))
        prefix = _split(key)
    except Exception:  # noqa: BLE001 - key_split raises anything for odd keys, and Dask then still computes them
        return _OTHER, _OTHER
    prefix = key_text(prefix)
    return prefix, prefix


@dataclass(frozen=True, slots=True, eq=False)
class KeyBlock:
    """Many keys, compactly: a group and integers where a key is a tuple, else text."""

    dims: NDArray[np.uint8]
    ints: NDArray[np.int32]
    texts: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.dims)

    def take(self, rows: NDArray[np.integer]) -> KeyBlock:
        """Return the keys of these rows, in this order."""
        dims = self.dims[rows]
        if len(self.dims) and self.dims[0] != TEXT and (self.dims == self.dims[0]).all():
            # Nearly every graph of a collection; the general way needs 16 bytes per key of scratch.
            return KeyBlock(dims, self.ints.reshape(len(self.dims), -1)[rows].ravel(), ())
        is_text = self.dims == TEXT
        lengths = np.where(is_text, 0, self.dims).astype(np.int64)
        int_starts = np.cumsum(lengths) - lengths
        text_places = np.cumsum(is_text) - 1
        counts = lengths[rows]
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        ints = self.ints[np.repeat(int_starts[rows], counts) + within]
        return KeyBlock(dims, ints, tuple(self.texts[i] for i in text_places[rows][is_text[rows]].tolist()))

    @staticmethod
    def concat(blocks: Sequence[KeyBlock]) -> KeyBlock:
        """Return the keys of all blocks, in order."""
        return KeyBlock(
            np.concatenate([np.empty(0, np.uint8), *(b.dims for b in blocks)]),
            np.concatenate([np.empty(0, np.int32), *(b.ints for b in blocks)]),
            tuple(chain.from_iterable(b.texts for b in blocks)),
        )

    def to_text(self, group_names: Sequence[str]) -> NDArray[np.object_]:
        """Return each key's text; `group_names` holds the name of every row's group."""
        heads = {name: f"({name!r}," for name in set(group_names)}
        row_heads = text_column([heads[name] for name in group_names])
        ends = np.cumsum(np.where(self.dims == TEXT, 0, self.dims), dtype=np.int64)
        found = np.empty(len(self), object)
        found[self.dims == TEXT] = text_column(self.texts)
        for dims in set(np.flatnonzero(np.bincount(self.dims)).tolist()) - {TEXT}:
            rows = np.flatnonzero(self.dims == dims)
            ints = [self.ints[ends[rows] - place].tolist() for place in range(dims, 0, -1)]
            form = f"%s {', '.join(['%d'] * dims)})" if dims else "%s)"
            found[rows] = list(map(form.__mod__, zip(row_heads[rows].tolist(), *ints, strict=True)))
        return found

    def iter_keys(self, group_names: Sequence[str], kinds: frozenset[type]) -> Iterator[Key]:
        """Yield each key as it was, of a graph whose keys are of these types.

        A key longer than `MAX_TEXT`, or with a float that is not finite, is yielded as its text; a text
        that reads like a key of another of these types is yielded as that.
        """
        ints, texts = iter(self.ints.tolist()), iter(self.texts)
        only_texts = kinds <= {str}
        for dims, name in zip(self.dims.tolist(), group_names, strict=True):
            if dims != TEXT:
                yield (name, *[next(ints) for _ in range(dims)])
            else:
                yield next(texts) if only_texts else _parsed(next(texts), kinds)


def _parsed(text: str, kinds: frozenset[type]) -> Key:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    return value if type(value) in kinds and repr(value) == text else text


class KeyBuilder:
    """Grows a `KeyBlock` slice by slice."""

    def __init__(self) -> None:
        self._dims = bytearray()
        self._ints: list[NDArray[np.int32]] = []
        self._texts: list[str] = []
        self._plain_names: dict[str, bool] = {}

    def extend(self, keys: Sequence[Key]) -> None:
        """Append keys, fast where all are tuples of a name and integers, as collections have them."""
        if set(map(type, keys)) == {tuple} and self._are_compact(cast("Sequence[tuple[object, ...]]", keys)):
            compact = cast("Sequence[tuple[object, ...]]", keys)
            self._dims.extend(len(k) - 1 for k in compact)
        else:
            compact = []
            for key in keys:
                if type(key) is tuple and self._are_compact((key,)):
                    self._dims.append(len(key) - 1)
                    compact.append(key)
                else:
                    self._dims.append(TEXT)
                    self._texts.append(key_text(key))
        flat = cast("list[int]", list(chain.from_iterable(k[1:] for k in compact)))
        self._ints.append(np.array(flat, dtype=np.int32))

    def _are_compact(self, keys: Sequence[tuple[object, ...]]) -> bool:
        if not all(keys) or max(map(len, keys)) - 1 > _MAX_DIMS:
            return False
        if not all(map(self._is_plain, {k[0] for k in keys})):
            return False
        flat = list(chain.from_iterable(k[1:] for k in keys))
        if not {int}.issuperset(map(type, flat)):
            return False
        numbers = cast("list[int]", flat)
        return not numbers or (min(numbers) >= _INT_MIN and max(numbers) <= _INT_MAX)

    def _is_plain(self, name: object) -> bool:
        if type(name) is not str:
            return False
        known = self._plain_names.get(name)
        if known is None:
            has_room = len(repr(name)) + _DIM_TEXT * _MAX_DIMS <= MAX_TEXT
            known = has_room and not name.startswith("(") and key_text(name) == name
            if len(self._plain_names) < _MAX_NAMES:
                self._plain_names[name] = known
        return known

    def build(self) -> KeyBlock:
        self._ints = [np.concatenate([np.empty(0, np.int32), *self._ints])]
        return KeyBlock(np.frombuffer(bytes(self._dims), np.uint8), self._ints[0], tuple(self._texts))


def key_block(keys: Sequence[Key]) -> KeyBlock:
    """Return the keys as a compact block.

    Examples
    --------
    >>> key_block([("x-1", 0), "y"]).to_text(["x-1", "y"]).tolist()
    ["('x-1', 0)", 'y']
    """
    builder = KeyBuilder()
    builder.extend(keys)
    return builder.build()
