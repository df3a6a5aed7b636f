"""Golden messages: written here from records, read by the browser's decoder in vitest.

Run with ``TASKSCOPE_WRITE_FIXTURES=1`` after a deliberate change of the protocol.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
from dataclasses import fields
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from taskscope.model.tables.cache_usage import CacheRows
from taskscope.model.tables.process import ResourceRows
from taskscope.model.tables.records import (
    STATUSES,
    Estimate,
    Group,
    Lane,
    Message,
    PrefixProgress,
    Run,
    RunningTask,
)
from taskscope.model.tables.workers import Scheduled
from taskscope.wire import batch_message
from tests.support.recordings.page_writing import PageFrames
from tests.support.recordings.task_blocks import Row

FOLDER = Path(__file__).parents[2] / "fixtures" / "wire"

GROUPS = (Group(0, "sum-1a2b", "sum", 3), Group(1, "it's-\"é\\", "it's", 0), Group(2, "inc", "inc"))
LANES = (Lane(0, "main", 11, "thread 1"), Lane(1, "main", 12, "thread 2"))
RUN = Run(0, "qr", "Cell [1]", "threads", 2, 4, 0.5, None, "running", None, 1)

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "lone \ud800 surrogate",
    "bidi \u202egnp.exe",
    "nul \x00 and \u2028 line",
    "é" * 5000,
    "🂡" * 600,
    "",
)

CASES: dict[str, list[Row]] = {
    "tuple_keys": [
        Row(key=("sum-1a2b", 0, 0), start_s=0.5, stop_s=1.5, cpu_s=0.5, size_bytes=8.0),
        Row(key=("sum-1a2b", 0, -1), start_s=0.75, stop_s=1.25, lane=1, cpu_s=0.5, size_bytes=0.0),
        Row(key=("it's-\"é\\", 2147483647), start_s=1.5, stop_s=1.5, group=1, cpu_s=0.0, size_bytes=1e9),
        Row(key=("sum-1a2b",), start_s=2.0, stop_s=2.000001, cpu_s=0.0, size_bytes=8e12),
    ],
    "text_keys": [
        Row(key="inc", group=2, start_s=0.0, stop_s=0.001, cpu_s=0.001, size_bytes=28.0),
        Row(key=("sum-1a2b", 3), start_s=0.001, stop_s=0.002, cpu_s=0.001, size_bytes=28.0),
        Row(key=("inc", 1.5, "a"), group=2, start_s=0.002, stop_s=0.003, cpu_s=0.0, size_bytes=28.0),
        Row(key=b"inc", group=2, start_s=0.003, stop_s=0.004, cpu_s=0.0, size_bytes=28.0),
        Row(key=("inc", 2**40), group=2, start_s=0.004, stop_s=0.005, cpu_s=0.0, size_bytes=28.0),
    ],
    "hostile_keys": [
        Row(key=key, group=2, start_s=i, stop_s=i + 0.5, cpu_s=0.25, size_bytes=1.0)
        for i, key in enumerate(HOSTILE)
    ],
    "unknown_cost": [
        Row(key=("sum-1a2b", 0), cpu_s=math.nan, size_bytes=math.nan),
        Row(key=("sum-1a2b", 1), cpu_s=0.0, size_bytes=0.0),
    ],
    "statuses": [
        Row(key=("sum-1a2b", i), lane=i % 2, status=status, start_s=i, stop_s=i + 1.0)
        for i, status in enumerate(STATUSES[:4])
    ],
    "errors": [
        Row(key=("sum-1a2b", 0), status="erred", error="ValueError: no"),
        Row(key=("sum-1a2b", 1)),
        Row(key=("sum-1a2b", 2), status="erred", error="<img src=x onerror=alert(1)> \ud800 \u202e"),
        Row(key=("sum-1a2b", 3), status="lost", error="KilledWorker: " + "x" * 600),
        Row(key=("sum-1a2b", 4), status="interrupted"),
        Row(key=("sum-1a2b", 5), status="erred", error="ValueError: no"),
    ],
    "scheduler_observed": [
        Row(key=("sum-1a2b", 0), observed_by="scheduler", status="erred", lane=1),
        Row(key=("sum-1a2b", 1), observed_by="worker"),
    ],
    "empty": [],
    "series": [],
    "dropped_rows": [
        Row(key=("sum-1a2b", 9), start_s=5000.0, stop_s=5000.25, run=1),
        Row(key=("sum-1a2b", 8), start_s=4999.0, stop_s=4999.5, run=2),
    ],
}


SAMPLES = [
    (0.5, math.nan, 1e9, 1, 0),
    (0.75, 187.5, 1.25e9, 3, 0),
    (3.0, 50.0, 2.0**40, 70_000, 1),
]
HELD = CacheRows(
    run=np.array([0, 0, 0, 1], "i4"),
    group=np.array([0, 1, 0, 2], "u4"),
    time=np.array([0.5, 0.75, 0.75, 0.625]),
    n_keys=np.array([1, 2, 0, 4_000_000_000], "u4"),
    nbytes=np.array([8e12, 1024.0, 0.0, 0.0]),
    n_unsized=np.array([0, 1, 0, 4_000_000_000], "u4"),
    value=np.array([0.0, 0.0, 0.0, 2.5]),
    n_unvalued=np.array([1, 2, 0, 3], "u4"),
)


def expected_series(name: str) -> dict[str, Any]:
    """Say independently of the encoder what a reader must find."""
    if name != "series":
        return {"samples": [], "held": []}
    held = [getattr(HELD, f.name).tolist() for f in fields(HELD)]
    return {
        "samples": [[None if math.isnan(v) else v for v in row] for row in SAMPLES],
        "held": [list(row) for row in zip(*held, strict=True)],
    }


def message_of(name: str, rows: list[Row]) -> bytes:
    first = 1_000 if name == "dropped_rows" else 0
    page = PageFrames.begun("rec-1", "rec-1-1")
    page.state = {
        "now_s": 6000.0,
        "active": name != "empty",
        "final": name == "empty",
        "n_tasks": first + len(rows),
        "n_dropped": first,
    }
    page.add_groups(GROUPS)
    page.add_records("lanes", LANES)
    page.add_runs([RUN], [None])
    page.replace_records("messages", [Message(0.5, "info", "hello")])
    page.add_row_tasks(first, rows)
    page.add_progress([PrefixProgress(0, "sum", 9, 2, 1, 1, 0, 0.75, Scheduled(5999.5, 5, True, 1, 2, 1))])
    if name == "series":
        page.state |= {"n_cores": 2, "limit_bytes": 2**33}
        page.add_rows("resources", ResourceRows.of(SAMPLES), 7)
        page.add_rows("cache", HELD, 100)
    page.set_live({0: Estimate(6001.5, 6000.75, 6004.0, 2)}, {}, {})
    running = [RunningTask(0, 1, 0, "('sum-1a2b', 5)", 5.5), RunningTask(0, None, 2, "inc", 5.75)]
    page.set_running(running)
    return page.message()


def key_of(row: Row) -> str:
    """Say independently of the encoder what a reader must show."""
    return shown(row.key if isinstance(row.key, str) else repr(row.key))


def shown(text: str) -> str:
    text = text.encode("utf-8", "backslashreplace").decode()
    end = f"…[{len(text)} characters, {hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}]"
    return text if len(text) <= 4096 else text[: 4096 - len(end)] + end


def fixture_of(name: str, rows: list[Row]) -> dict[str, Any]:
    with patch("taskscope.codec.secrets.randbits", return_value=1):
        buffers = [message_of(name, rows)]
    return {
        "message": batch_message(),
        "buffers": [base64.b64encode(buffer).decode() for buffer in buffers],
        "expect": {
            "keys": [key_of(row) for row in rows],
            "start_s": [row.start_s for row in rows],
            "stop_s": [row.stop_s for row in rows],
            "status": [STATUSES.index(row.status) for row in rows],
            "lanes": [row.lane for row in rows],
            "prefixes": [GROUPS[row.group].prefix for row in rows],
            "observed": [row.observed_by for row in rows],
            "errors": [None if row.error is None else shown(row.error) for row in rows],
            "cpu_s": [None if math.isnan(row.cpu_s) else row.cpu_s for row in rows],
            "size_bytes": [None if math.isnan(row.size_bytes) else row.size_bytes for row in rows],
            "runs": [row.run for row in rows],
            **expected_series(name),
        },
    }


@pytest.mark.parametrize("name", CASES)
def test_golden_message_is_what_the_encoder_says(name: str) -> None:
    text = json.dumps(fixture_of(name, CASES[name]), indent=1, allow_nan=False) + "\n"
    path = FOLDER / f"{name}.json"
    if os.environ.get("TASKSCOPE_WRITE_FIXTURES"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text
