"""The progress bar in a real JupyterLab: while a compute runs, and when its page or kernel goes away."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from tests.browser.harness.lab_page import LabPage
from tests.browser.workloads import LOAD


def test_widgets_closed_while_their_compute_runs_leave_nothing_behind(lab: LabPage) -> None:
    lab.open(
        LOAD,
        "ws = [kind() for kind in (ProgressWidget, GanttWidget, ResourceWidget, CacheWidget, Dashboard)]\n"
        "for w in ws: display(w)",
        "def close():\n    until(1)\n    for w in ws: w.close()\n    until(2)\n    gate.set()\n"
        "threading.Thread(target=close).start()\n_ = computed(wait, 4)",
    )
    lab.run_cell(0)
    lab.run_cell(1)
    lab.start_cell(2)
    charts = lab.page.locator(".tsk-chart:visible")
    # Of the dashboard's under a cell the cache is folded.
    expect(charts).to_have_count(7)
    lab.wait_feed("feed.active && feed.nListeners > 2")
    lab.release(1)
    expect(charts).to_have_count(0)
    assert not lab.is_done(2)
    lab.wait_feed("feed.nListeners === 2")
    lab.release(2)
    lab.wait_cell(2)
    lab.wait_feed("!feed.active && feed.tasks === 4")


TWO = "_ = computed(slow, 20); computed(fail, 4)"
SHOWS_NOW = "w, d = ProgressWidget(), Dashboard(); display(w); display(d)"


def test_the_headline_is_what_runs_now_and_earlier_computes_are_selected_from_a_list(
    lab: LabPage, shots: Path
) -> None:
    lab.open(
        LOAD, SHOWS_NOW, TWO, "_ = in_groups(1, 3); _ = computed(held, 5)", "(w.total, w.state, d.total)"
    )
    lab.run_cell(0)
    lab.run_cell(1)
    lab.start_cell(2)
    lab.wait_cell(2)
    count, state = lab.page.locator(".tsk-progress-count"), lab.page.locator(".tsk-progress-state")
    # What failed is the headline until the next compute begins.
    expect(state).to_have_text(["Failed", "Failed"])
    expect(count).to_have_text(["20 of 24 tasks", "20 of 24 tasks"])
    lab.start_cell(3)
    expect(count).to_have_text(["3 of 8 tasks", "3 of 8 tasks"])
    expect(state).to_have_text(["Running", "Running"])
    dashboard = lab.page.locator(".tsk-dashboard")
    dashboard.get_by_role("button", name="4 computes").click()
    dashboard.scroll_into_view_if_needed()
    lab.page.screenshot(path=shots / "headline-now.png")
    dashboard.get_by_role("button", name="Show In [3]").last.click()
    expect(count).to_have_text(["3 of 8 tasks", "20 of 20 tasks"])
    expect(dashboard.locator(".tsk-gantt-state")).to_contain_text("20 tasks")
    lab.page.screenshot(path=shots / "headline-earlier.png")
    dashboard.get_by_role("button", name="Back to the latest").click()
    expect(count).to_have_text(["3 of 8 tasks", "3 of 8 tasks"])
    lab.release()
    lab.wait_cell(3)
    expect(count).to_have_text(["8 of 8 tasks", "8 of 8 tasks"])
    lab.run_cell(4)
    assert lab.outputs(4)[0]["data"]["text/plain"] == "(8, 'finished', 8)"
