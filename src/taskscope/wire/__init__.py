"""Messages to the browser: batches as frames of `taskscope.codec`, and links as JSON."""

from __future__ import annotations

from taskscope.wire.batch import (
    PART_ROWS,
    PROTOCOL,
    Batch,
    PageEncoder,
    Rows,
    batch_message,
    cuts,
    encode_links,
    wire_text,
    worker_tables,
)

__all__ = [
    "PART_ROWS",
    "PROTOCOL",
    "Batch",
    "PageEncoder",
    "Rows",
    "batch_message",
    "cuts",
    "encode_links",
    "wire_text",
    "worker_tables",
]
