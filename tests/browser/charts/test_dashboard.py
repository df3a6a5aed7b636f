"""The dashboard in a real JupyterLab: four charts on one axis, in any width."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from tests.browser.harness.lab_page import LabPage
from tests.browser.workloads import LOAD

CHARTS = [".tsk-progress", ".tsk-gantt", ".tsk-resources", ".tsk-cache"]
# What sticks out to the right of its chart, menus and what only screen readers see apart.
STICKING_OUT = """() => [...document.querySelectorAll('.tsk-dashboard > .tsk-chart')].flatMap(chart => {
  const edge = chart.getBoundingClientRect().right + 1;
  const shown = el => el.checkVisibility() && el.closest('.tsk-hidden') === null;
  return [...chart.querySelectorAll('*')]
    .filter(el => shown(el) && el.getBoundingClientRect().right > edge)
    .map(el => `${chart.className}: ${el.className || el.tagName}`);
})"""


HEIGHT = """() => [...document.querySelectorAll('.tsk-dashboard > .tsk-chart')]
  .reduce((sum, chart) => sum + Math.floor(chart.getBoundingClientRect().height), 0)"""


def test_it_begins_low_more_charts_unfold_and_nothing_sticks_out(lab: LabPage, shots: Path) -> None:
    lab.page.set_viewport_size({"width": 500, "height": 1400})
    lab.open(LOAD, "d = Dashboard(); display(d)", "_ = in_groups(11, 8)", "d.more_charts")
    lab.page.evaluate("() => window.jupyterapp.shell.collapseLeft()")
    for cell in range(3):
        lab.run_cell(cell)
    lab.wait_feed("!feed.active && feed.tasks === 88")
    dashboard = lab.page.locator(".tsk-dashboard")
    lanes, resources, cache = (dashboard.locator(f":scope > {chart}") for chart in CHARTS[1:])
    expect(lanes.locator("canvas")).to_be_visible()
    expect(resources.get_by_role("meter")).to_have_count(2)
    expect(resources.locator("canvas")).to_be_hidden()
    expect(cache).to_be_hidden()
    lab.page.wait_for_function(f"({HEIGHT})() <= 380")
    resources.get_by_role("button", name="More charts").click()
    for chart in (lanes, resources, cache):
        expect(chart.locator("canvas")).to_be_visible()
    lab.run_cell(3)
    assert lab.outputs(3)[0]["data"]["text/plain"] == "True"
    for width in (320, 500, 1600):
        lab.page.set_viewport_size({"width": width, "height": 1400})
        dashboard.screenshot(path=shots / f"dashboard-{width}.png")
        lab.page.wait_for_function(f"({STICKING_OUT})().length === 0")
    resources.get_by_role("button", name="Fewer charts").click()
    expect(cache).to_be_hidden()
    lab.page.wait_for_function(f"({HEIGHT})() <= 380")


def test_one_that_is_made_after_a_compute_shows_it_at_once(lab: LabPage, shots: Path) -> None:
    lab.open(LOAD, "_ = computed(slow, 3)", "_ = computed(slow, 7)", "display(taskscope.Dashboard())")
    for cell in range(4):
        lab.run_cell(cell)
    dashboard = lab.page.locator(".tsk-dashboard")
    expect(dashboard.locator(".tsk-progress-state")).to_have_text("Finished")
    expect(dashboard.locator(".tsk-progress-count")).to_have_text("7 of 7 tasks")
    expect(dashboard.locator(".tsk-gantt-state")).to_contain_text("7 tasks")
    expect(dashboard.locator(".tsk-gantt canvas")).to_be_visible()
    expect(dashboard).not_to_contain_text("run something with Dask")
    dashboard.scroll_into_view_if_needed()
    lab.page.screenshot(path=shots / "dashboard-afterwards.png")
