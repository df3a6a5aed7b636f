"""The dashboard in a real JupyterLab: four charts on one axis, in any width."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.harness.lab_page import LabPage
from tests.browser.workloads import LOAD

SHOW = "d = Dashboard(more_charts=True); display(d)"
CHARTS = [".tsk-progress", ".tsk-gantt", ".tsk-resources", ".tsk-cache"]
# What sticks out to the right of its chart, menus and what only screen readers see apart.
STICKING_OUT = """() => [...document.querySelectorAll('.tsk-dashboard > .tsk-chart')].flatMap(chart => {
  const edge = chart.getBoundingClientRect().right + 1;
  const shown = el => el.checkVisibility() && el.closest('.tsk-hidden') === null;
  return [...chart.querySelectorAll('*')]
    .filter(el => shown(el) && el.getBoundingClientRect().right > edge)
    .map(el => `${chart.className}: ${el.className || el.tagName}`);
})"""

DRAWN = "chart => document.querySelector(`.tsk-dashboard > ${chart} canvas`).toDataURL()"


def drawn(lab: LabPage, chart: str) -> str:
    picture: str = lab.page.evaluate(DRAWN, chart)
    return picture


def computed(lab: LabPage) -> None:
    lab.open(LOAD, SHOW, "_ = in_groups(11, 8)", "d.compact = True")
    for cell in range(3):
        lab.run_cell(cell)
    lab.wait_feed("!feed.active && feed.tasks === 88")


def test_four_charts_share_the_cursor(lab: LabPage) -> None:
    computed(lab)
    for chart in CHARTS:
        expect(lab.page.locator(f".tsk-dashboard > {chart}")).to_be_visible()
    before = {chart: drawn(lab, chart) for chart in CHARTS[1:]}
    canvas = lab.page.locator(".tsk-gantt canvas")
    canvas.hover(position={"x": 500, "y": 10})
    for chart in CHARTS[1:]:
        # The line of the cursor is all that has changed there.
        lab.page.wait_for_function(f"before => ({DRAWN})({chart!r}) !== before", arg=before[chart])
    lab.page.mouse.move(0, 0)
    for chart in CHARTS[1:]:
        lab.page.wait_for_function(f"before => ({DRAWN})({chart!r}) === before", arg=before[chart])


def test_compact_leaves_out_all_but_bar_and_charts(lab: LabPage) -> None:
    computed(lab)
    rows = lab.page.locator(".tsk-progress-row")
    expect(rows.first).to_be_visible()
    lab.run_cell(3)
    expect(rows.first).to_be_hidden()
    expect(lab.page.get_by_role("progressbar", name="Finished tasks")).to_be_visible()
    for chart in CHARTS[1:]:
        expect(lab.page.locator(f".tsk-dashboard > {chart} canvas")).to_be_visible()


def heights(lab: LabPage) -> list[int]:
    boxes = [chart.bounding_box() for chart in lab.page.locator(".tsk-dashboard > .tsk-chart").all()]
    return [0 if box is None else round(box["height"]) for box in boxes]


@pytest.mark.parametrize("width", [500, 1400])
def test_it_begins_low_and_more_charts_unfold(lab: LabPage, shots: Path, width: int) -> None:
    lab.page.set_viewport_size({"width": width, "height": 1400})
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
    dashboard.screenshot(path=shots / f"dashboard-brief-{width}.png")
    assert sum(heights(lab)) <= 350
    assert lab.page.evaluate(STICKING_OUT) == []
    resources.get_by_role("button", name="More charts").click()
    for chart in (lanes, resources, cache):
        expect(chart.locator("canvas")).to_be_visible()
    lab.run_cell(3)
    assert lab.outputs(3)[0]["data"]["text/plain"] == "True"
    resources.get_by_role("button", name="Fewer charts").click()
    expect(cache).to_be_hidden()
    assert sum(heights(lab)) <= 350


@pytest.mark.parametrize("width", [320, 768, 1600, 3840])
def test_nothing_sticks_out_in_any_width(lab: LabPage, shots: Path, width: int) -> None:
    lab.page.set_viewport_size({"width": width, "height": 1400})
    computed(lab)
    lab.page.evaluate("() => window.jupyterapp.shell.collapseLeft()")
    lab.page.locator(".tsk-dashboard").screenshot(path=shots / f"dashboard-{width}.png")
    assert lab.page.evaluate(STICKING_OUT) == []
