"""What every analysis result has: rows, plain values, text, HTML."""

from __future__ import annotations

import json

import pytest

import taskscope
from taskscope.analysis.result import LEFT, Result, Section
from taskscope.recording import Recording
from tests.support.recordings.spelled_out import recording_of, run_of
from tests.support.recordings.task_blocks import Row


@pytest.fixture
def recording() -> Recording:
    rows = [Row(key=("load<b>-1", i), start_s=float(i), stop_s=i + 0.5) for i in range(4)]
    return recording_of(rows, [run_of(n_tasks=4)])


def results(recording: Recording) -> list[Result]:
    return [
        recording.profile(),
        recording.lines(),
        recording.memory_peak(),
        recording.memory_peak().allocated,
        recording.story("x"),
        taskscope.compare(recording, recording),
        taskscope.runs(),
    ]


def test_each_result_has_rows_for_pandas_plain_values_for_json_text_and_html(recording: Recording) -> None:
    for nothing in (recording, recording_of([])):
        for result in results(nothing):
            assert len(result.to_pandas()) == len(list(next(iter(result.table().values()))))
            json.dumps(result.to_dict(), allow_nan=False)
            assert repr(result) == str(result) != ""
            assert result._repr_html_().startswith('<div class="taskscope-result">')


def test_names_of_tasks_are_escaped_in_html_and_take_the_colours_of_the_page(recording: Recording) -> None:
    html = recording.story("('load<b>-1', 0)")._repr_html_()
    assert "load&lt;b&gt;" in html
    assert "load<b>" not in html
    assert "color" not in html


def test_text_and_html_come_from_the_same_sections() -> None:
    section = Section("two", ("name", "n", "why"), [("a", "1", "it"), ("bb", "20", "")], ["a note"], 1, True)
    assert section.text().split("\n") == [
        "two",
        "",
        "  name   n  why",
        "  a      1  it",
        "  bb    20",
        "",
        "  a note",
    ]
    assert section.html() == (
        f'<div><b>two</b></div><table><thead><tr><th scope="col"{LEFT}>name</th><th scope="col">n</th>'
        f'<th scope="col"{LEFT}>why</th></tr></thead><tbody>'
        f"<tr><td{LEFT}>a</td><td>1</td><td{LEFT}>it</td></tr>"
        f"<tr><td{LEFT}>bb</td><td>20</td><td{LEFT}></td></tr></tbody></table><div>a note</div>"
    )
