"""What an offline page has of dependencies, and what it says where it has none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from taskscope.recording import Recording
from taskscope.report.embed import links_note, pack_links
from taskscope.report.page import page_html
from taskscope.report.result import result_html
from tests.support.files.report_fixture import dense_data, links_of
from tests.support.recordings.spelled_out import recording_of
from tests.support.recordings.task_blocks import Row

NOTE = "Dependencies of tasks are left out here: they would take more than"


def planes(*values: int) -> bytes:
    return np.array(values, "<u4").view("u1").reshape(-1, 4).T.tobytes()


def scattered(n_edges: int) -> Recording:
    """Return 1,000 tasks whose dependencies follow no pattern."""
    n = 1000
    recording = recording_of([Row(key=("a-1", i), start_s=i, stop_s=i + 1.0) for i in range(n)])
    edges = np.random.default_rng(0).integers(0, n, n_edges).astype("i4")
    needs = np.full(n, n_edges // n, "u4")
    return replace(recording, graphs={0: replace(recording.graphs[0], n_dependencies=needs, edges=edges)})


def test_each_dependency_is_how_many_rows_before_it_is() -> None:
    assert links_of(dense_data()) == b"".join(
        [
            planes(0, 0, 1, 2, 0, 1, 0),
            planes(0, 0, 0, 0, 0, 0, 2**32 - 1),
            planes(0, 0, 0, 0, 0, 0, 0),
            planes(2, 4, 2, 2),
        ]
    )


def test_too_many_dependencies_are_left_out_and_the_page_says_so() -> None:
    few, many = scattered(1000), scattered(100_000)
    assert [pack_links(few, 100_000) is None, pack_links(few, 1000) is None] == [False, True]
    assert links_note(None, 100_000) == (
        "<p>Dependencies of tasks are left out here: they would take more than 0.1 MB. Widgets of the"
        " recording and its <code>.taskscope</code> file in JupyterLab show them.</p>"
    )
    assert [NOTE in result_html(few), NOTE in result_html(many)] == [False, True]
    assert [NOTE in page_html(few), NOTE in page_html(many)] == [False, False]


def test_dependencies_that_could_not_shrink_enough_are_not_tried() -> None:
    assert pack_links(scattered(100_000), 9000) is None
