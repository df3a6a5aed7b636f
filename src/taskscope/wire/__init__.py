"""What crosses the wire to the browser: batches as frames of `taskscope.codec`, and links as JSON."""

from __future__ import annotations

from taskscope.wire.batch import (
    LAST_GROUP,
    LAST_LANE,
    ActivityPart,
    Batch,
    ClusterPart,
    HeldPart,
    PageEncoder,
    ResourcesPart,
    WorkerPart,
    changed_workers,
    key_columns,
)
from taskscope.wire.links import PROTOCOL, LinksRow, encode_links
from taskscope.wire.text import MAX_TEXT, wire_text

__all__ = [
    "LAST_GROUP",
    "LAST_LANE",
    "MAX_TEXT",
    "PROTOCOL",
    "ActivityPart",
    "Batch",
    "ClusterPart",
    "HeldPart",
    "LinksRow",
    "PageEncoder",
    "ResourcesPart",
    "WorkerPart",
    "changed_workers",
    "encode_links",
    "key_columns",
    "wire_text",
]
