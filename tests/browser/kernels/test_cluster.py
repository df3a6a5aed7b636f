"""A cluster of two processes in a real JupyterLab: tasks, transfers, workers, calls, live and after."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import FrameLocator, Locator, expect

from tests.browser.harness.lab_page import LabPage, use_theme
from tests.browser.workloads import LOAD, PATIENT

CLUSTER = """
import os, shutil, tempfile, time
import numpy as np
from distributed import Client

folder = tempfile.mkdtemp()
def flaky(folder):
    number = len(os.listdir(folder))
    open(f"{folder}/{number}", "x").close()
    time.sleep(0.2)
    if number < 2:
        raise ConnectionError(f"no answer <b>{number}</b>")
    return number

client = Client(n_workers=2, threads_per_worker=2, processes=True, dashboard_address=":0")
here, there = sorted(client.ncores())
"""

FLAME = """
from taskscope import FlameWidget
display(FlameWidget())
"""

# Each sum needs a block that is with the other worker.
PROFILED = """%%profile -o run
blocks = [client.submit(np.ones, 100_000 + i, workers=[here], pure=False) for i in range(10)]
sums = [client.submit(np.sum, block, workers=[there], pure=False) for block in blocks]
assert client.gather(sums) == [100_000 + i for i in range(10)]
stuck = client.submit(abs, 1, resources={"GPU": 1}, pure=False)
tried = client.submit(flaky, folder, retries=2, pure=False)
assert tried.result() == 2
last = client.submit(held, 1, workers=[here], pure=False)
assert last.result() == 1
stuck.cancel()
"""

N_BYTES = 8 * sum(range(100_000, 100_010))

CHECKED = f"""
tasks, activities, said = (run.to_pandas(name) for name in ("tasks", "activities", "workers"))
assert tasks.groupby("prefix").size().to_dict() == {{"flaky": 1, "held": 1, "ones": 10, "sum": 10}}, tasks
assert set(tasks["status"]) == {{"finished"}}, tasks
failed = activities[activities["activity"] == "failed-attempt"]
# Behind it stands which attempt it was, if the workers have always answered soon.
errors = [f"ConnectionError: no answer <b>{{n}}</b>" for n in range(2)]
assert [error.partition(" (")[0] for error in failed["error"]] == errors, failed
moved = activities[activities["activity"] == "transfer"]
assert set(moved["source"]) == {{here}} and moved["nbytes"].sum() >= {N_BYTES}, moved
assert set(said["worker"]) == {{here, there}}, said
calls = run.profile(prefix="held")
assert calls.n_samples == run.profile(prefix="held", worker=here).n_samples > 0, calls
client.shutdown()
shutil.rmtree(folder)
"""


def test_transfers_and_workers_of_a_cluster_are_shown_live_and_in_the_result(
    lab: LabPage, shots: Path
) -> None:
    lab.open(LOAD + PATIENT, CLUSTER, FLAME, PROFILED, CHECKED)
    for cell in (0, 1, 2):
        lab.run_cell(cell)
    lab.start_cell(3)
    # A side panel may show the same computes.
    live = lab.page.locator(".tsk-dashboard").first
    legend = live.locator(".tsk-activities")
    expect(live.locator(":scope > .tsk-gantt canvas")).to_be_visible()
    expect(legend.locator("[data-kind=transfer]:visible")).to_contain_text("MB")
    expect(legend.locator("li").last).to_have_text("busy counts computing only")
    expect(live.get_by_title("worker 0: collapse its", exact=False)).to_be_visible()
    expect(legend.locator("[data-kind=failed-attempt]")).to_have_text("failed attempt2")
    workers = live.locator(".tsk-workers")
    workers.get_by_role("button", name="More charts").click()
    expect(workers.get_by_label("Worker", exact=True).locator("option")).to_have_text(
        [re.compile(text) for text in (r"^All workers \(2\)$", "^worker . · tcp:", "^worker . · tcp:")]
    )
    expect(workers.locator("canvas")).to_be_visible()
    _see_tasks(live, shots)
    _see_calls(lab, shots)
    assert not lab.is_done(3)
    workers.get_by_label("Worker", exact=True).select_option(index=1)
    expect(workers.locator(".tsk-series-foot")).to_contain_text("Results")
    live.screenshot(path=shots / "cluster-live.png")
    lab.release()
    lab.wait_cell(3)
    lab.run_cell(4)
    result = lab.page.frame_locator("iframe")
    expect(result.locator(".tsk-activities [data-kind=transfer]")).to_contain_text("MB")
    expect(result.locator(".tsk-activities [data-kind=failed-attempt]")).to_have_text("failed attempt2")
    _see_the_longest_chain(result)
    lab.page.locator(".taskscope-result summary", has_text="More charts").click()
    expect(result.locator(".tsk-workers canvas")).to_be_visible()
    _take_both_themes(lab, result, shots)


def _see_tasks(live: Locator, shots: Path) -> None:
    _see_what_hangs(live, shots)
    _see_a_selected_time(live, shots)
    _find_while_typing(live)


def _see_what_hangs(live: Locator, shots: Path) -> None:
    progress = live.locator(":scope > .tsk-progress")
    expect(progress.locator(".tsk-progress-stuck")).to_have_text("1 that no worker can run")
    expect(progress.locator(".tsk-stuck .tsk-progress-number")).to_have_text("0 / 1")
    progress.screenshot(path=shots / "cluster-progress.png")


def _see_a_selected_time(live: Locator, shots: Path) -> None:
    """See by task type what ran, was moved and was in memory, and that the longest chain is not known yet."""
    lanes = live.locator(":scope > .tsk-gantt")
    lanes.locator("canvas").press("Home")
    lanes.locator("canvas").press("x")
    selected = lanes.get_by_role("region", name="Selected time range")
    for prefix in ("ones", "sum", "flaky", "held"):
        expect(selected.locator("tbody tr", has_text=prefix)).to_be_visible()
    lines = (
        r"Busy .* idle .* over 4 threads\.",
        r"[Tt]ransfer.* MB",
        r"Memory of all workers: .* in the largest sample",
    )
    for line in (*lines, r"Results in memory: at least .*", "these computes have not ended"):
        expect(selected).to_contain_text(re.compile(line))
    lanes.screenshot(path=shots / "cluster-range.png")
    lanes.locator("canvas").press("Escape")
    expect(selected).to_be_hidden()


def _find_while_typing(live: Locator) -> None:
    lanes = live.locator(":scope > .tsk-gantt")
    lanes.locator("canvas").press("/")
    field = lanes.get_by_role("searchbox", name="Find tasks by key or task type")
    field.press_sequentially("sum")
    expect(lanes.locator(".tsk-gantt-find").get_by_role("status")).to_have_text("10 matches")
    field.press("Enter")
    card = lanes.get_by_role("region", name="Selected task")
    expect(card.locator(".tsk-gantt-tip-key")).to_contain_text("sum-")
    field.press("Escape")
    lanes.locator("canvas").press("Escape")
    expect(card).to_be_hidden()


def _see_calls(lab: LabPage, shots: Path) -> None:
    """See what the workers' own profilers count, while they do."""
    flame = lab.page.locator(".tsk-flame")
    total = flame.locator(".tsk-flame-sum")
    expect(total).to_contain_text("samples, about")
    expect(total).not_to_have_text(total.inner_text())
    # Only states that last: with every message the chart is drawn anew.
    flame.get_by_label("Tasks shown").select_option("held")
    expect(flame.locator("table tbody")).to_contain_text("until")
    flame.screenshot(path=shots / "cluster-flame.png")


def _see_the_longest_chain(result: FrameLocator) -> None:
    lanes = result.locator(".tsk-gantt").first
    lanes.locator("canvas").press("x")
    selected = lanes.get_by_role("region", name="Selected time range")
    expect(selected).to_contain_text(re.compile(r"On the longest chain: \d+ tasks? for "))
    lanes.locator("canvas").press("Escape")
    expect(selected).to_be_hidden()


def _take_both_themes(lab: LabPage, result: FrameLocator, shots: Path) -> None:
    for scheme in ("light", "dark"):
        use_theme(lab.page, scheme)
        # What is far out of sight is painted late, in a frame's own time.
        result.locator(".tsk-gantt").scroll_into_view_if_needed()
        expect(result.locator(".tsk-gantt.tsk-dark")).to_have_count(int(scheme == "dark"))
        lab.page.screenshot(path=shots / f"cluster-result-{scheme}.png")
