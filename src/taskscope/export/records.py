"""Rows of small tables as frames of JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from taskscope.export.pack import pack_json

__all__ = ["record_frames"]

_RECORDS_BYTES = 4 * 2**20


def record_frames(table: str, rows: Iterable[Mapping[str, object]]) -> Iterator[tuple[str, bytes]]:
    """Yield the frames of rows of a small table, of about four megabytes at most; none for no rows."""
    texts: list[bytes] = []
    size = 0
    for row in rows:
        texts.append(pack_json(row))
        size += len(texts[-1])
        if size > _RECORDS_BYTES:
            yield _records(table, texts)
            texts, size = [], 0
    if texts:
        yield _records(table, texts)


def _records(table: str, texts: Sequence[bytes]) -> tuple[str, bytes]:
    return "RECS", b'{"table":%s,"rows":[%s]}' % (pack_json(table), b",".join(texts))
