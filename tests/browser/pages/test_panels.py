"""Panels of JupyterLab: the side panel, charts as tabs, commands, and how they are reached."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from tests.browser.harness.lab_page import LabPage
from tests.browser.workloads import LOAD

SIDE = "#taskscope-side-panel"


def test_the_side_panel_loads_taskscope_when_asked_and_shows_what_is_computed(
    lab: LabPage, shots: Path
) -> None:
    lab.open(
        "import sys; 'taskscope' in sys.modules",
        LOAD.replace("%load_ext taskscope", ""),
        "_ = in_groups(5, 40)",
    )
    lab.command("taskscope:open-side-panel")
    side = lab.page.locator(SIDE)
    expect(side.get_by_role("status").first).to_have_text("taskscope is not loaded in this kernel yet")
    lab.page.screenshot(path=shots / "side-not-loaded.png")
    lab.run_cell(0)
    assert lab.outputs(0)[0]["data"]["text/plain"] == "False"
    side.get_by_role("button", name="Load taskscope in this kernel").click()
    lab.wait_feed("feed?.state === 'live'")
    lab.run_cell(1)
    lab.run_cell(2)
    expect(side.locator(".tsk-gantt canvas")).to_be_visible()
    lab.wait_feed("feed.tasks === 200 && !feed.active")
    lab.page.screenshot(path=shots / "side-live.png")


def test_an_inline_widget_opens_a_tab_pinned_to_its_notebook(lab: LabPage, shots: Path) -> None:
    lab.open(LOAD, "display(GanttWidget())", "_ = in_groups(3, 20)")
    for cell in range(3):
        lab.run_cell(cell)
    lab.page.screenshot(path=shots / "pop-out-button.png")
    lab.page.get_by_role("button", name="Open as a tab of its own").click()
    tab = lab.page.locator("#taskscope-panel-task-stream-2")
    expect(tab.locator(".tsk-gantt canvas")).to_be_visible()
    expect(tab.get_by_role("button", name="Pin to this notebook")).to_have_attribute("aria-pressed", "true")
    lab.page.screenshot(path=shots / "pop-out.png")
