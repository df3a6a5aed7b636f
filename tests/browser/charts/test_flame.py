"""The flame graph in a real JupyterLab: live while a cell runs, of a recording, by pointer and by keys."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Locator, expect

from tests.browser.harness.axe import violations
from tests.browser.harness.lab_page import LabPage, use_theme
from tests.browser.workloads import LOAD

WORK = """
from taskscope import FlameWidget

def waits_for_release():
    until(1)

def work():
    waits_for_release()

def compute():
    return dask.delayed(work)(dask_key_name="work-1").compute(scheduler="threads")
"""
SHOW = "display(FlameWidget())"
RUN = """
with taskscope.profile(display=False) as run: compute()
"""
RECORDED = "display(FlameWidget(run.recording))"


def test_it_grows_while_the_cell_runs_and_is_driven_by_keys_and_pointer(lab: LabPage, shots: Path) -> None:
    lab.open(LOAD + WORK, SHOW, RUN, RECORDED)
    lab.run_cell(0)
    lab.run_cell(1)
    flame = lab.page.locator(".tsk-flame")
    expect(flame).to_contain_text("no samples yet")
    lab.start_cell(2)
    total = flame.locator(".tsk-flame-sum")
    expect(total).to_contain_text("samples, about")
    assert not lab.is_done(2)
    expect(total).not_to_have_text(total.inner_text())
    await_call(flame, "until")
    open_source(flame)
    close_source(flame)
    assert not lab.is_done(2)
    lab.release(1)
    lab.wait_cell(2)
    drive(lab, flame)
    lab.page.screenshot(path=shots / "flame-live.png")

    lab.run_cell(3)
    still = lab.page.locator(".tsk-flame").nth(1)
    choose_a_time(lab.page.locator(".tsk-samples").nth(1))
    open_source(still)
    choose(still, "Show as a table")
    expect(still.locator(".tsk-text-table tbody tr").first).to_contain_text("until")
    for theme in ("light", "dark"):
        use_theme(lab.page, theme)
        assert violations(lab.page) == [], theme
        still.screenshot(path=shots / f"flame-source-{theme}.png")
        lab.page.screenshot(path=shots / f"flame-{theme}.png")


def await_call(flame: Locator, name: str) -> None:
    """Wait until the graph shows a call, which its table names."""
    choose(flame, "Show as a table")
    expect(flame.locator(".tsk-text-table tbody")).to_contain_text(name)
    choose(flame, "Hide the table")


def choose(flame: Locator, item: str) -> None:
    """Choose an item of the menu."""
    flame.get_by_role("button", name="More").click()
    flame.get_by_role("menuitem", name=item).click()


def open_source(flame: Locator) -> None:
    """Open the source of a function of the notebook's own."""
    canvas, source = flame.locator(".tsk-flame-plot canvas"), flame.locator(".tsk-flame-source")
    canvas.focus()
    for _ in range(3):
        canvas.press("ArrowDown")
    canvas.press("Enter")
    expect(source).to_contain_text("Source of waits_for_release")
    lines = source.locator("tr")
    expect(lines).to_have_count(2)
    expect(lines.first).to_have_text(re.compile(r"\d+def waits_for_release\(\):"))
    expect(lines.last).to_have_text(re.compile(r"\d+[\d.]+ m?s    until\(1\)"))
    expect(lines.first).to_have_css("background-color", "rgba(0, 0, 0, 0)")
    expect(lines.last).not_to_have_css("background-color", "rgba(0, 0, 0, 0)")


def close_source(flame: Locator) -> None:
    """Go back to where the cursor was."""
    canvas = flame.locator(".tsk-flame-plot canvas")
    canvas.press("Home")
    expect(flame.locator(".tsk-flame-source")).to_be_hidden()
    for _ in range(3):
        canvas.press("ArrowUp")


def drive(lab: LabPage, flame: Locator) -> None:
    """Walk down the calls, zoom in and out, search, and click."""
    canvas, said = flame.locator(".tsk-flame-plot canvas"), flame.locator(".tsk-flame-said")
    canvas.focus()
    expect(flame.locator(".tsk-track-help")).to_be_hidden()
    expect(said).to_contain_text("all tasks: ")
    for name in ("tasks: work: ", "work (", "waits_for_release (", "until ("):
        canvas.press("ArrowDown")
        expect(said).to_contain_text(name)
    canvas.press("Enter")
    expect(said).to_contain_text("until (")
    canvas.press("Home")
    canvas.press("/")
    expect(flame.get_by_role("searchbox", name="Find a function")).to_be_focused()
    lab.page.keyboard.type("waits")
    expect(said).to_have_text("1 call found")
    canvas.click(position={"x": 200, "y": 45})
    expect(said).to_contain_text("work (")


def choose_a_time(samples: Locator) -> None:
    """Choose what is in sight of the samples over time, and all of it again."""
    chosen, canvas = samples.locator(".tsk-series-foot"), samples.locator("canvas")
    expect(chosen).to_have_text("all of the time")
    canvas.press("x")
    expect(chosen).to_contain_text("from 0 s to")
    canvas.press("Escape")
    expect(chosen).to_have_text("all of the time")
