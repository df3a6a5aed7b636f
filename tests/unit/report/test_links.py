"""What an offline page has of dependencies, and what it says where it has none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from taskscope.recording import Recording
from taskscope.report import result_bundle
from taskscope.report.embed import data_json, links_note
from taskscope.report.page import page_html
from tests.support.files.report_fixture import content_of
from tests.support.recordings.spelled_out import recording_of
from tests.support.recordings.task_blocks import Row

NOTE = "Dependencies of tasks are left out here: they are more than"


def scattered(n_edges: int) -> Recording:
    """Return 1,000 tasks whose dependencies follow no pattern."""
    n = 1000
    recording = recording_of([Row(key=("a-1", i), start_s=i, stop_s=i + 1.0) for i in range(n)])
    edges = np.random.default_rng(0).integers(0, n, n_edges).astype("i4")
    needs = np.full(n, n_edges // n, "u4")
    return replace(recording, graphs={0: replace(recording.graphs[0], n_dependencies=needs, edges=edges)})


def test_a_page_has_all_dependencies_by_rows_of_its_keys_or_none() -> None:
    recording = scattered(1000)
    found = content_of(data_json(recording))["tables"]
    assert [(row["key"], row["dependency"]) for row in found["dependencies"]] == [
        *enumerate(recording.graphs[0].edges.tolist())
    ]
    assert (found["graphs"][-1]["run"], found["graphs"][-1]["is_known"]) == (0, 1)
    left_out = content_of(data_json(recording, has_links=False))["tables"]
    assert (left_out["dependencies"], left_out["graphs"]) == ([], [])


def test_too_many_dependencies_are_left_out_and_the_page_says_so() -> None:
    few, many = scattered(1000), scattered(101_000)
    assert links_note(100_000) == (
        "<p>Dependencies of tasks are left out here: they are more than 100,000. Widgets of the"
        " recording and its <code>.taskscope</code> file in JupyterLab show them.</p>"
    )
    assert [NOTE in result_bundle(each)["text/html"] for each in (few, many)] == [False, True]
    assert [NOTE in page_html(each) for each in (few, many)] == [False, False]
