"""One stream with every table and every kind of column, and crafted batches, for the browser's decoder, too.

To write it: ``python -m tests.support.golden_stream``.
"""

from __future__ import annotations

import io
import json
import math
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from taskscope.codec import BATCH, Budget, CutOffError, Decoder, Encoder, Section, budget_for, read_frames
from taskscope.model.streams import PAGE
from taskscope.schema import Column, Table

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
    elif kind.startswith("time"):
        values = 123_456 * i - 5_000
    else:
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
            first = ends.get(name, 0) if table.mode in {"append", "restart"} else 0
            ends[name] = first + n
            batch[name] = Section(first, {c.name: _values(c, n, first, ends) for c in table.columns})
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

    def batch(*tables: Any, data: bytes = b"") -> bytes:
        return described({"tables": list(tables)}, data)

    def errors(*column: Any, n: Any = 1, first: Any = 0) -> list[Any]:
        return ["errors", first, n, [["text", *column]]]

    def estimates(*column: Any, n: int = 1) -> list[Any]:
        times = [[name, 0, 1] for name in ("stop_s", "earliest_s", "latest_s", "n_unseen")]
        return ["estimates", 0, n, [["run", *column], *times]]

    error = errors("text", ["e"])
    return {
        "no description": b"",
        "a description that is longer than the batch": (99).to_bytes(4, "little") + b"{}",
        "a description that is no JSON": (2).to_bytes(4, "little") + b"{x",
        "a description that is no object": (2).to_bytes(4, "little") + b"[]",
        "a table twice": batch(error, error),
        "a column twice": batch(["errors", 0, 1, [["text", "text", ["e"]]] * 2]),
        "a table without columns": batch(["errors", 0, 1, []]),
        "no rows": batch(errors("text", [], n=0)),
        "a half row": batch(errors("text", ["e"], n=1.5)),
        "more rows than any frame": batch(errors("text", ["e"], n=2**18 + 1)),
        "a first row below 0": batch(errors("text", ["e"], first=-1)),
        "a column of no kind": batch(errors("u3", 0), data=b"abc"),
        "a column of half a byte": batch(estimates(0.5, 0, n=2), data=b"a"),
        "a column that must be there": batch(["groups", 0, 1, [["name", "text", ["g"]]]]),
        "a batch that ends in a column": batch(estimates(2, 0), data=b"e"),
        "a batch that goes on": batch(error, data=b"e"),
        "a text of the wrong kind": batch(errors(1, 0), data=b"\0"),
        "a text that is none": batch(errors("text", [7])),
        "a text that must be known": batch(errors("text", [None])),
        "more texts than rows": batch(errors("text", ["e", "e"])),
        "a number that must be known": batch(estimates(0, None)),
        "a number that is a text": batch(estimates("text", ["7"])),
        "a number that is half": batch(estimates(0, 0.5)),
        "a width that is a truth": batch(estimates(False, 1)),
        "a base that is too large": batch(estimates(1, 2**53), data=b"\0"),
        "a number that is too large": batch(estimates(7, 0), data=b"\xff" * 7),
        "a number that is too wide": batch(estimates(8, 0), data=b"\0" * 8),
        "a row that comes before all": batch(["tasks", -5, 1, [["key", 0, 0]]]),
    }


def described(description: Any, data: bytes = b"") -> bytes:
    """Return the content of a batch."""
    said = json.dumps(description).encode()
    return len(said).to_bytes(4, "little") + said + data


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


def read(
    stream: bytes, tables: Mapping[str, Table] = PAGE, budget: Budget | None = None
) -> list[dict[str, Section]]:
    """Return all batches; a stream without an end is one whose process was killed."""
    budget = budget or budget_for(len(stream))
    decoder = Decoder(tables, budget)
    found = []
    try:
        for kind, content in read_frames(io.BytesIO(stream), budget):
            if kind:
                found.append(decoder.batch(content))
            else:
                decoder.header(content)
    except CutOffError:
        pass
    return found


if __name__ == "__main__":
    PATH.write_text(golden(read(b"".join(frames()))), encoding="utf-8")
