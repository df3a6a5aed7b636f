"""Widgets in VS Code: live over their own comms, by scripts that were installed."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from playwright.sync_api import Locator, expect

from tests.browser.vscode.conftest import Notebook

OpenNotebook: TypeAlias = Callable[..., Notebook]

LOAD = """
import os, time, dask
from IPython.display import display
from taskscope import Dashboard, GanttWidget, ProgressWidget
%load_ext taskscope
def held(i):
    while i >= 4 and not os.path.exists({go!r}):
        time.sleep(0.01)
    return i
def compute():
    dask.compute([dask.delayed(held)(i) for i in range(8)], scheduler="threads", num_workers=8)
"""
WIDGETS = "display(ProgressWidget(), Dashboard())\ncompute()"


def loaded(notebook: Notebook, folder: Path) -> Path:
    """Load taskscope; return the file whose presence lets half of each compute end."""
    go = folder / "go"
    notebook.run(LOAD.format(go=str(go)), 0)
    return go


def bars(notebook: Notebook, cell: int) -> Locator:
    return notebook.page.locator(f"#cell-{cell}").get_by_role("progressbar", name="Finished tasks")


def follow(notebook: Notebook, cell: int, go: Path, n_bars: int) -> None:
    """See a cell that runs half done in each bar, then see it end."""
    expect(bars(notebook, cell)).to_have_count(n_bars)
    for n, release in (4, go.touch), (8, notebook.wait):
        for bar in bars(notebook, cell).all():
            expect(bar).to_have_attribute("aria-valuenow", str(n))
        assert n == 8 or not go.exists()
        release()


def test_two_widgets_are_live_while_their_cell_runs_by_one_stream_of_binary_messages(
    open_notebook: OpenNotebook, tmp_path: Path
) -> None:
    notebook = open_notebook()
    go = loaded(notebook, tmp_path)
    notebook.start(WIDGETS, 1)
    follow(notebook, 1, go, 2)
    batches = notebook.seen("batches")
    assert ({batch["isBinary"] for batch in batches}, len({batch["comm"] for batch in batches})) == (
        {True},
        1,
    )
    assert "comm_open" not in notebook.seen("sent")


def test_a_cell_that_runs_again_is_live_again_and_its_first_widgets_are_closed(
    open_notebook: OpenNotebook, tmp_path: Path
) -> None:
    notebook = open_notebook()
    go = loaded(notebook, tmp_path)
    # The widget that sent so far is closed, and for a while there is none.
    close = "for shown in globals().get('shown', []): shown.close()\n"
    cell = f"{close}shown = [ProgressWidget(), Dashboard()]\ndisplay(*shown)\ncompute()"
    for _ in range(2):
        notebook.start(cell, 1)
        follow(notebook, 1, go, 2)
        go.unlink()
    notebook.run(close, 2)
    notebook.start("display(ProgressWidget())\ncompute()", 3)
    follow(notebook, 3, go, 1)


def test_profile_shows_the_dashboard_while_its_cell_runs_and_then_the_static_result(
    open_notebook: OpenNotebook, tmp_path: Path
) -> None:
    notebook = open_notebook()
    go = loaded(notebook, tmp_path)
    for _ in range(2):
        notebook.start("%%profile\ncompute()", 1)
        expect(bars(notebook, 1)).to_have_attribute("aria-valuenow", "4")
        go.touch()
        notebook.wait()
        expect(notebook.page.locator("#cell-1 .taskscope-result")).to_be_visible()
        expect(bars(notebook, 1)).to_have_count(0)
        go.unlink()


def test_every_widget_shows_its_chart_and_a_recording_too(
    open_notebook: OpenNotebook, tmp_path: Path
) -> None:
    notebook = open_notebook()
    loaded(notebook, tmp_path).touch()
    notebook.run("compute()\nfrom taskscope import *\nimport taskscope", 1)
    kinds = ["ProgressWidget", "GanttWidget", "ResourceWidget", "CacheWidget", "FlameWidget", "Dashboard"]
    notebook.run(f"display({', '.join(f'{kind}()' for kind in kinds)})", 2)
    notebook.run("with taskscope.profile(display=False) as run: compute()\nDashboard(run.recording)", 3)
    expect(notebook.page.locator("#cell-2 .tsk-body:has(.tsk-chart)")).to_have_count(len(kinds))
    expect(notebook.page.locator("#cell-2 .tsk-note:visible")).to_have_count(0)
    expect(bars(notebook, 2)).to_have_count(2)
    expect(bars(notebook, 3)).to_have_attribute("aria-valuenow", "8")


def test_charts_have_the_colours_of_a_dark_theme_and_follow_another(
    open_notebook: OpenNotebook, tmp_path: Path
) -> None:
    notebook = open_notebook(theme="dark")
    loaded(notebook, tmp_path).touch()
    notebook.run("display(Dashboard())\ncompute()", 1)
    charts = notebook.page.locator("#cell-1 .tsk-chart")
    expect(charts.first).to_be_visible()
    for theme, paper in ("dark", "rgb(31, 31, 31)"), ("light", "rgb(255, 255, 255)"):
        notebook.page.evaluate(f"document.body.className = 'vscode-{theme}'")
        for chart in charts.all():
            expect(chart).to_have_css("background-color", paper)
            has_class = expect(chart).to_have_class if theme == "dark" else expect(chart).not_to_have_class
            has_class(re.compile("tsk-dark"))


def test_the_static_result_has_the_ground_of_the_theme(open_notebook: OpenNotebook, tmp_path: Path) -> None:
    notebook = open_notebook(theme="dark")
    loaded(notebook, tmp_path).touch()
    notebook.run("%%profile\ncompute()", 1)
    ground = notebook.page.frame_locator("#cell-1 .taskscope-result iframe").locator(".tsk-chart").first
    for theme, is_light in ("dark", False), ("high-contrast", False), ("light", True):
        notebook.page.evaluate(f"document.body.className = 'vscode-{theme}'")
        colour = re.compile(r"rgb\(2\d\d," if is_light else r"rgb\(\d\d?,")
        expect(ground).to_have_css("background-color", colour)


def test_a_manager_without_binary_messages_and_another_version_are_said_in_one_line(
    open_notebook: OpenNotebook, tmp_path: Path
) -> None:
    for options, change, text in (
        ({"drops_buffers": True}, "", "this page drops the binary part of messages: ipywidgets 8 is needed."),
        ({}, "import taskscope.jupyter.feed.feed as feed; feed.__version__ = '9.9'", "the kernel 9.9:"),
    ):
        notebook = open_notebook(**options)
        loaded(notebook, tmp_path).touch()
        notebook.run(f"{change}\ndisplay(ProgressWidget())\ncompute()", 1)
        expect(notebook.page.locator(".tsk-note")).to_contain_text(text)
