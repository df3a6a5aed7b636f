"""Files taken apart and put together again, and the cases that both languages read.

``python -m tests.support.files.cases`` writes ``labextension/test/cases/files.json``: a whole file, one that
was cut off, and files whose checksums are right and whose content is to be refused, with why.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from taskscope.codec import END, CutOffError, Decoder, Encoder, Section, budget_for, read_frames
from taskscope.model.streams import FILE
from taskscope.schema import Table

PATH = Path(__file__).parents[3] / "labextension/test/cases/files.json"


@dataclass
class Apart:
    """A file as what it says.

    Parameters
    ----------
    header
        Its first frame, without what the format itself says.
    batches
        The batches.
    kinds
        The kind of each.
    tables
        The tables and columns that its header names.
    """

    header: dict[str, Any]
    batches: list[dict[str, Section]]
    kinds: list[int]
    tables: dict[str, Table] = field(default_factory=lambda: dict(FILE))


def apart(content: bytes) -> Apart:
    """Take a file apart that is complete or cut off."""
    budget = budget_for(len(content))
    decoder = Decoder(FILE, budget)
    found: Apart | None = None
    with suppress(CutOffError):
        for kind, frame in read_frames(BytesIO(content), budget):
            if found is None:
                header = decoder.header(frame)
                found = Apart(header, [], [])
            else:
                found.batches.append(decoder.batch(frame))
                found.kinds.append(kind)
    assert found is not None
    return found


def together(parts: Apart) -> bytes:
    """Return the file, whatever it says, with right checksums."""
    header = dict(parts.header)
    tick_s = header.pop("tick_s", None)
    encoder = Encoder(parts.tables, header, tick_s=tick_s, level=1, stream=7)
    frames = [encoder.header()]
    for kind, batch in zip(parts.kinds, parts.batches, strict=True):
        frames.append(encoder.batch(batch, is_last=kind == END))
    return b"".join(frames)


def changed(content: bytes, table: str, column: str, row: int, value: Any) -> bytes:
    """Return a file in which one value is another one, the first time that the table is told."""
    parts = apart(content)
    batch = next(batch for batch in parts.batches if table in batch)
    columns = dict(batch[table].columns)
    values = list(columns[column])
    values[row] = value
    is_text = any(isinstance(v, str) for v in values)
    columns[column] = values if is_text else np.array(values)
    batch[table] = batch[table]._replace(columns=columns)
    return together(parts)


def without(content: bytes, table: str) -> bytes:
    """Return a file that says nothing of a table."""
    parts = apart(content)
    for batch in parts.batches:
        batch.pop(table, None)
    return together(parts)


def with_header(content: bytes, change: Callable[[dict[str, Any]], dict[str, Any]]) -> bytes:
    """Return a file with another header."""
    parts = apart(content)
    parts.header = change(parts.header)
    return together(parts)


def lacking(content: bytes, table: str, column: str) -> bytes:
    """Return a file that does not have a column."""
    parts = apart(content)
    columns = tuple(c for c in FILE[table].columns if c.name != column)
    parts.tables[table] = replace(FILE[table], columns=columns)
    return together(parts)


def cases() -> dict[str, Any]:
    """Return the cases."""
    folder = Path(__file__).parents[2] / "fixtures" / "files"
    whole = (folder / "v1-whole.taskscope").read_bytes()
    killed = (folder / "v1-killed.taskscope").read_bytes()
    refused: Mapping[str, tuple[bytes, str]] = {
        "a key that is not known": (changed(whole, "tasks", "key", 0, 99), "key must be known"),
        "a lane that is not known": (changed(whole, "tasks", "lane", 0, 9), "lane must be known"),
        "a status that is not known": (changed(whole, "tasks", "status", 0, 5), "status must be known"),
        "an error that is not known": (changed(whole, "tasks", "error", 1, 7), "error must be known"),
        "a task that took less than nothing": (
            changed(whole, "tasks", "duration_s", 0, -1.0),
            "duration_s must not be less than 0",
        ),
        "a group that is not known": (changed(whole, "keys", "group", 0, 77), "group must be known"),
        "a key of no graph": (changed(whole, "keys", "run", 0, 5), "a key is of a graph"),
        "a graph of no run": (without(whole, "runs"), "a graph belongs to a run"),
        "a key of nine integers": (
            changed(whole, "keys", "dims", 0, 9),
            "a key has at most 8 integers, or is text",
        ),
        "a key without its text": (changed(whole, "keys", "dims", 0, 255), "a key that is text has one"),
        "rows that come again": (_shifted(killed, "tasks", -1), "rows come twice"),
        "rows that are missing": (_shifted(killed, "tasks", 1), "rows of tasks follow each other"),
        "a column that must be there": (lacking(whole, "tasks", "status"), "tasks lacks status"),
        "metadata that are none": (changed(whole, "metadata", "text", 0, "{"), "its metadata are no JSON"),
        "a start that is no date": (
            with_header(whole, lambda head: {**head, "started_at": "yesterday"}),
            "it does not say when it was recorded",
        ),
        "a zero that is no time": (
            with_header(whole, lambda head: {**head, "zero_s": 1e308}),
            "zero_s must be a number of seconds",
        ),
        "something behind its end": (whole + b"x", "there is something after its end"),
    }
    return {
        "whole": b64encode(whole).decode(),
        "cut": b64encode(killed).decode(),
        "refused": {name: [b64encode(content).decode(), why] for name, (content, why) in refused.items()},
    }


def _shifted(content: bytes, table: str, by: int) -> bytes:
    """Return a file whose second part of a table has another first row."""
    parts = apart(content)
    _, batch = [batch for batch in parts.batches if table in batch][:2]
    batch[table] = batch[table]._replace(first=batch[table].first + by)
    return together(parts)


def text() -> str:
    """Return the content of the file of cases."""
    return json.dumps(cases(), indent=1) + "\n"


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
