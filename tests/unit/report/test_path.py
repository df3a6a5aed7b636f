"""The critical path that a page carries: steps by its rows, or why there is none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taskscope.report.embed import data_json, page_path
from tests.support.files.report_fixture import content_of
from tests.support.recordings.spelled_out import recording_of, run_of
from tests.support.recordings.task_blocks import Row

ROWS = [
    Row(key="c-1", lane=1, start_s=2.5, stop_s=4.0),
    Row(key="a-1", start_s=1.0, stop_s=2.0),
    Row(key="b-1", lane=1, start_s=1.0, stop_s=2.25),
]


def test_it_has_prefix_and_row_of_each_task_and_the_cause_of_each_wait() -> None:
    recording = recording_of(ROWS, runs=(run_of(0, n_tasks=3, stop_s=4.5),))
    # The last one needs the first two.
    needs, edges = np.array([2, 0, 0], "u1"), np.array([1, 2], "i4")
    recording = replace(
        recording, graphs={0: replace(recording.graphs[0], n_dependencies=needs, edges=edges)}
    )
    tables = content_of(data_json(recording, page_path(recording)))["tables"]
    names = [row["text"] for row in tables["path_names"]]
    start, *steps = tables["path"]
    assert start == {"stop_s": 0.0, "name": None, "is_wait": 1, "row": None}
    assert [(row["stop_s"], names[int(row["name"])], row["is_wait"], row["row"]) for row in steps] == [
        (1.0, "graph", 1, None),
        (2.25, "b", 0, 2.0),
        (2.5, "dispatch", 1, None),
        (4.0, "c", 0, 0.0),
        (4.5, "results", 1, None),
    ]


def test_where_it_is_left_out_it_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    recording = recording_of(ROWS)
    found = [
        page_path(recording_of([])),
        page_path(recording_of(ROWS, runs=(run_of(0, n_tasks=3, stop_s=None, status="running"),))),
    ]
    with monkeypatch.context() as few:
        few.setattr("taskscope.analysis.display.page_tables.MAX_STEPS", 2)
        found.append(page_path(recording))
    monkeypatch.setattr("taskscope.report.embed.MAX_EXPLAINED", 2)
    found.append(page_path(recording))
    assert found == [
        "no Dask computation ran here",
        "these computes still ran",
        (
            "the critical path has 3 steps, a page shows one of at most 2;"
            " recording.critical_path() has no such limit"
        ),
        "a page has it of at most 2 tasks, here are 3; recording.critical_path() has no such limit",
    ]
