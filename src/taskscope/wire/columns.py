"""Rows as the columns of a stream's tables, by name; texts as streams take them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from taskscope.codec import is_constant, repeated
from taskscope.model.keys import TEXT, KeyBlock
from taskscope.model.streams import ALL, MAX_KEY_INTS, STREAMED
from taskscope.model.tables.records import PrefixProgress
from taskscope.model.tables.workers import WorkerSample
from taskscope.schema import Rows

Columns: TypeAlias = Mapping[str, Any]
Fit: TypeAlias = Callable[[str], str]
"""Shortens a text."""

MAX_TEXT = 512
"""Longest text on a page, in characters; longer ones are cut and end in an ellipsis."""


def wire_text(text: str, most: int = MAX_TEXT) -> str:
    r"""Return `text` cut to so many characters, with lone surrogates escaped.

    Examples
    --------
    >>> wire_text("a\ud800b")
    'a\\ud800b'
    """
    if len(text) > most:
        text = f"{text[:most]}…"
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


file_text = partial(wire_text, most=4096)
"""Returns text as a file takes it."""


def record_columns(table: str, records: Sequence[object], fit: Fit) -> dict[str, Any]:
    """Return the fields of records that are columns of the table."""
    columns: dict[str, Any] = {}
    for column in ALL[table].columns:
        if not (column.page or column.file) or (records and not hasattr(records[0], column.name)):
            continue
        values = [getattr(record, column.name) for record in records]
        if column.choices:
            columns[column.name] = column.places(values)
        elif column.kind == "text":
            columns[column.name] = [None if value is None else fit(value) for value in values]
        else:
            columns[column.name] = values
    return columns


def progress_columns(rows: Sequence[PrefixProgress], fit: Fit) -> dict[str, Any]:
    """Return the columns of progress."""
    names = ("scheduled_s", "asked", "is_all", "queued", "waiting", "no_worker")
    scheduled = [(None,) * len(names) if row.scheduled is None else astuple(row.scheduled) for row in rows]
    columns = record_columns("progress", rows, fit)
    return columns | {name: [row[i] for row in scheduled] for i, name in enumerate(names)}


def key_columns(
    keys: KeyBlock, group: NDArray[np.uint32], n: int, names: Sequence[str], fit: Fit
) -> dict[str, Any]:
    """Return the columns of the first `n` keys; `names` are the groups' names."""
    dims = keys.dims[:n]
    if n and dims[0] <= MAX_KEY_INTS and (dims == dims[0]).all():
        # Nearly every batch of a collection.
        parts, none = keys.ints[: n * int(dims[0])].reshape(n, -1), repeated(np.zeros(1, np.int64), n)
        return {
            "dims": repeated(dims[:1], n),
            **{f"i{i}": parts[:, i] if i < dims[0] else none for i in range(MAX_KEY_INTS)},
        }
    is_text = dims == TEXT
    lengths = np.where(is_text, 0, dims).astype(np.int64)
    starts = np.cumsum(lengths) - lengths
    texts: list[str | None] = [None] * n
    for row, text in zip(np.flatnonzero(is_text).tolist(), keys.texts, strict=False):
        texts[row] = fit(text)
    long = np.flatnonzero(~is_text & (dims > MAX_KEY_INTS))
    if len(long):
        of = [names[number] for number in group[long].tolist()]
        for row, text in zip(long.tolist(), keys.take(long).iter_text(of), strict=True):
            texts[row] = fit(text)
        dims = np.where(dims > MAX_KEY_INTS, TEXT, dims)
        lengths[long] = 0
    columns: dict[str, Any] = {"dims": dims, "key_text": texts}
    for i in range(MAX_KEY_INTS):
        rows = np.flatnonzero(lengths > i)
        columns[f"i{i}"] = np.zeros(n, np.int64)
        columns[f"i{i}"][rows] = keys.ints[starts[rows] + i]
    return columns


def row_columns(rows: Rows) -> dict[str, Any]:
    """Return the columns of rows by the names that they have in a stream."""
    return {STREAMED.get(name, name): values for name, values in rows.arrays().items()}


class KnownWorkers:
    """The workers whose rows a stream has, by address."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, str, str, int]] = {}

    def columns(self, samples: Sequence[WorkerSample], fit: Fit) -> tuple[Columns, Columns]:
        """Return the columns of workers that are new or have changed, and of samples."""
        changed = [(number, fit(a), fit(b), n) for number, a, b, n in self._changed(samples)]
        names = [column.name for column in ALL["workers"].columns]
        workers = {name: [row[i] for row in changed] for i, name in enumerate(names)}
        numbers = [self._known[sample.worker][0] for sample in samples]
        return workers, record_columns("worker_samples", samples, fit) | {"worker": numbers}

    def _changed(self, samples: Iterable[WorkerSample]) -> list[tuple[int, str, str, int]]:
        changed: dict[str, tuple[int, str, str, int]] = {}
        for sample in samples:
            before = self._known.get(sample.worker)
            number = len(self._known) if before is None else before[0]
            # A worker that has left keeps its threads.
            n_threads = before[3] if before is not None and not sample.n_threads else sample.n_threads
            row = (number, sample.worker, sample.name, n_threads)
            if row != before:
                changed[sample.worker] = self._known[sample.worker] = row
        return list(changed.values())


PART_ROWS = 65_536
"""Most rows of a table in one part."""

_PART_BYTES = 3 * 2**20


def cuts(columns: Mapping[str, Any], n: int) -> list[int]:
    """Return the ends of parts of `n` rows that are of bounded size; the last one is `n`."""
    texts = [values for values in columns.values() if _is_text(values)]
    if not texts:
        return [*range(PART_ROWS, n, PART_ROWS), n]
    sizes = np.sum([[len(t) * (1 if t.isascii() else 4) if t else 0 for t in v] for v in texts], axis=0)
    if int(sizes.sum()) < _PART_BYTES:
        return [*range(PART_ROWS, n, PART_ROWS), n]
    sums, found, at = np.cumsum(sizes), [], 0
    while at < n:
        before = int(sums[at - 1]) if at else 0
        last = int(np.searchsorted(sums, before + _PART_BYTES, "right"))
        at = min(max(last, at + 1), at + PART_ROWS, n)
        found.append(at)
    return found


def bytes_of(columns: Mapping[str, Any], n: int) -> int:
    """Return about how many bytes `n` rows take at most, of which columns of one number take none."""
    n_columns = sum(not (isinstance(v, np.ndarray) and is_constant(v)) for v in columns.values())
    texts = (text for values in columns.values() if _is_text(values) for text in values if text)
    return 4 * n * n_columns + sum(len(text) * (1 if text.isascii() else 4) for text in texts)


def _is_text(values: object) -> bool:
    return isinstance(values, list) and any(isinstance(value, str) for value in values)
