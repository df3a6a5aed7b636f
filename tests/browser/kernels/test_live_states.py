"""What keeps a compute from going on is said in the same words by the panel, the badge and the status bar."""

from __future__ import annotations

import os
import re
from ast import literal_eval
from pathlib import Path

from playwright.sync_api import Locator, expect

from tests.browser.harness.lab_page import LabPage, use_theme
from tests.browser.workloads import LOAD, PATIENT

CLUSTER = """
from distributed import Client, LocalCluster
cluster = LocalCluster(n_workers=0, threads_per_worker=2, processes=False, dashboard_address=":0")
client = Client(cluster)
"""
WITHOUT_WORKERS = """
def come():
    until(1)
    cluster.scale(1)
threading.Thread(target=come).start()
_ = computed(slow, 8, scheduler=None)
"""
# A read that keeps the interpreter's lock, until something is written.
GATE = """
import ctypes
path = os.path.abspath(os.environ["JPY_SESSION_NAME"].removesuffix(".ipynb") + ".gate")
os.mkfifo(path)
def hold(i):
    until(1)
    ctypes.PyDLL(None).read(os.open(path, os.O_RDWR), ctypes.create_string_buffer(1), 1)
_ = computed(slow, 4)
path
"""


def faces(lab: LabPage) -> list[Locator]:
    return [lab.page.locator(place) for place in (".tsk-cell-badge", ".tsk-status")]


def test_a_cluster_without_workers_says_so_everywhere_until_one_comes(lab: LabPage, shots: Path) -> None:
    lab.open(LOAD + PATIENT, CLUSTER, WITHOUT_WORKERS)
    lab.command("taskscope:open-side-panel")
    lab.run_cell(0)
    lab.run_cell(1)
    lab.start_cell(2)
    words = re.compile(r"no workers yet, \d+ s")
    live = lab.page.locator("#taskscope-side-panel .tsk-progress-live")
    for face in (live, *faces(lab)):
        expect(face).to_have_text(re.compile(r"^(Dask: )?" + words.pattern + "$"))
    lab.page.screenshot(path=shots / "live-no-workers-light.png")
    use_theme(lab.page, "dark")
    lab.page.screenshot(path=shots / "live-no-workers-dark.png")
    lab.release()
    lab.wait_cell(2)
    for face in faces(lab):
        expect(face).to_contain_text("finished in")
    expect(live).to_be_hidden()


def test_a_cell_that_has_computed_nothing_is_said_to_run_not_the_one_before_it_to_have_finished(
    lab: LabPage, shots: Path
) -> None:
    lab.open(LOAD, "until(1)", "_ = computed(slow, 4)", "until(2)\n_ = computed(slow, 4)")
    lab.command("taskscope:open-side-panel")
    lab.run_cell(0)
    side = lab.page.locator("#taskscope-side-panel")
    state, live = side.locator(".tsk-progress-state"), side.locator(".tsk-progress-live")
    for stage, cell, after in (1, 1, "Waiting for a Dask compute"), (2, 3, "Finished"):
        lab.start_cell(cell)
        expect(state).to_have_text(f"In [{cell + 1}] runs")
        expect(live).to_have_text(re.compile(r"nothing computed yet, \d+ s"))
        lab.page.screenshot(path=shots / f"live-nothing-computed-{stage}.png")
        lab.release(stage)
        lab.wait_cell(cell)
        expect(state).to_have_text(after)
        if stage == 1:
            lab.run_cell(2)
            expect(state).to_have_text("Finished")


def test_a_kernel_that_sends_nothing_is_said_to_be_busy_or_out_of_reach(lab: LabPage, shots: Path) -> None:
    lab.open(LOAD, GATE, "_ = computed(hold, 1)")
    lab.command("taskscope:open-side-panel")
    lab.run_cell(0)
    lab.run_cell(1)
    lab.start_cell(2)
    side = lab.page.locator("#taskscope-side-panel")
    expect(side.locator(".tsk-progress-running")).to_have_text("1 running")
    lab.release()
    words = re.compile(r"kernel busy in C code or out of reach, \d+ s$")
    badge = lab.page.locator(".tsk-cell-badge").nth(1)
    for face in (
        badge,
        lab.page.locator(".tsk-status"),
        lab.page.locator("#taskscope-side-panel .tsk-progress-live"),
    ):
        expect(face).to_have_text(words)
    lab.page.screenshot(path=shots / "live-busy-in-c.png")
    path = literal_eval(lab.outputs(1)[0]["data"]["text/plain"])
    with os.fdopen(os.open(path, os.O_WRONLY), "wb") as other_end:
        other_end.write(b"x")
    lab.wait_cell(2)
    expect(badge).to_contain_text("finished in")
