"""What happens to kernels: they crash, are switched and restarted, and some have no subshells."""

from __future__ import annotations

import os
import signal

import pytest
from playwright.sync_api import expect

from tests.browser.harness.lab_page import LabPage
from tests.browser.harness.server import WITHOUT_SUBSHELLS
from tests.browser.workloads import UNDER_WAY, WORK

SHOW = "w = ProgressWidget(); display(w)"
FINISHED = "feed.state === 'live' && feed.tasks === 100 && !feed.active"


# JupyterLab requests subshells of a dead kernel for its comms, and reports them when the notebook closes.
@pytest.mark.fresh_page
def test_a_crashed_kernel_is_said_to_be_gone_and_followed_again_once_it_loads_taskscope(lab: LabPage) -> None:
    lab.open(WORK, SHOW, "import os; os.getpid()", "_ = work_on(100)", "_ = work(100)")
    for cell in range(3):
        lab.run_cell(cell)
    (shown,) = lab.outputs(2)
    lab.start_cell(3)
    lab.wait_feed(UNDER_WAY)
    os.kill(int(shown["data"]["text/plain"]), signal.SIGKILL)
    lab.wait_feed("feed.state === 'restarted' && !feed.active")
    expect(lab.page.locator(".tsk-widget").get_by_text("kernel restarted")).to_be_visible()
    # The page tries its comms again; the new kernel closes them, and JupyterLab has not heard of them either.
    lab.forgive("console: Comm not found for comm id", also_later=True)
    lab.page.get_by_role("button", name="Ok", exact=True).click()
    lab.wait_ready()
    lab.run_cell(0)
    lab.run_cell(4)
    lab.wait_feed(FINISHED)


def test_a_kernel_without_subshells_is_watched_while_its_cell_runs(lab: LabPage) -> None:
    lab.open(WORK, "_ = work_on(100)", kernel=WITHOUT_SUBSHELLS)
    lab.run_cell(0)
    lab.wait_feed("feed.state === 'live' && !feed.subshell")
    lab.start_cell(1)
    lab.wait_feed(UNDER_WAY)
    assert not lab.is_done(1)
    lab.release()
    lab.wait_feed("!feed.active && feed.tasks === 104")
