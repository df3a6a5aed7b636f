"""Widgets shown in a front end that has never heard of taskscope: nbclient here, as VS Code would be."""

from __future__ import annotations

import re
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

WIDGET = "application/vnd.jupyter.widget-view+json"
HINT = "For the interactive view, install taskscope where Jupyter itself runs, and reload the page."
SETUP = """
import dask, threading
import taskscope
from taskscope import CacheWidget, Dashboard, GanttWidget, ProgressWidget, ResourceWidget
KINDS = ProgressWidget, GanttWidget, ResourceWidget, CacheWidget, Dashboard
gate = threading.Event()
def wait(i):
    gate.wait(30)
    return i
def compute(n):
    return sum(dask.compute(*[dask.delayed(wait)(i) for i in range(n)]))
"""


def executed(*cells: str) -> list[list[dict[str, Any]]]:
    """Return the outputs of the cells as a notebook would keep them."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in (SETUP, *cells)])
    NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
    return [cell.outputs for cell in notebook.cells[1:]]


@pytest.fixture(scope="module")
def alone() -> list[list[dict[str, Any]]]:
    return executed(
        # A front end that runs notebooks is gone after their last cell, so the picture must be right by then.
        "live = [kind() for kind in KINDS]\nfor widget in live: display(widget)",
        "threading.Timer(0.5, gate.set).start()\ncompute(4)",
        "for widget in live: widget.close()",
        "with taskscope.profile(display=False) as run: compute(3)\nrun.recording",
        "for kind in KINDS: display(kind(run.recording))",
        "taskscope.ProgressWidget()",
    )


def test_each_live_widget_shows_a_picture_that_has_followed_the_compute(
    alone: list[list[dict[str, Any]]],
) -> None:
    shown = alone[0]
    assert [sorted(output["data"]) for output in shown] == [["text/html", "text/plain"]] * 5
    line = r"taskscope · finished · 4 of 4 tasks \(100%\) · 0 running · [\d.]+ m?s elapsed"
    assert [bool(re.fullmatch(line, output["data"]["text/plain"])) for output in shown] == [True] * 5, shown
    for output in shown:
        html = output["data"]["text/html"]
        assert ("<img alt=" in html, HINT in html) == (True, True)


def test_a_widget_as_the_value_of_a_cell_waits_in_words(alone: list[list[dict[str, Any]]]) -> None:
    (output,) = alone[5]
    assert output["data"]["text/plain"] == "taskscope · waiting for a Dask compute"
    assert HINT in output["data"]["text/html"]


def test_a_recording_and_each_widget_of_it_is_the_static_result(alone: list[list[dict[str, Any]]]) -> None:
    outputs = [*alone[3], *alone[4]]
    titles = [output["data"]["text/plain"].splitlines()[0] for output in outputs]
    assert titles == ["taskscope · finished · threads · 2 workers · 1 compute · 3 tasks"] * 6
    assert [sorted(output["data"]) for output in outputs] == [["text/html", "text/plain"]] * 6
