"""The feed in a real JupyterLab: what reaches the page, and when."""

from __future__ import annotations

from tests.browser.harness.lab_page import LabPage

LOAD = """
import time, dask
from taskscope.widgets.feed import current
feed = current()
feed.session.hold(feed)
feed.announce()

@dask.delayed
def slow(i):
    time.sleep(0.02)
    return i

def work(n):
    return dask.compute(*[slow(i) for i in range(n)], scheduler="threads", num_workers=4)
"""


def test_the_feed_delivers_while_the_cell_is_still_running(lab: LabPage) -> None:
    lab.open(LOAD, "_ = work(400)")
    lab.run_cell(0)
    lab.wait_feed("feed?.state === 'live' && feed.subshell")
    lab.start_cell(1)
    lab.wait_feed("feed.active && feed.nBatches >= 5")
    assert not lab.is_done(1)
    lab.wait_cell(1)
    lab.wait_feed("!feed.active")
