"""The item of JupyterLab's status bar: how far the computes of the notebook in use are."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Locator, expect

from tests.browser.harness.cells import badge
from tests.browser.harness.lab_page import LabPage
from tests.browser.workloads import HALF_DONE, LOAD


def status(lab: LabPage) -> Locator:
    return lab.page.locator("#jp-main-statusbar .tsk-status > button")


def test_the_status_bar_says_how_far_the_notebook_in_use_is_and_leads_to_the_side_panel(
    lab: LabPage, shots: Path
) -> None:
    lab.open(LOAD, HALF_DONE, "_ = computed(fail, 3)")
    lab.run_cell(0)
    expect(status(lab)).to_be_hidden()
    lab.start_cell(1)
    expect(status(lab)).to_have_text(re.compile(r"^Dask: 50% · about .* left$"))
    expect(status(lab)).to_have_attribute("title", re.compile("4 of 8 tasks.* Open the Dask side panel$"))
    lab.page.screenshot(path=shots / "status-running.png")
    first = lab.path
    # Of another notebook nothing has been heard.
    lab.open_also("1 + 1", path="status-other.ipynb")
    expect(status(lab)).to_be_hidden()
    lab.switch_to(first, busy=True)
    expect(status(lab)).to_have_text(re.compile(r"^Dask: 50%"))
    status(lab).click()
    expect(lab.page.locator("#taskscope-side-panel .tsk-progress-count")).to_have_text("4 of 8 tasks")
    lab.release()
    lab.wait_cell(1)
    expect(status(lab)).to_have_text(re.compile(r"^Dask: finished in \d"))
    lab.start_cell(2)
    lab.wait_cell(2)
    expect(status(lab)).to_have_text("Dask: failed")
    lab.restart_kernel()
    expect(status(lab)).to_be_hidden()


def test_badge_status_bar_and_panel_show_the_same_digits_of_a_cell_with_two_computes(lab: LabPage) -> None:
    lab.open(LOAD, "_ = computed(slow, 40)\ntime.sleep(0.3)\n_ = computed(slow, 2)", "taskscope.runs()")
    lab.run_cell(0)
    lab.command("taskscope:open-side-panel")
    lab.run_cell(1)
    panel = lab.page.locator("#taskscope-side-panel")
    expect(panel.locator(".tsk-progress-count")).to_have_text("42 of 42 tasks")
    expect(status(lab)).to_have_attribute("title", re.compile("42 of 42 tasks"))
    lab.wait_feed("!feed.active && feed.tasks === 42")
    expect(status(lab)).to_have_text(re.compile(r"^Dask: finished in \d"))
    text = status(lab).text_content() or ""
    expect(badge(lab, 1)).to_have_text(text)
    expect(panel.locator(".tsk-progress-elapsed")).to_contain_text(text.removeprefix("Dask: finished in "))
