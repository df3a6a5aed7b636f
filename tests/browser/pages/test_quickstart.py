"""The main job in a real JupyterLab: the quickstart, watched while its cell runs, and what the cell keeps."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from tests.browser.harness.lab_page import LabPage

NOTEBOOK = Path(__file__).parents[3] / "notebooks" / "01-quickstart.ipynb"
# Every change of the bar and of the chart's state line, with whether the cell was still running then.
WATCH = """(index) => {
  window.seen = [];
  const cell = window.jupyterapp.shell.currentWidget.content.widgets[index];
  new MutationObserver(() => {
    const bar = document.querySelector('.tsk-widget [role=progressbar]');
    const state = document.querySelector('.tsk-widget .tsk-gantt-state');
    if (bar === null || state === null) return;
    const now = JSON.stringify({
      done: Number(bar.getAttribute('aria-valuenow')),
      chart: state.textContent,
      running: cell.model.executionState !== 'idle'
    });
    if (window.seen.at(-1) !== now) window.seen.push(now);
  }).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
}"""


def quickstart_cells() -> list[str]:
    cells: list[dict[str, Any]] = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def watch_cell(lab: LabPage, index: int) -> None:
    """Note from now on what the views of a cell show."""
    lab.page.evaluate(WATCH, index)


def live_changes(lab: LabPage) -> list[dict[str, Any]]:
    """Return what the views showed, one entry per change, while the cell was still running."""
    seen = [json.loads(entry) for entry in lab.page.evaluate("window.seen")]
    return [entry for entry in seen if entry["running"]]


def test_the_quickstart_is_live_leaves_a_static_result_and_its_bar_follows_another_cell(
    lab: LabPage, shots: Path
) -> None:
    lab.open(*quickstart_cells())
    lab.run_cell(0)
    watch_cell(lab, 1)
    lab.start_cell(1)
    expect(lab.page.locator(".tsk-widget [role=progressbar]").first).to_be_visible()
    lab.page.screenshot(path=shots / "quickstart-live.png")
    # For each widget JupyterLab asks for a subshell, about which the kernel says that it is idle.
    assert (lab.is_done(1), lab.kernel_status()) == (False, "Busy")
    lab.wait_cell(1)

    live = live_changes(lab)
    # The bar moved, never backwards, and the chart grew, all before the cell had ended.
    assert len({entry["done"] for entry in live}) >= 3, live
    assert [e["done"] for e in live] == sorted(e["done"] for e in live), live
    assert len({entry["chart"] for entry in live}) >= 3, live

    (output,) = lab.outputs(1)
    summary = "".join(output["data"]["text/plain"])
    title = r"taskscope · QR and back · finished · threads · \d+ threads? · 1 compute · \d+ tasks\n"
    assert re.match(title, summary), summary
    assert sorted(output["data"]) == ["text/html", "text/plain"]
    expect(lab.page.locator(".tsk-widget")).to_have_count(0)
    chart = lab.page.frame_locator("iframe").locator(".tsk-gantt canvas")
    expect(chart).to_be_visible()
    lab.page.screenshot(path=shots / "quickstart-result.png")

    for cell in range(2, len(quickstart_cells())):
        lab.run_cell(cell)
    bar = lab.page.locator(".tsk-widget [role=progressbar]").first
    n_tasks = lab.page.evaluate("() => document.querySelector('.tsk-widget [role=progressbar]').ariaValueMax")
    expect(bar).to_have_attribute("aria-valuenow", n_tasks)
    assert int(n_tasks) > 100
    lab.page.screenshot(path=shots / "quickstart-bar.png")
