"""What a cell's badge unfolds in a real JupyterLab: charts of just that cell, live and afterwards."""

from __future__ import annotations

import json
import re
from pathlib import Path

from playwright.sync_api import Locator, expect

from tests.browser.harness.cells import badge, cell, charts, counts
from tests.browser.harness.lab_page import LabPage, use_theme
from tests.browser.harness.server import Server
from tests.browser.workloads import HALF_DONE, LOAD, PATIENT
from tests.support.waiting import until

CLUSTER = """
from distributed import Client
client = Client(n_workers=1, threads_per_worker=6, processes=False, dashboard_address=":0")
"""
BEGUN = "futures = [client.submit(held, i, pure=False) for i in range(4)]"
# How far the charts stand out of their cell's editor to the left and to the right, and whether they are low.
ROOM = """cell => {
  const [charts, editor] = ['.tsk-cell-view', '.jp-InputArea-editor']
    .map(name => cell.querySelector(name).getBoundingClientRect());
  return [editor.left - charts.left, charts.right - editor.right, charts.height <= 380];
}"""
OTHER = "assert client.gather(client.map(slow, range(6), pure=False)) == list(range(6))"


def test_a_badge_unfolds_the_charts_of_its_cell_while_it_runs(lab: LabPage, shots: Path) -> None:
    lab.open(LOAD, HALF_DONE)
    lab.run_cell(0)
    lab.start_cell(1)
    # As far as it is, and an estimate that says so.
    expect(badge(lab, 1)).to_have_text(re.compile(r"Dask: 50% · about .* left"))
    expect(badge(lab, 1)).to_have_attribute("aria-expanded", "false")
    badge(lab, 1).click()
    expect(badge(lab, 1)).to_have_attribute("aria-expanded", "true")
    expect(counts(lab, 1)).to_have_text("4 of 8 tasks")
    expect(charts(lab, 1).locator(".tsk-gantt canvas")).to_be_visible()
    until(lambda: cell(lab, 1).evaluate(ROOM) == [0, 0, True], lambda: cell(lab, 1).evaluate(ROOM))
    lab.page.screenshot(path=shots / "badge-open-light.png")
    use_theme(lab.page, "dark")
    lab.page.screenshot(path=shots / "badge-open-dark.png")
    use_theme(lab.page, "light")
    lab.release()
    lab.wait_cell(1)
    expect(counts(lab, 1)).to_have_text("8 of 8 tasks")


ON_TOP = """badge => {
  const text = document.createRange();
  text.selectNodeContents(badge);
  const { left, right, top, bottom } = text.getBoundingClientRect();
  const inside = (from, to) => Array.from({ length: 9 }, (_, i) => from + 1 + (to - from - 2) * i / 8);
  return inside(left, right).flatMap(x => inside(top, bottom).map(y => document.elementFromPoint(x, y)))
    .map(found => badge.contains(found) ? 'badge' : String(found?.className));
}"""

INSIDE = """badge => badge.getBoundingClientRect().bottom <=
  badge.closest('[data-windowed-list-index]').getBoundingClientRect().bottom"""


def expect_whole(badge: Locator) -> None:
    """Wait until nothing covers a badge: a notebook scrolls to a selected cell in a frame of its own."""
    until(lambda: badge.evaluate(ON_TOP) == ["badge"] * 81, lambda: badge.evaluate(ON_TOP))


def test_the_selected_next_cell_does_not_cover_the_badge_of_a_cell_that_runs_without_output(
    lab: LabPage, shots: Path
) -> None:
    lab.open(LOAD, HALF_DONE, "1 + 1")
    lab.run_cell(0)
    lab.start_cell(1)
    expect(badge(lab, 1)).to_have_text(re.compile(r"Dask: 50% · about .* left"))
    cell(lab, 2).locator(".jp-InputPrompt").click()
    expect(cell(lab, 2)).to_have_class(re.compile(r"\bjp-mod-active\b"))
    for theme in ("light", "dark"):
        use_theme(lab.page, theme)
        badge(lab, 1).scroll_into_view_if_needed()
        expect_whole(badge(lab, 1))
        lab.page.screenshot(path=shots / f"badge-uncovered-{theme}.png")
    use_theme(lab.page, "light")
    cell(lab, 2).locator(".cm-content").click()
    expect_whole(badge(lab, 1))
    assert not lab.is_done(1)
    lab.release()
    lab.wait_cell(1)
    assert lab.outputs(1) == []


def test_the_badge_of_the_last_cell_is_whole_at_the_lower_edge_of_the_notebook_and_can_be_pressed_there(
    lab: LabPage, shots: Path
) -> None:
    lab.open(LOAD, "\n" * 60, "_ = computed(held, 4)")
    lab.run_cell(0)
    lab.start_cell(2)
    expect(badge(lab, 2)).to_be_visible()
    cell(lab, 2).evaluate("cell => cell.scrollIntoView({ block: 'end' })")
    expect_whole(badge(lab, 2))
    lab.page.screenshot(path=shots / "badge-last-cell.png")
    assert badge(lab, 2).evaluate(INSIDE)
    badge(lab, 2).click()
    expect(badge(lab, 2)).to_have_attribute("aria-expanded", "true")
    badge(lab, 2).click()
    expect(badge(lab, 2)).to_have_attribute("aria-expanded", "false")
    lab.release()
    lab.wait_cell(2)


def test_a_badge_folds_its_charts_again_and_the_notebook_keeps_nothing_of_them(
    lab: LabPage, server: Server
) -> None:
    lab.open(LOAD, "_ = computed(slow, 8)", "_ = computed(slow, 10)", "_ = computed(fail, 3)")
    for index in range(3):
        lab.run_cell(index)
    # Another cell's computes are not among them, nor the other way round.
    badge(lab, 1).click()
    badge(lab, 2).focus()
    badge(lab, 2).press("Enter")
    expect(counts(lab, 1)).to_have_text("8 of 8 tasks")
    expect(counts(lab, 2)).to_have_text("10 of 10 tasks")
    # What failed is shown as well, and nothing is kept by the notebook.
    lab.start_cell(3)
    lab.wait_cell(3)
    badge(lab, 3).click()
    expect(charts(lab, 3).locator(".tsk-progress-state")).to_have_text("Failed")
    lab.save()
    assert "tsk-" not in json.dumps(server.request("GET", f"contents/{lab.path}")["content"])
    # Space folds; the button of the charts does so, too, and leaves the focus with the badge.
    badge(lab, 2).press("Space")
    expect(charts(lab, 2)).to_have_count(0)
    expect(badge(lab, 2)).to_have_attribute("aria-expanded", "false")
    charts(lab, 3).get_by_role("button", name="Close").click()
    expect(charts(lab, 3)).to_have_count(0)
    expect(badge(lab, 3)).to_be_focused()


def test_charts_of_a_cell_show_what_it_left_to_a_cluster_and_no_other_cells_work(lab: LabPage) -> None:
    lab.open(LOAD + PATIENT, CLUSTER, BEGUN, OTHER, "client.gather(futures); client.shutdown()")
    for index in range(3):
        lab.run_cell(index)
    expect(badge(lab, 2)).to_have_text("Dask: 0%")
    badge(lab, 2).click()
    expect(counts(lab, 2)).to_have_text("0 of 4 tasks")
    lab.run_cell(3)
    badge(lab, 3).click()
    expect(counts(lab, 3)).to_have_text("6 of 6 tasks")
    expect(counts(lab, 2)).to_have_text("0 of 4 tasks")
    lab.release()
    lab.run_cell(4)
    expect(counts(lab, 2)).to_have_text("4 of 4 tasks")
    expect(badge(lab, 2)).to_have_text(re.compile("Dask: finished in .*"))
