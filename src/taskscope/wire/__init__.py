"""Messages to the browser: batches as frames of `taskscope.codec`, and links as JSON."""

from __future__ import annotations

from taskscope.wire.batch import (
    MAX_TEXT,
    PART_ROWS,
    PROTOCOL,
    Batch,
    LinksRow,
    PageEncoder,
    Rows,
    batch_message,
    changed_workers,
    cuts,
    encode_links,
    key_columns,
    progress_columns,
    record_columns,
    text_bytes,
    wire_text,
    worker_tables,
)

__all__ = [
    "MAX_TEXT",
    "PART_ROWS",
    "PROTOCOL",
    "Batch",
    "LinksRow",
    "PageEncoder",
    "Rows",
    "batch_message",
    "changed_workers",
    "cuts",
    "encode_links",
    "key_columns",
    "progress_columns",
    "record_columns",
    "text_bytes",
    "wire_text",
    "worker_tables",
]
