"""What a cell hands to a cluster and does not wait for, in a real JupyterLab: shown until it is over."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from tests.browser.harness.lab_page import LabPage
from tests.browser.workloads import LOAD

CLUSTER = """
from distributed import Client
client = Client(n_workers=1, threads_per_worker=6, processes=False, dashboard_address=":0")
"""

BEGUN = """%%profile -o begun
futures = [client.submit(held, i, pure=False) for i in range(4)]
"""

OTHER = """
assert client.submit(slow, 1, pure=False, resources=None).result() == 1
left = begun
assert left.summary().endswith("4 tasks still running in the background"), left.summary()
"""

WAITS = """%%profile -o waits
assert client.gather(futures) == [0, 1, 2, 3]
"""

CHECKED = """
complete = left.wait(120)
assert begun is complete, begun
for recording in (complete, waits):
    tasks = recording.to_pandas("tasks")
    assert sorted(tasks["prefix"]) == ["held"] * 4 and set(tasks["status"]) == {"finished"}, tasks
    assert [run.status for run in recording.runs] == ["finished"]
client.shutdown()
"""


def test_what_a_cell_began_is_shown_until_it_is_over_and_by_the_cell_that_waits(
    lab: LabPage, shots: Path
) -> None:
    lab.open(LOAD, CLUSTER, BEGUN, OTHER, WAITS, CHECKED)
    for cell in range(3):
        lab.run_cell(cell)
    begun = lab.page.locator(".jp-Cell").nth(2)
    # The cell is over, its computes are not.
    expect(begun.locator(".tsk-dashboard")).to_be_visible()
    expect(begun.locator(".tsk-progress-number").first).to_contain_text("0 / 4")
    lab.run_cell(3)
    expect(begun.locator(".tsk-progress-number").first).to_contain_text("0 / 4")
    begun.screenshot(path=shots / "background-live.png")
    lab.start_cell(4)
    waits = lab.page.locator(".jp-Cell").nth(4)
    expect(waits.locator(".tsk-progress-number").first).to_contain_text("0 / 4")
    lab.release()
    lab.wait_cell(4)
    for shown in (begun, waits):
        shown.scroll_into_view_if_needed()
        expect(shown.frame_locator("iframe").locator(".tsk-gantt canvas")).to_be_visible()
    lab.run_cell(5)
