"""The progress bar in a real JupyterLab: while a compute runs, and when its page or kernel goes away."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from tests.browser.harness.lab_page import LabPage
from tests.browser.workloads import LOAD

WIDGET = "w = ProgressWidget(); display(w)"


def test_more_than_eight_groups_fold_and_a_key_press_shows_them_all(lab: LabPage, shots: Path) -> None:
    lab.open(LOAD, WIDGET, "_ = in_groups(11, 2)")
    lab.run_cell(0)
    lab.run_cell(1)
    lab.run_cell(2)
    names = lab.page.locator(".tsk-progress-name")
    expect(names).to_have_count(8)
    more = lab.page.get_by_role("button", name="Show 3 more task types")
    more.focus()
    lab.page.keyboard.press("Enter")
    expect(names).to_have_count(11)
    assert sorted(names.all_inner_texts()) == [f"group{i:02}" for i in range(11)]
    lab.page.screenshot(path=shots / "progress-groups.png")


def test_the_time_left_is_an_estimate_with_a_band_and_the_traits_say_the_same(lab: LabPage) -> None:
    lab.open(
        LOAD,
        WIDGET,
        "seen, over = [], threading.Event()\n"
        "def note(change):\n"
        "    seen.append((w.eta_low_s, w.eta_s, w.eta_high_s))\n"
        "    if change.new is None: over.set()\n"
        "w.observe(note, 'eta_s')\n"
        "_ = computed(slow, 500)",
        "assert over.wait(20), 'traits change twice a second, and not this one'\n"
        "ends = [band for band in seen if None not in band]\n"
        "assert ends and all(low <= mid <= high for low, mid, high in ends), seen\n"
        "assert seen[-1] == (None, None, None), seen",
    )
    lab.run_cell(0)
    lab.run_cell(1)
    lab.start_cell(2)
    # What is read aloud says the same.
    left = lab.page.locator(".tsk-progress-meta").get_by_text("left (up to")
    expect(left).to_be_visible()
    assert not lab.is_done(2)
    lab.wait_cell(2)
    expect(left).to_have_count(0)
    lab.wait_feed("!feed.active && feed.tasks === 500")
    expect(lab.page.locator(".tsk-progress-state")).to_have_text("Finished")
    lab.run_cell(3)


def test_errors_are_listed_with_their_message(lab: LabPage) -> None:
    compute = """for i in range(2):
    try: dask.threaded.get({("bad-1", i): (fail, 7)}, ("bad-1", i))
    except ValueError: pass"""
    lab.open(LOAD, WIDGET, compute)
    for cell in range(3):
        lab.run_cell(cell)
    expect(lab.page.locator(".tsk-progress-errors li")).to_have_text(
        ["ValueError: no <b>7</b>: task ('bad-1', 1)"]
    )
    expect(lab.page.locator(".tsk-progress-state")).to_have_text("Failed")


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


def test_a_widget_of_a_kernel_that_was_restarted_says_so_and_stands_still(lab: LabPage) -> None:
    lab.open(LOAD, WIDGET, "_ = computed(slow, 40)")
    lab.run_cell(0)
    lab.run_cell(1)
    lab.run_cell(2)
    expect(lab.page.locator(".tsk-progress-count")).to_have_text("40 of 40 tasks")
    lab.restart_kernel()
    expect(lab.page.locator(".tsk-note")).to_have_text("kernel restarted: this is what was there before")
    expect(lab.page.locator(".tsk-progress-count")).to_have_text("40 of 40 tasks")


# What a browser does to a hidden tab: no animation frames. They all come at once when it is shown again.
HIDE = """() => {
  window.shown = window.requestAnimationFrame;
  window.waiting = [];
  window.requestAnimationFrame = callback => window.waiting.push(callback);
}"""
SHOW = """() => {
  window.requestAnimationFrame = window.shown;
  for (const callback of window.waiting) window.requestAnimationFrame(callback);
}"""


def test_a_tab_that_was_hidden_for_a_whole_compute_shows_its_end(lab: LabPage) -> None:
    lab.open(LOAD, "d = Dashboard(); display(d)", "_ = computed(slow, 300)")
    lab.run_cell(0)
    lab.run_cell(1)
    state = lab.page.locator(".tsk-progress-state")
    expect(state).to_have_text("Waiting for a Dask compute")
    lab.page.evaluate(HIDE)
    lab.start_cell(2)
    lab.wait_feed("!feed.active && feed.tasks === 300")
    assert state.inner_text() == "Waiting for a Dask compute"
    lab.page.evaluate(SHOW)
    expect(state).to_have_text("Finished")
    expect(lab.page.locator(".tsk-progress-count")).to_have_text("300 of 300 tasks")
    expect(lab.page.locator(".tsk-gantt canvas")).to_be_visible()


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
    expect(count).to_have_text(["0 of 4 tasks", "0 of 4 tasks"])
    lab.start_cell(3)
    expect(count).to_have_text(["0 of 5 tasks", "0 of 5 tasks"])
    expect(state).to_have_text(["Running", "Running"])
    dashboard = lab.page.locator(".tsk-dashboard")
    dashboard.get_by_role("button", name="4 computes").click()
    dashboard.scroll_into_view_if_needed()
    lab.page.screenshot(path=shots / "headline-now.png")
    dashboard.get_by_role("button", name="Show In [3]").last.click()
    expect(count).to_have_text(["0 of 5 tasks", "20 of 20 tasks"])
    expect(dashboard.locator(".tsk-gantt-state")).to_contain_text("20 tasks")
    lab.page.screenshot(path=shots / "headline-earlier.png")
    dashboard.get_by_role("button", name="Back to the latest").click()
    expect(count).to_have_text(["0 of 5 tasks", "0 of 5 tasks"])
    lab.release()
    lab.wait_cell(3)
    expect(count).to_have_text(["5 of 5 tasks", "5 of 5 tasks"])
    lab.run_cell(4)
    assert lab.outputs(4)[0]["data"]["text/plain"] == "(5, 'finished', 5)"
