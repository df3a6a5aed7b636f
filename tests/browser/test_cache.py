"""What the scheduler holds in a real JupyterLab, true by construction."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.harness.lab_page import LabPage
from tests.browser.workloads import LOAD

# Results of 1 MB are held until all have landed; then one sum of them is made.
WIDGET = """
from dask._task_spec import Task, TaskRef
from taskscope import CacheWidget
w = CacheWidget()
display(w)
def make(i):
    time.sleep(0.1)
    return bytes(1_000_000)
def total(*parts):
    return sum(map(len, parts))
def held_graph(n):
    graph = {("block-1", i): Task(("block-1", i), make, i) for i in range(n)}
    graph["total"] = Task("total", total, *(TaskRef(("block-1", i)) for i in range(n)))
    return graph
"""


def test_a_recording_in_the_users_metric_is_shown_by_its_name(lab: LabPage, shots: Path) -> None:
    record = (
        "def megabytes(result): return len(result) / 1e6 if isinstance(result, bytes) else None\n"
        "w.close()\n"
        "with taskscope.profile(display=False, metric=megabytes) as run:\n"
        "    dask.threaded.get(held_graph(5), 'total', num_workers=2)"
    )
    lab.open(LOAD, WIDGET, record, "r = CacheWidget(run.recording); display(r)", "assert r.peak_value == 5.0")
    for cell in range(5):
        lab.run_cell(cell)
    expect(lab.page.locator(".tsk-cache-peak")).to_have_text(
        re.compile(r"^Peak 5 megabytes at .*: block 5 \(100%\)$")
    )
    expect(lab.page.get_by_role("button", name="megabytes")).to_have_attribute("aria-pressed", "true")
    lab.page.screenshot(path=shots / "cache-metric.png")
