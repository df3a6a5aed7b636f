"""Make the data of a page that both languages test: ``python -m tests.support.files.report_fixture``."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from taskscope.recording import Recording
from taskscope.report.embed import data_json, page_path
from tests.support.recordings.spelled_out import recording_of
from tests.support.recordings.task_blocks import Row
from tests.support.wire_decoder import PageReader

PATH = Path(__file__).parents[2] / "fixtures" / "report" / "dense.json"


def dense_recording() -> Recording:
    """Return tasks of every shape: two lanes, two groups, all statuses, keys of three kinds, unknowns.

    One task needs one, one needs two, one needs one of the other lane; the graph of the last is unknown.
    """
    recording = recording_of(
        [
            Row(key=("inc-1", 0, 7), start_s=0.5, stop_s=1.0, cpu_s=0.25, size_bytes=8.0),
            Row(key=("inc-1", 0, 8), start_s=1.25, stop_s=2.0, cpu_s=0.75, size_bytes=8.0),
            Row(key=("inc-1", -70_000, 2_000_000_000), start_s=2.0, stop_s=2.000001),
            Row(key=("add-1",), lane=1, stop_s=3.0, status="erred"),
            Row(key="<b>ünï", lane=1, start_s=3.0, stop_s=3.5, status="interrupted", size_bytes=5e9),
            Row(key=("add-1", 5), lane=1, start_s=5000.0, stop_s=9500.0, observed_by="scheduler"),
            Row(key=("add-1", 6), run=1, lane=2, start_s=9000.0, stop_s=9400.0, status="lost"),
        ]
    )
    needs, edges = np.array([0, 1, 2, 0, 0, 1], "u1"), np.array([0, 0, 1, 4], "i4")
    graphs = {
        0: replace(recording.graphs[0], n_dependencies=needs, edges=edges),
        1: replace(recording.graphs[1], known=False),
    }
    return replace(recording, graphs=graphs)


def dense_data() -> str:
    """Return these tasks as a page has them."""
    recording = dense_recording()
    return data_json(recording, page_path(recording))


def content_of(text: str) -> dict[str, Any]:
    """Return what the first batch of embedded data says."""
    data = json.loads(text)
    content = zlib.decompress(base64.b64decode(data["data"]))
    assert len(content) == data["bytes"]
    return PageReader().read([content])


if __name__ == "__main__":
    PATH.write_text(dense_data() + "\n", encoding="utf-8")
