"""What crosses the wire to the browser: protocol 1, one batch message and its binary buffers."""

from __future__ import annotations

from taskscope.wire.batch import Batch, encode_batch
from taskscope.wire.cluster import ActivityPart, ClusterPart, WorkerPart
from taskscope.wire.links import encode_links
from taskscope.wire.schema import BUFFERS, LAST_GROUP, PROTOCOL, BatchMessage
from taskscope.wire.series import HeldPart, ResourcesPart
from taskscope.wire.tasks import LAST_LANE, EncodedTasks, encode_tasks
from taskscope.wire.text import MAX_TEXT, wire_text

__all__ = [
    "BUFFERS",
    "LAST_GROUP",
    "LAST_LANE",
    "MAX_TEXT",
    "PROTOCOL",
    "ActivityPart",
    "Batch",
    "BatchMessage",
    "ClusterPart",
    "EncodedTasks",
    "HeldPart",
    "ResourcesPart",
    "WorkerPart",
    "encode_batch",
    "encode_links",
    "encode_tasks",
    "wire_text",
]
