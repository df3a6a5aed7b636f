"""What happens to kernels: they crash, are switched and restarted, and some have no subshells."""

from __future__ import annotations

import os
import signal

from playwright.sync_api import expect

from tests.browser.harness.lab_page import LabPage
from tests.browser.harness.server import WITHOUT_SUBSHELLS
from tests.browser.kernels.test_feed import LIVE, LOAD, UNDER_WAY

SHOW = "w = ProgressWidget(); display(w)"
IGNORED = "_clean_thread_parent_frames"
CELL = "window.jupyterapp.shell.currentWidget.content.widgets[1].model"
ENDED_OR_SAID = f"n => {CELL}.executionState === 'idle' || {CELL}.outputs.length > n"
FINISHED = "feed.state === 'live' && feed.tasks === 100 && !feed.active"


def test_a_crashed_kernel_is_said_to_be_gone_and_followed_again_once_it_loads_taskscope(lab: LabPage) -> None:
    lab.open(LOAD, SHOW, "import os; os.getpid()", "_ = work(5000)", "_ = work(100)")
    for cell in range(3):
        lab.run_cell(cell)
    (shown,) = lab.outputs(2)
    lab.start_cell(3)
    lab.wait_feed(UNDER_WAY)
    os.kill(int(shown["data"]["text/plain"]), signal.SIGKILL)
    lab.wait_feed("feed.state === 'restarted' && !feed.active")
    expect(lab.page.locator(".tsk-widget").get_by_text("kernel restarted")).to_be_visible()
    # The page tries its comms again; the new kernel closes them, and JupyterLab has not heard of them either.
    lab.forgive("console: Comm not found for comm id")
    lab.page.get_by_role("button", name="Ok", exact=True).click()
    lab.wait_ready()
    lab.run_cell(0)
    lab.run_cell(4)
    lab.wait_feed(FINISHED)


def test_a_kernel_restarted_before_it_loads_taskscope_is_followed(lab: LabPage) -> None:
    lab.open(LOAD, "_ = work(100)")
    lab.restart_kernel()
    lab.run_cell(0)
    lab.run_cell(1)
    lab.wait_feed(FINISHED)


def test_a_kernel_without_subshells_is_watched_while_its_cell_runs(lab: LabPage) -> None:
    lab.open(LOAD, "_ = work(400)", kernel=WITHOUT_SUBSHELLS)
    lab.run_cell(0)
    lab.wait_feed("feed?.state === 'live' && !feed.subshell")
    lab.start_cell(1)
    lab.wait_feed(UNDER_WAY)
    assert not lab.is_done(1)
    lab.wait_feed("!feed.active && feed.tasks === 400")


def test_stop_also_reaches_a_kernel_without_subshells(lab: LabPage) -> None:
    lab.open(LOAD, "_ = work(5000)", kernel=WITHOUT_SUBSHELLS)
    lab.run_cell(0)
    lab.wait_feed("feed?.state === 'live'")
    lab.start_cell(1)
    lab.wait_feed(UNDER_WAY)
    # An interrupt that comes while Python collects garbage may be lost in ipykernel 6, which has a callback
    # for that; Python says "Exception ignored in" it, in the cell. So it is without taskscope.
    n_lost = 0
    while not lab.is_done(1):
        lab.stop()
        lab.page.wait_for_function(ENDED_OR_SAID, arg=n_lost)
        n_lost = len(lab.outputs(1))
    *lost, error = lab.outputs(1)
    assert [IGNORED in output["text"] for output in lost] == [True] * len(lost)
    assert error["ename"] == "KeyboardInterrupt"


def test_a_notebook_that_changes_its_kernel_has_the_feed_of_the_new_one(lab: LabPage) -> None:
    lab.open(LOAD, "_ = work(40)", "_ = work(100)")
    lab.run_cell(0)
    lab.run_cell(1)
    lab.wait_feed(f"{LIVE} && feed.tasks === 40")
    lab.change_kernel(WITHOUT_SUBSHELLS)
    assert lab.feed() is None
    lab.run_cell(0)
    lab.run_cell(2)
    lab.wait_feed(f"{FINISHED} && !feed.subshell")
