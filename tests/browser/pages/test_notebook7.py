"""Notebook 7 loads the same extension."""

from __future__ import annotations

import json
import re
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.harness.flashes import flashes, watch_flashes
from tests.browser.harness.lab_page import LabPage
from tests.browser.workloads import LOAD as WORKLOADS

QUICKSTART = Path(__file__).parents[3] / "notebooks" / "01-quickstart.ipynb"
HELD = """
import os, time
while not os.path.exists(os.environ["JPY_SESSION_NAME"].removesuffix(".ipynb") + ".stage1"):
    time.sleep(0.01)
"""


def test_the_quickstart_is_live_in_notebook_7_and_leaves_a_static_result(
    notebook: LabPage, shots: Path
) -> None:
    cells = json.loads(QUICKSTART.read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    sources[1] += HELD
    notebook.open(*sources)
    notebook.run_cell(0)
    notebook.start_cell(1)
    expect(notebook.page.locator(".tsk-widget [role=progressbar]").first).to_be_visible()
    notebook.page.screenshot(path=shots / "notebook7-live.png")
    notebook.release()
    notebook.wait_cell(1)
    assert [sorted(output["data"]) for output in notebook.outputs(1)] == [["text/html", "text/plain"]]
    expect(notebook.page.frame_locator("iframe").locator(".tsk-gantt canvas")).to_be_visible()
    notebook.page.screenshot(path=shots / "notebook7-result.png")


def test_badges_and_a_panel_at_the_right_work_in_notebook_7(notebook: LabPage, shots: Path) -> None:
    notebook.open(WORKLOADS, "_ = computed(slow, 40)", "_ = computed(slow, 2)")
    notebook.run_cell(0)
    notebook.run_cell(1)
    badges = notebook.page.locator(".tsk-cell-badge")
    expect(badges).to_have_text(re.compile(r"Dask: finished in [\d.]+ m?s"))
    notebook.command("taskscope:open-side-panel")
    side = notebook.page.locator("#taskscope-side-panel")
    expect(side.locator(".tsk-gantt canvas")).to_be_visible()
    assert notebook.page.locator("#jp-right-stack #taskscope-side-panel").count() == 1
    expect(side.locator(".tsk-progress-count")).to_have_text("40 of 40 tasks")
    notebook.run_cell(2)
    expect(badges).to_have_count(2)
    watch_flashes(notebook.page)
    side.get_by_role("button", name="2 computes").click()
    side.get_by_role("button", name=re.compile(r"^In \[2\] \(In \[1\], line \d+\)")).click()
    [flash] = flashes(notebook.page, 1)
    assert "jp-Cell" in flash["classes"]
    assert "computed(slow, 40)" in flash["text"].replace("\n", " ")
    notebook.page.screenshot(path=shots / "notebook7-panel.png")
