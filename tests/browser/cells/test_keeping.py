"""What leaves a live view in a real JupyterLab: files beside the notebook, and a comparison in a tab."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Locator, expect

from tests.browser.harness.cells import badge, charts, counts
from tests.browser.harness.lab_page import LabPage, use_theme
from tests.browser.harness.server import Server
from tests.browser.workloads import LOAD

CHECKED = """
import glob
[name] = glob.glob("*-In-2-*.taskscope")
print(sorted(taskscope.load(name).table("tasks")["prefix"]))
[page] = glob.glob("test_*-In-2-*.html")
print(open(page).read()[:15])
[trace] = glob.glob("*-In-2-*.pftrace")
print(open(trace, "rb").read(1))
"""


def choose(part: Locator, item: str) -> None:
    part.get_by_role("button", name="More actions").click()
    part.get_by_role("menuitem", name=item).click()


def printed(lab: LabPage, index: int) -> list[str]:
    return "".join(str(output["text"]) for output in lab.outputs(index)).splitlines()


def files(server: Server, suffix: str) -> list[str]:
    listed = server.request("GET", "contents/")["content"]
    return [each["name"] for each in listed if each["name"].endswith(suffix)]


def test_the_menu_of_progress_saves_the_computes_that_it_names_beside_the_notebook(
    lab: LabPage, server: Server
) -> None:
    lab.open(LOAD, "_ = computed(slow, 5)", "_ = computed(held, 4)", CHECKED)
    lab.run_cell(0)
    lab.run_cell(1)
    lab.start_cell(2)
    badge(lab, 1).click()
    view = charts(lab, 1)
    # Another cell runs meanwhile, and is in none of the files.
    progress = view.locator(".tsk-progress")
    notice = progress.locator(".tsk-notice")
    choose(progress, "Save the recording of In [2]")
    expect(notice).to_have_text(re.compile(r"saved /.*/test_.*-In-2-\d{8}-\d{6}\.taskscope"))
    choose(progress, "Save In [2] as an HTML page")
    expect(notice).to_have_text(re.compile(r"saved /.*-In-2-\d{8}-\d{6}\.html"))
    choose(progress, "Save In [2] as a trace")
    expect(notice).to_have_text(re.compile(r"saved /.*-In-2-\d{8}-\d{6}\.pftrace"))
    assert not lab.is_done(2)
    # Other tests have left theirs in the same folder.
    assert len([name for name in files(server, ".taskscope") if "-In-2-" in name]) == 1
    lab.release()
    lab.wait_cell(2)
    lab.run_cell(3)
    assert printed(lab, 3) == [str(["slow"] * 5), "<!DOCTYPE html>", "b'\\n'"]


def test_a_cell_is_compared_with_its_run_before_in_a_tab(lab: LabPage, shots: Path) -> None:
    lab.open(LOAD, "_ = computed(slow, n)", "n = 5", "n = 9")
    lab.run_cell(0)
    lab.run_cell(2)
    lab.run_cell(1)
    badge(lab, 1).click()
    progress = charts(lab, 1).locator(".tsk-progress")
    item = "Compare with the previous run of this cell"
    choose(progress, item)
    once = "could not compare: this cell has computed only once, as far as is recorded: run it again"
    expect(progress.locator(".tsk-notice")).to_have_text(once)
    lab.run_cell(3)
    lab.run_cell(1)
    expect(counts(lab, 1)).to_have_text("9 of 9 tasks")
    choose(progress, item)
    tab = lab.page.locator("[id^='taskscope-comparison']")
    compared = tab.frame_locator("iframe")
    row = compared.get_by_role("row").filter(has=compared.get_by_role("rowheader", name="tasks", exact=True))
    expect(row).to_contain_text(re.compile("5.*9"))
    assert progress.locator("iframe").count() == 0
    lab.page.screenshot(path=shots / "compared-light.png")
    use_theme(lab.page, "dark")
    lab.page.screenshot(path=shots / "compared-dark.png")
    use_theme(lab.page, "light")


KEPT = """
import time
while [c.status for c in taskscope.runs(history=True) if {name!r} in c.path] != ["finished"]:
    time.sleep(0.1)
"""


def test_a_cell_is_compared_with_its_run_in_an_earlier_kernel(lab: LabPage, server: Server) -> None:
    name = lab.workspace
    lab.open(f"{LOAD}\n%taskscope history on --longer 1e-9", "_ = computed(slow, 7)", KEPT.format(name=name))
    for index in range(3):
        lab.run_cell(index)
    kept = [each["name"] for each in server.request("GET", "contents/taskscope-history")["content"]]
    assert (
        len([each for each in kept if re.fullmatch(rf"{name}-In-2-[\d-]+-[0-9a-f]{{12}}\.taskscope", each)])
        == 1
    )
    lab.restart_kernel()
    lab.run_cell(0)
    lab.run_cell(1)
    badge(lab, 1).click()
    choose(charts(lab, 1).locator(".tsk-progress"), "Compare with the previous run of this cell")
    compared = lab.page.locator("[id^='taskscope-comparison']").frame_locator("iframe")
    row = compared.get_by_role("row").filter(has=compared.get_by_role("rowheader", name="tasks", exact=True))
    expect(row).to_contain_text(re.compile("7.*7"))
