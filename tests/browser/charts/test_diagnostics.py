"""The drop-in in a real browser: the bar and a plot under a cell, and a plot in a file without a network."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.harness.lab_page import LabPage

IMPORT = "import dask, os, time\nfrom taskscope.diagnostics import Profiler, ProgressBar"
COMPUTE = """
def held():
    while not os.path.exists(os.environ["JPY_SESSION_NAME"].removesuffix(".ipynb") + ".stage1"):
        time.sleep(0.01)
with ProgressBar():
    out = dask.compute(*(dask.delayed(held)() for i in range(4)), num_workers=2)
"""
PLOT = """
with Profiler() as prof:
    dask.delayed(abs)(-1, dask_key_name="abs-1").compute()
prof.visualize();
"""


def test_the_bar_under_a_cell_is_a_widget_while_it_runs_and_text_afterwards(
    lab: LabPage, shots: Path
) -> None:
    lab.open(IMPORT, COMPUTE)
    lab.run_cell(0)
    lab.start_cell(1)
    bar = lab.page.locator(".tsk-widget [role=progressbar]").first
    expect(bar).to_be_visible()
    lab.page.screenshot(path=shots / "progress-bar.png")
    lab.release()
    lab.wait_cell(1)
    (output,) = lab.outputs(1)
    text = "".join(output["data"]["text/plain"])
    assert re.fullmatch(r"\[#{40}\] \| 100% Completed \| .*", text), text
    expect(lab.page.locator(".tsk-widget")).to_have_count(0)


def test_a_plot_under_a_cell_is_drawn_in_its_own_frame(lab: LabPage, shots: Path) -> None:
    lab.open(IMPORT, PLOT)
    lab.run_cell(0)
    lab.run_cell(1)
    expect(lab.page.frame_locator("iframe").locator(".bk-Figure canvas").first).to_be_visible()
    lab.page.screenshot(path=shots / "visualize-cell.png")
