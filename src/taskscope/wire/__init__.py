"""What crosses the wire to the browser: batches as frames of `taskscope.codec`, and links as JSON."""

from __future__ import annotations

from taskscope.wire.batch import (
    LAST_GROUP,
    LAST_LANE,
    ActivityPart,
    Batch,
    CachePart,
    ClusterPart,
    MeteredPart,
    PageEncoder,
    ResourcesPart,
    WorkerPart,
    batch_message,
    changed_workers,
    key_columns,
)
from taskscope.wire.links import PROTOCOL, LinksRow, encode_links
from taskscope.wire.parts import PART_ROWS, cuts, text_bytes
from taskscope.wire.text import MAX_TEXT, wire_text

__all__ = [
    "LAST_GROUP",
    "LAST_LANE",
    "MAX_TEXT",
    "PART_ROWS",
    "PROTOCOL",
    "ActivityPart",
    "Batch",
    "CachePart",
    "ClusterPart",
    "LinksRow",
    "MeteredPart",
    "PageEncoder",
    "ResourcesPart",
    "WorkerPart",
    "batch_message",
    "changed_workers",
    "cuts",
    "encode_links",
    "key_columns",
    "text_bytes",
    "wire_text",
]
