"""Computes and their cells in a real JupyterLab: badges that come and go, the way from a task to its cell."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import OpenLab
from tests.browser.harness.flashes import flashes, watch_flashes
from tests.browser.harness.lab_page import LabPage, use_theme
from tests.browser.harness.server import Server
from tests.browser.workloads import LOAD

EDIT = (
    "(index) => window.jupyterapp.shell.currentWidget.content.widgets[index].model.sharedModel.setSource('1')"
)
COMMAND = "(name) => window.jupyterapp.commands.execute(name)"
ACTIVATE = "(index) => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = index; }"
# Threads that still wait would keep the next compute waiting.
TOLERATED = "gate.set()\ntry:\n    computed(fail, 1)\nexcept ValueError:\n    pass"

# A cell begins with its first line that is not empty.
CALLED = LOAD.splitlines().index("    return dask.compute(*tasks, scheduler=scheduler, num_workers=4)")


def badge(lab: LabPage, index: int) -> Locator:
    return lab.page.locator(f"[data-windowed-list-index='{index}'] .tsk-cell-badge > button")


def saved(lab: LabPage, server: Server) -> str:
    lab.save()
    return json.dumps(server.request("GET", f"contents/{lab.path}")["content"])


def test_a_cell_says_how_its_computes_stand_and_the_notebook_keeps_nothing_of_it(
    lab: LabPage, server: Server, shots: Path
) -> None:
    twice = "_ = computed(slow, 10); _ = computed(slow, 20)"
    lab.open(LOAD, "_ = computed(wait, 4)", TOLERATED, twice)
    lab.run_cell(0)
    expect(lab.page.locator(".tsk-cell-badge")).to_have_count(0)
    lab.start_cell(1)
    expect(badge(lab, 1)).to_have_text("Dask: 0%")
    expect(badge(lab, 1)).to_have_attribute("title", "1 compute, 4 tasks. Show its charts")
    lab.page.screenshot(path=shots / "badge-running.png")
    lab.page.evaluate(COMMAND, "notebook:interrupt-kernel")
    lab.wait_cell(1)
    expect(badge(lab, 1)).to_have_text("Dask: interrupted")
    lab.run_cell(2)
    expect(badge(lab, 2)).to_have_text("Dask: failed")
    lab.run_cell(3)
    expect(badge(lab, 3)).to_have_text(re.compile(r"Dask: finished in [\d.]+ m?s"))
    expect(badge(lab, 3)).to_have_attribute("title", "2 computes, 30 tasks. Show its charts")
    assert "Dask: " not in saved(lab, server)
    lab.page.screenshot(path=shots / "badges-light.png")
    use_theme(lab.page, "dark")
    lab.page.screenshot(path=shots / "badges-dark.png")
    use_theme(lab.page, "light")


@pytest.mark.fresh_page
def test_a_badge_goes_when_its_cell_is_edited_or_cleared(lab: LabPage) -> None:
    lab.open(LOAD, *["_ = computed(slow, 10)"] * 3)
    for cell in range(4):
        lab.run_cell(cell)
    badges = lab.page.locator(".tsk-cell-badge")
    expect(badges).to_have_count(3)
    finished = badges.filter(has_text="finished")
    expect(finished).to_have_count(3)
    text = badge(lab, 2).inner_text()
    lab.page.evaluate(EDIT, 3)
    expect(badge(lab, 3)).to_have_count(0)
    lab.save()
    # A page that comes later knows as much: also that the edited cell is not what ran.
    lab.reload()
    lab.ask_for_feed()
    expect(badge(lab, 2)).to_have_text(text)
    expect(finished).to_have_count(2)
    expect(badge(lab, 3)).to_have_count(0)
    lab.page.evaluate(ACTIVATE, 2)
    lab.page.evaluate(COMMAND, "notebook:clear-cell-output")
    expect(badge(lab, 2)).to_have_count(0)
    expect(finished).to_have_count(1)


def test_a_badge_stays_in_grey_when_the_kernel_restarts_until_the_new_one_runs_its_cell(
    lab: LabPage, shots: Path
) -> None:
    lab.open(LOAD, "_ = computed(slow, 10)")
    lab.run_cell(0)
    lab.run_cell(1)
    expect(lab.page.locator(".tsk-cell-badge[data-status=finished]")).to_have_count(1)
    text = badge(lab, 1).inner_text()
    lab.restart_kernel()
    expect(lab.page.locator(".tsk-cell-badge[data-status=gone]")).to_have_count(1)
    expect(badge(lab, 1)).to_have_text(text)
    expect(badge(lab, 1)).to_have_attribute("title", re.compile("1 compute, 10 tasks. Its kernel is gone"))
    for theme in ("dark", "light"):
        use_theme(lab.page, theme)
        lab.page.screenshot(path=shots / f"badge-gone-{theme}.png")
    # It knows nothing of the new kernel, and goes when that runs the cell.
    lab.run_cell(0)
    lab.page.evaluate(ACTIVATE, 1)
    expect(badge(lab, 1)).to_have_text(text)
    lab.run_cell(1)
    expect(lab.page.locator(".tsk-cell-badge[data-status=finished]")).to_have_count(1)


def test_a_cell_that_runs_in_another_tab_keeps_the_badge_of_what_it_shows_here(
    open_lab: OpenLab,
) -> None:
    lab, other = open_lab(), open_lab()
    lab.open(LOAD, "_ = computed(slow, 10)")
    lab.run_cell(0)
    lab.run_cell(1)
    expect(lab.page.locator(".tsk-cell-badge[data-status=finished]")).to_have_count(1)
    lab.save()
    text = badge(lab, 1).inner_text()
    other.join(lab)
    other.ask_for_feed()
    other.run_cell(1)
    expect(other.page.locator(".tsk-cell-badge[data-status=finished]")).to_have_count(1)
    lab.wait_feed("!feed.active && feed.tasks === 20")
    expect(badge(lab, 1)).to_have_text(text)


def show_all_computes(lab: LabPage) -> Locator:
    """Have the timeline show earlier computes, too, and return its canvas."""
    lab.page.locator(".tsk-gantt").get_by_role("button", name="More actions").click()
    lab.page.get_by_role("menuitem", name="Show all computes").click()
    return lab.page.locator(".tsk-gantt canvas")


def test_a_task_and_a_compute_lead_to_their_cell(lab: LabPage, shots: Path) -> None:
    filler = [f"# {i}\n" * 12 for i in range(12)]
    lab.open(LOAD, "_ = computed(slow, 8)", *filler, "d = Dashboard(); display(d)", "_ = computed(slow, 2)")
    lab.run_cell(0)
    lab.run_cell(14)
    lab.run_cell(1)
    lab.run_cell(15)
    first = lab.page.locator("[data-windowed-list-index='1']")
    expect(first).not_to_be_in_viewport()
    canvas = show_all_computes(lab)
    expect(lab.page.locator(".tsk-gantt-state")).to_contain_text("10 tasks")
    canvas.focus()
    canvas.press("Home")
    # Stepping begins in the middle of what is in sight, wherever that is: back to the first task of the lane.
    for key in ("n", *["p"] * 10):
        canvas.press(key)
    card = lab.page.locator(".tsk-gantt-card")
    expect(card).to_contain_text("ComputeIn [3]")
    lab.page.screenshot(path=shots / "cell-of-task.png")
    watch_flashes(lab.page)
    card.get_by_role("button", name="Go to the cell").click()
    expect(first).to_be_in_viewport()
    flashes(lab.page, 1)
    expect(lab.page.locator(".tsk-flash")).to_have_count(0)
    lab.page.emulate_media(reduced_motion="reduce")
    lab.page.get_by_role("button", name="2 computes").click()
    computes = lab.page.get_by_role("list", name="Computes")
    expect(computes.get_by_role("listitem")).to_contain_text(
        [f"In [{n}] (In [1], line {CALLED})" for n in (4, 3)]
    )
    computes.scroll_into_view_if_needed()
    lab.page.screenshot(path=shots / "computes-of-cells.png")
    computes.get_by_role("button", name=f"In [3] (In [1], line {CALLED})", exact=True).press("Enter")
    expect(first).to_be_in_viewport()
    # Where no movement is wanted, the outline stands still.
    assert [(flash["cell"], flash["style"]) for flash in flashes(lab.page, 2)] == [
        ("1", ["tsk-flash", "solid"]),
        ("1", ["none", "solid"]),
    ]
