"""What a person can do to a compute and to its picture, in a real JupyterLab."""

from __future__ import annotations

import re
from base64 import b64encode
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, expect

from tests.browser.harness.lab_page import LabPage
from tests.browser.harness.server import WITHOUT_SUBSHELLS
from tests.browser.workloads import LOAD, PATIENT

WIDGET = "w = ProgressWidget(); display(w)"
CHARTS = ("progress", "gantt", "resources", "cache")
SHOW_EACH = """
ws = [kind() for kind in (ProgressWidget, GanttWidget, ResourceWidget, CacheWidget)]
for w in ws: display(w)
def two_prefixes():
    graph = {("load", i): (held, i) for i in range(4)} | {("scale", i): (slow, ("load", i)) for i in range(4)}
    return dask.threaded.get(graph, [("scale", i) for i in range(4)], num_workers=2)
"""
# How large a picture is, and how many colours it has at least, up to 100.
LOOK = """async (base64) => {
  const image = new Image();
  image.src = `data:image/png;base64,${base64}`;
  await image.decode();
  const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight);
  const context = canvas.getContext('2d');
  context.drawImage(image, 0, 0);
  const pixels = new Uint32Array(context.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
  const seen = new Set();
  for (let i = 0; i < pixels.length && seen.size < 100; i++) seen.add(pixels[i]);
  return { width: canvas.width, height: canvas.height, colours: seen.size };
}"""


def start_waiting(lab: LabPage) -> None:
    lab.open(LOAD, WIDGET, "_ = computed(wait, 8)")
    lab.run_cell(0)
    lab.wait_feed("feed.state === 'live' && feed.subshell")
    lab.run_cell(1)
    lab.start_cell(2)


def expect_interrupted(lab: LabPage) -> None:
    lab.wait_cell(2)
    assert [output["ename"] for output in lab.outputs(2)] == ["KeyboardInterrupt"]
    expect(lab.page.locator(".tsk-progress-state")).to_have_text("Interrupted")
    expect(lab.page.get_by_role("button", name="Stop", exact=True)).to_have_count(0)


def test_stop_interrupts_the_compute_while_its_cell_runs(lab: LabPage) -> None:
    start_waiting(lab)
    lab.page.get_by_role("button", name="Stop", exact=True).click()
    expect_interrupted(lab)


def test_stop_goes_through_the_server_where_the_kernel_does_not_hear_us(lab: LabPage) -> None:
    lab.open(LOAD, WIDGET, "_ = computed(wait, 8)", kernel=WITHOUT_SUBSHELLS)
    lab.run_cell(0)
    lab.wait_feed("feed.state === 'live' && !feed.subshell")
    lab.run_cell(1)
    lab.start_cell(2)
    stop = lab.page.get_by_role("button", name="Stop", exact=True)
    expect(stop).to_be_visible()
    with lab.page.expect_request(lambda request: request.url.partition("?")[0].endswith("/interrupt")):
        stop.click()
    expect_interrupted(lab)


CLUSTER = """
import dask
from distributed import Client, wait
client = Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=":0")
"""
PERSIST = "kept = dask.persist(*[dask.delayed(held)(i) for i in range(4)])"
TWO_VIEWS = "display(ProgressWidget()); display(ProgressWidget())"
LOST = "goes on in the background. Cancelling it loses its 4 unfinished tasks, and what waits for them fails."


def test_stop_cancels_what_a_cluster_goes_on_with_after_a_question_and_nothing_else(
    lab: LabPage, shots: Path
) -> None:
    lab.open(LOAD + PATIENT, TWO_VIEWS, CLUSTER, PERSIST, "until(2)", "client.shutdown()")
    for cell in range(4):
        lab.run_cell(cell)
    stop = lab.page.get_by_role("button", name="Stop", exact=True)
    question = lab.page.get_by_role("alertdialog")
    expect(stop).to_have_count(2)
    lab.start_cell(4)
    stop.first.click()
    expect(question).to_have_count(1)
    expect(question).to_contain_text(f"In [4] {LOST}")
    lab.page.screenshot(path=shots / "stop-question.png")
    question.get_by_role("button", name="Let it run").click()
    expect(question).to_have_count(0)
    expect(lab.page.locator(".tsk-progress-state")).to_have_text(["Running", "Running"])
    stop.last.click()
    question.get_by_role("button", name="Cancel its futures").click()
    expect(lab.page.locator(".tsk-progress-state")).to_have_text(["Interrupted", "Interrupted"])
    expect(lab.page.locator(".tsk-progress-stop:visible")).to_have_count(0)
    assert not lab.is_done(4)
    lab.release(2)
    lab.wait_cell(4)
    assert lab.outputs(4) == []
    lab.release()
    lab.run_cell(5)


def test_the_first_stop_of_a_cell_with_futures_asks_what_becomes_of_them(lab: LabPage) -> None:
    lab.open(LOAD + PATIENT, WIDGET, CLUSTER, f"{PERSIST}; _ = wait(kept)", "client.shutdown()")
    for cell in range(3):
        lab.run_cell(cell)
    lab.start_cell(3)
    stop = lab.page.get_by_role("button", name="Stop", exact=True)
    expect(stop).to_have_attribute("title", "Interrupt its cell or cancel its futures, after a question")
    stop.click()
    question = lab.page.get_by_role("alertdialog")
    expect(question).to_contain_text("leaves its 4 unfinished tasks to go on in the background")
    assert not lab.is_done(3)
    question.get_by_role("button", name="Interrupt the cell").click()
    lab.wait_cell(3)
    assert [output["ename"] for output in lab.outputs(3)] == ["KeyboardInterrupt"]
    expect(stop).to_have_attribute("title", "Cancel its futures, after a question")
    stop.click()
    question.get_by_role("button", name="Cancel its futures").click()
    expect(lab.page.locator(".tsk-progress-state")).to_have_text("Interrupted")
    lab.release()
    lab.run_cell(4)


def chart(lab: LabPage, name: str) -> Locator:
    return lab.page.locator(f".tsk-{name}.tsk-chart").first


def choose(lab: LabPage, name: str, action: str) -> None:
    """Take an action from a chart's menu."""
    chart(lab, name).get_by_role("button", name="More actions").click()
    chart(lab, name).get_by_role("menuitem", name=action).click()


def copied(lab: LabPage, name: str) -> list[list[str]]:
    action = "Copy task types and threads as a table" if name == "gantt" else "Copy as a table"
    choose(lab, name, action)
    expect(chart(lab, name).locator(".tsk-notice")).to_have_text(re.compile(r"^copied \d+ rows"))
    text: str = lab.page.evaluate("navigator.clipboard.readText()")
    return [line.split("\t") for line in text.split("\n")]


def saved(lab: LabPage, name: str, shots: Path) -> dict[str, Any]:
    with lab.page.expect_download() as download:
        choose(lab, name, "Save as PNG")
    assert download.value.suggested_filename == f"taskscope-{name}.png"
    download.value.save_as(shots / f"saved-{name}.png")
    looked: dict[str, Any] = lab.page.evaluate(
        LOOK, b64encode((shots / f"saved-{name}.png").read_bytes()).decode()
    )
    return looked


def test_every_chart_by_itself_is_copied_as_a_table_and_saved_as_a_picture(lab: LabPage, shots: Path) -> None:
    lab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    lab.open(LOAD, SHOW_EACH, "_ = two_prefixes()")
    lab.run_cell(0)
    lab.run_cell(1)
    lab.start_cell(2)
    expect(chart(lab, "resources").locator("canvas")).to_be_visible()
    lab.release()
    lab.wait_cell(2)
    lab.wait_feed("!feed.active && feed.tasks === 8")
    expect(chart(lab, "cache").locator("canvas")).to_be_visible()
    tables = {name: copied(lab, name) for name in CHARTS}
    counts = [["load", "4", "4", "0", "0", "0"], ["scale", "4", "4", "0", "0", "0"]]
    assert [tables["progress"][0], *sorted(tables["progress"][1:])] == [
        ["Task type", "Tasks", "Finished", "Running", "Failed", "Interrupted, lost or released"],
        *counts,
    ]
    assert sorted(row[:3] for row in tables["gantt"][1:3]) == [row[:3] for row in counts]
    end = [row[0] for row in tables["resources"]].index("")
    assert [row[0] for row in tables["resources"][1:3]] == ["CPU", "Memory"]
    header, *samples = tables["resources"][end + 1 :]
    assert header[:3] == ["Time (s)", "CPU (% of one core)", "Resident memory (bytes)"]
    assert all(float(row[2]) > 10e6 for row in samples), samples
    assert tables["cache"][0] == ["Group", "Task type", "Bytes"]
    assert {row[0] for row in tables["cache"][1:]} in ({"load"}, {"scale"}, {"load", "scale"})
    for name in CHARTS[1:]:
        looked = saved(lab, name, shots)
        canvas = chart(lab, name).locator("canvas")
        width, tall = canvas.evaluate("canvas => [canvas.width, canvas.height]")
        assert (looked["width"], looked["height"] > tall, looked["colours"] > 10) == (width, True, True), (
            name,
            looked,
        )
