"""A cluster in a real JupyterLab: its tasks are shown while the cell runs, like those of threads."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from tests.browser.harness.lab_page import LabPage
from tests.browser.workloads import LOAD

CLUSTER = """
from distributed import Client
client = Client(n_workers=2, threads_per_worker=2, processes=False, protocol="tcp://", dashboard_address=":0")
"""

PROFILED = """%%profile -o run
first = client.map(slow, range(100), pure=False)
client.gather(first)
held_back = client.submit(held, 1)
total = client.submit(sum, [*first, held_back])
assert total.result() == 4951
"""

CHECKED = """
tasks = run.to_pandas("tasks")
assert tasks.groupby("prefix").size().to_dict() == {"held": 1, "slow": 100, "sum": 1}, tasks
assert set(run.to_pandas("runs")["scheduler"]) == {"distributed"}
assert len(set(zip(tasks["worker"], tasks["thread"]))) == 4
client.shutdown()
"""


def test_a_cell_that_uses_a_cluster_is_shown_while_it_runs_and_as_a_result(lab: LabPage, shots: Path) -> None:
    lab.open(LOAD, CLUSTER, PROFILED, CHECKED)
    lab.run_cell(0)
    lab.run_cell(1)
    lab.start_cell(2)
    lab.wait_feed("feed.active && feed.tasks === 100")
    assert not lab.is_done(2)
    expect(lab.page.locator(".tsk-dashboard > .tsk-gantt canvas")).to_be_visible()
    expect(lab.page.get_by_role("progressbar", name="Finished tasks")).to_be_visible()
    lab.page.screenshot(path=shots / "cluster-live.png")
    lab.release()
    lab.wait_cell(2)
    lab.wait_feed("!feed.active && feed.tasks === 102")
    lab.run_cell(3)
    lab.page.screenshot(path=shots / "cluster-result.png")
