"""Panels of JupyterLab: the side panel, charts as tabs, commands, and how they are reached."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from tests.browser.harness.lab_page import LabPage
from tests.browser.workloads import LOAD


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
