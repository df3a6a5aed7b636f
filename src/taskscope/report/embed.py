"""The data and the script of the interactive Gantt chart, packed so that hostile keys stay text."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from functools import lru_cache
from importlib.resources import files

from taskscope.analysis.page_tables import recorded_messages
from taskscope.model.recording import RecordedData
from taskscope.report.dense import dense_tasks, page_tick_s
from taskscope.report.dense_links import PackedLinks
from taskscope.wire import BUFFERS

__all__ = ["count_tasks", "data_json", "escaped_json", "report_script", "script_hash"]

_LEVEL = 9


def report_script(recording: RecordedData, *, has_profile: bool = False) -> str | None:
    """Return the front end for a recording as one script; None in a source tree that was not built.

    Where a cluster was watched, or the page has a profile, it is a larger one.
    """
    has_cluster = len(recording.activities.rows) or recording.workers
    return _script(f"report{'-cluster' if has_cluster else ''}{'-profile' if has_profile else ''}.js")


@lru_cache(maxsize=4)
def _script(name: str) -> str | None:
    script = files("taskscope").joinpath("static", name)
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


def count_tasks(recording: RecordedData) -> int:
    """Return how many tasks a recording holds."""
    return sum(map(len, recording.blocks))


def data_json(recording: RecordedData, links: PackedLinks | None = None) -> str:
    """Return the recording as JSON for a ``<script type="application/json">``.

    It holds the feed's messages without their buffers, and these in one piece: those of tasks rewritten (see
    `taskscope.report.dense`), all deflated, in base64; and `links`. ``<``, ``>`` and ``&`` are
    escaped, so that no key can end the element.
    """
    entries, contents = [], []
    tick_s = page_tick_s(recording)
    for recorded in recorded_messages(recording):
        tasks = dense_tasks(recorded.rows, recorded.buffers[: len(BUFFERS)], tick_s)
        entries.append({"message": recorded.message, "start_s": tasks.start_s, "tick_s": tasks.tick_s})
        contents += [tasks.content, *recorded.buffers[len(BUFFERS) :]]
    content = b"".join(contents)
    data = base64.b64encode(zlib.compress(content, _LEVEL)).decode("ascii")
    return escaped_json({"messages": entries, "bytes": len(content), "data": data, "links": links})


def escaped_json(value: object) -> str:
    """Return JSON in which no text can end the element that it is in."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
