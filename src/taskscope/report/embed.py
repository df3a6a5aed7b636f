"""The data and the script of the interactive Gantt chart, packed so that hostile keys stay text."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files

from taskscope.analysis.ended import prefix_progress
from taskscope.model.recording import Recording
from taskscope.model.records import TaskBlock
from taskscope.report.compact import CompactTables, compact_tables, take_rows
from taskscope.report.dense import DenseTasks, dense_tasks
from taskscope.wire import Batch, BatchMessage, encode_batch

__all__ = ["count_tasks", "data_json", "report_script", "script_hash"]

_ROWS_PER_MESSAGE = 100_000
_LEVEL = 9


@lru_cache(maxsize=1)
def report_script() -> str | None:
    """Return the front end as one script; None in a source tree that was not built."""
    script = files("taskscope").joinpath("static", "report.js")
    try:
        text = script.read_text(encoding="utf-8")
    except OSError:
        return None
    # A closing tag inside of a string literal would end the element the script is embedded in.
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def script_hash(script: str) -> str:
    """Return the Content-Security-Policy source that allows exactly this script."""
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def count_tasks(recording: Recording) -> int:
    """Return how many tasks a recording holds."""
    return sum(map(len, recording.blocks))


def data_json(recording: Recording) -> str:
    """Return the recording as JSON for a ``<script type="application/json">``.

    It holds the feed's messages without their buffers, and these in one piece: rewritten (see
    `taskscope.report.dense`), deflated, in base64. ``<``, ``>`` and ``&`` are escaped, so that no key can end
    the element.
    """
    entries, contents = [], []
    for message, tasks in _messages(recording):
        entries.append({"message": message, "start_s": tasks.start_s, "tick_s": tasks.tick_s})
        contents.append(tasks.content)
    content = b"".join(contents)
    data = base64.b64encode(zlib.compress(content, _LEVEL)).decode("ascii")
    text = json.dumps(
        {"messages": entries, "bytes": len(content), "data": data}, allow_nan=False, separators=(",", ":")
    )
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _messages(recording: Recording) -> Iterator[tuple[BatchMessage, DenseTasks]]:
    compact = compact_tables(recording)
    n_tasks = len(compact.tasks)
    first, seq = 0, 0
    while first < n_tasks or seq == 0:
        rows = take_rows(compact.tasks, slice(first, first + _ROWS_PER_MESSAGE))
        message, buffers = encode_batch(_batch(recording, compact, rows, first=first, seq=seq))
        yield message, dense_tasks(rows, buffers)
        first, seq = first + message["count"], seq + 1


def _batch(recording: Recording, compact: CompactTables, rows: TaskBlock, *, first: int, seq: int) -> Batch:
    head = seq == 0
    return Batch(
        recorder="static",
        epoch="static-0",
        seq=seq,
        now_s=recording.now_s - recording.zero_s,
        active=False,
        final=True,
        first=first,
        cursor=len(compact.tasks),
        dropped=0,
        tasks=rows,
        groups=compact.groups if head else (),
        lanes=compact.lanes if head else (),
        runs=compact.runs if head else (),
        progress=prefix_progress(recording) if head else (),
        messages=compact.messages if head else (),
        running=compact.running,
    )
