"""One stream with every table and every kind of column, and crafted batches, for the browser's decoder, too.

To write it: ``python -m tests.support.golden_stream``.
"""

from __future__ import annotations

import json
import math
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from taskscope.codec import BATCH, Encoder, Section
from taskscope.model.streams import PAGE
from taskscope.schema import Column

PATH = Path(__file__).parents[2] / "labextension/test/cases/codec.json"
STREAM = 0x1234ABCD
HEADER = {"recorder": "r", "epoch": "r-1", "zero_s": 0.0}

_TEXTS = ("", "x", "('x', 0)", "é🎉\n", "a" * 300)


def _values(column: Column, n: int, first: int, ends: Mapping[str, int]) -> Any:
    """Return n values, small and large, of every kind that the column may have."""
    kind, _, bound = column.wire.partition(" ")
    i = np.arange(first, first + n)
    if kind.startswith("text"):
        return [None if column.optional and k % 3 == 2 else _TEXTS[k % len(_TEXTS)] for k in i.tolist()]
    if kind.startswith("f"):
        return np.where(i % 5 == 4, np.nan, i / 3)
    if bound:
        most = int(bound[2:]) if bound.startswith("<") else max(ends[bound[3:]], 1)
        values = i % most
    elif column.by:
        values = 10**9 + 10_000 * i + i % 7
    elif kind.startswith("time"):
        values = 123_456 * i - 5_000
    else:
        # Few are large, so these are exceptions.
        values = np.where(i % 40 == 39, 10**12 + i, i * i % 1000)
    return np.where(i % 4 == 3, -1, np.abs(values)) if column.optional else values


def batches() -> list[dict[str, Section]]:
    """Return two batches; the second goes on where the first ends, and some of its tables are empty."""
    ends: dict[str, int] = {}
    found: list[dict[str, Section]] = []
    for counts in (
        {"state": 1, "groups": 3, "lanes": 5, "tasks": 200, "worker_samples": 60},
        {"state": 1, "groups": 2, "runs": 1, "tasks": 17, "resources": 300},
    ):
        batch = {}
        for name, table in PAGE.items():
            n = counts.get(name, 20 if len(found) == 0 else 0)
            first = ends.get(name, 0) if table.mode == "append" else 0
            ends[name] = first + n
            batch[name] = Section(first, {c.name: _values(c, n, first, ends) for c in table.columns})
        if found:
            # Nothing refers to errors where there are none.
            batch["tasks"].columns["error"][:] = -1  # type: ignore[index]  # an array
        found.append(batch)
    return found


def plain(section: Section) -> dict[str, Any]:
    """Return decoded rows as JSON has them."""
    columns = {}
    for name, values in section.columns.items():
        listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
        columns[name] = [None if isinstance(v, float) and math.isnan(v) else v for v in listed]
    return {"first": section.first, "columns": columns}


def frames() -> list[bytes]:
    """Return the frames of the stream."""
    encoder = Encoder(PAGE, HEADER, stream=STREAM)
    return [encoder.header(), *(encoder.batch(batch) for batch in batches())]


def crafted() -> dict[str, bytes]:
    """Return first batches that are to be refused, whose checksums are right, by what is wrong with them."""
    names = list(PAGE)
    groups, errors = names.index("groups"), names.index("errors")

    def section(table: int, n: int, columns: bytes, first: int = 0, n_columns: int = 1) -> bytes:
        return bytes([table, *_varint(n), *_varint(first), n_columns]) + columns

    text = bytes([0xC0, 0x00, 0x02])  # of one byte
    error = section(errors, 1, text + b"e")
    return {
        "a table that is not known": section(200, 1, text + b"e"),
        "tables out of order": error + section(groups, 1, text + b"g" + text + b"p", n_columns=2),
        "a table twice": error + error,
        "too many columns": section(errors, 1, (text + b"e") * 2, n_columns=2),
        "no rows": section(errors, 0, b""),
        "more rows than bytes": section(errors, 1000, bytes([0xC0, 0x00, 0x00])),
        "a batch that ends in a text": section(errors, 1, bytes([0xC0, 0x00, 0x04]) + b"e"),
        "a batch that ends in a number": bytes([errors, 0x80]),
        "a number of nine bytes": bytes([errors, *[0x80] * 8, 1]),
        "no text": section(errors, 1, text + b"\xff"),
        "a text of the wrong kind": section(errors, 1, bytes([0x00, 0x02])),
        "a text that must be known": section(errors, 1, bytes([0xC0, 0x40, 0x00])),
        "a text that is too long": section(errors, 1, bytes([0xC0, 0x00, *_varint(2 * 4097)]) + b"e" * 4097),
        "a length below 0": section(errors, 1, bytes([0xC0, 0x00, 0x01])),
        "a transform that is not known": section(errors, 1, bytes([0xC0, 0x18, 0x02]) + b"e"),
        "a transform without what it goes by": section(errors, 1, bytes([0xC0, 0x10, 0x02]) + b"e"),
        "reserved bits": section(errors, 1, bytes([0xC1, 0x00, 0x02]) + b"e"),
        "a base that is too large": section(errors, 1, bytes([0xC0, 0x00, *_varint(2**54)])),
        "no exceptions": section(errors, 1, bytes([0xC0, 0x20, 0x02, 0x00]) + b"e"),
        "more exceptions than rows": section(
            errors, 1, bytes([0xC0, 0x20, 0x02, 0x02, 0x01, 0, 0, 1, 0x00, 2]) + b"e"
        ),
        "an exception outside": section(errors, 1, bytes([0xC0, 0x20, 0x02, 0x01, 0x00, 2, 0x00, 2]) + b"ee"),
        "exceptions within exceptions": section(
            errors, 1, bytes([0xC0, 0x20, 0x02, 0x01, 0x20, 0, 1, 0, 0, 0, 2, 0, 2]) + b"e"
        ),
        "an exception of nothing": section(
            errors, 1, bytes([0xC0, 0x20, 0x02, 0x01, 0x00, 0, 0x00, 0]) + b"e"
        ),
    }


def _varint(n: int) -> bytes:
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes([*out, n])


def framed(content: bytes) -> bytes:
    """Return a stream of the header and this batch."""
    encoder = Encoder(PAGE, HEADER, stream=STREAM)
    return encoder.header() + encoder._frame(BATCH, content)


def golden(decoded: list[dict[str, Section]]) -> str:
    """Return the content of the file."""
    content = {
        "header": HEADER,
        "frames": [b64encode(frame).decode() for frame in frames()],
        "batches": [{name: plain(section) for name, section in batch.items()} for batch in decoded],
        "refused": {why: b64encode(framed(content)).decode() for why, content in crafted().items()},
    }
    return _lines(content, depth=3) + "\n"


def _lines(value: Any, depth: int) -> str:
    """Return JSON, what is nested deeper on one line."""
    if depth and isinstance(value, dict):
        inner = ",\n".join(f"{json.dumps(name)}: {_lines(v, depth - 1)}" for name, v in value.items())
        return f"{{\n{inner}\n}}"
    if depth and isinstance(value, list):
        inner = ",\n".join(_lines(v, depth - 1) for v in value)
        return f"[\n{inner}\n]"
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


if __name__ == "__main__":
    from tests.unit.test_codec import read

    PATH.write_text(golden(read(b"".join(frames()))), encoding="utf-8")
