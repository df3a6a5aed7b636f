"""What a person can do to a compute and to its picture, in a real JupyterLab."""

from __future__ import annotations

import re
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.harness.lab_page import LabPage
from tests.browser.harness.server import WITHOUT_SUBSHELLS
from tests.browser.workloads import LOAD

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
SHOWN = "canvas => canvas.toDataURL()"


def start_waiting(lab: LabPage) -> None:
    lab.open(LOAD, WIDGET, "_ = computed(wait, 8)")
    lab.run_cell(0)
    lab.wait_feed("feed?.state === 'live' && feed.subshell")
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


def test_stop_can_be_reached_and_pressed_by_keyboard(lab: LabPage) -> None:
    start_waiting(lab)
    stop = lab.page.get_by_role("button", name="Stop", exact=True)
    expect(stop).to_be_visible()
    stop.focus()
    lab.page.keyboard.press("Enter")
    expect_interrupted(lab)


def test_in_a_panel_of_245_px_stop_and_more_stand_in_the_line_of_the_state(lab: LabPage, shots: Path) -> None:
    lab.open(LOAD, "display(Dashboard())", "_ = computed(wait, 8)")
    lab.run_cell(0)
    lab.wait_feed("feed?.state === 'live' && feed.subshell")
    lab.run_cell(1)
    lab.page.add_style_tag(content=".tsk-dashboard { width: 245px !important; }")
    lab.start_cell(2)
    stop = lab.page.get_by_role("button", name="Stop", exact=True)
    expect(stop).to_be_visible()
    progress = lab.page.locator(".tsk-progress")
    line = [".tsk-progress-state", ".tsk-progress-stop", ".tsk-toolbar"]
    boxes = [progress.locator(name).first.bounding_box() for name in line]
    middles = [box["y"] + box["height"] / 2 for box in boxes if box is not None]
    assert middles == [pytest.approx(middles[0], abs=1)] * 3
    progress.screenshot(path=shots / "progress-245.png")
    stop.click()
    expect_interrupted(lab)


def test_stop_goes_through_the_server_where_the_kernel_does_not_hear_us(lab: LabPage) -> None:
    lab.open(LOAD, WIDGET, "_ = computed(wait, 8)", kernel=WITHOUT_SUBSHELLS)
    lab.run_cell(0)
    lab.wait_feed("feed?.state === 'live' && !feed.subshell")
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


@pytest.mark.parametrize("kernel", ["busy", "idle"])
def test_stop_cancels_what_a_cluster_goes_on_with_after_a_question_and_nothing_else(
    lab: LabPage, shots: Path, kernel: str
) -> None:
    lab.open(LOAD, TWO_VIEWS, CLUSTER, PERSIST, "until(2)", "client.shutdown()")
    for cell in range(4):
        lab.run_cell(cell)
    stop = lab.page.get_by_role("button", name="Stop", exact=True)
    question = lab.page.get_by_role("alertdialog")
    expect(stop).to_have_count(2)
    if kernel == "busy":
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
    if kernel == "busy":
        assert not lab.is_done(4)
        lab.release(2)
        lab.wait_cell(4)
        assert lab.outputs(4) == []
    lab.release()
    lab.run_cell(5)


def test_stop_interrupts_the_cell_that_waits_for_its_own_futures_and_then_cancels_them(lab: LabPage) -> None:
    lab.open(LOAD, WIDGET, CLUSTER, f"{PERSIST}; _ = wait(kept)", "client.shutdown()")
    for cell in range(3):
        lab.run_cell(cell)
    lab.start_cell(3)
    stop = lab.page.get_by_role("button", name="Stop", exact=True)
    expect(stop).to_have_attribute("title", "Interrupt the cell that computes")
    stop.click()
    lab.wait_cell(3)
    assert [output["ename"] for output in lab.outputs(3)] == ["KeyboardInterrupt"]
    expect(stop).to_have_attribute("title", "Cancel its futures, after a question")
    stop.click()
    lab.page.get_by_role("alertdialog").get_by_role("button", name="Cancel its futures").click()
    expect(lab.page.locator(".tsk-progress-state")).to_have_text("Interrupted")
    lab.release()
    lab.run_cell(4)


def test_stop_says_why_it_cannot_reach_a_compute_in_another_thread(lab: LabPage, shots: Path) -> None:
    thread = "thread = threading.Thread(target=computed, args=(held, 4)); thread.start()"
    lab.open(LOAD, WIDGET, thread, "thread.join()")
    for cell in range(3):
        lab.run_cell(cell)
    stop = lab.page.get_by_role("button", name="Stop", exact=True)
    expect(stop).to_be_disabled()
    expect(stop).to_have_attribute("title", "It runs in a thread of yours, which cannot be interrupted")
    stop.screenshot(path=shots / "stop-disabled.png")
    lab.release()
    lab.run_cell(3)
    expect(lab.page.locator(".tsk-progress-state")).to_have_text("Finished")


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
        ["Task type", "Tasks", "Finished", "Running", "Failed", "Interrupted or lost"],
        *counts,
    ]
    assert sorted(row[:3] for row in tables["gantt"][1:3]) == [row[:3] for row in counts]
    assert [row[0] for row in tables["resources"][2:4]] == ["Memory", ""]
    assert tables["resources"][4][:3] == ["Time (s)", "CPU (% of one core)", "Resident memory (bytes)"]
    assert all(float(row[2]) > 10e6 for row in tables["resources"][5:]), tables["resources"]
    assert tables["cache"][0] == ["Group", "Task type", "Bytes"]
    assert {row[0] for row in tables["cache"][1:]} in ({"load"}, {"scale"}, {"load", "scale"})
    for name in CHARTS:
        looked = saved(lab, name, shots)
        canvas = chart(lab, name).locator("canvas")
        width = 1280 if name == "progress" else canvas.evaluate("canvas => canvas.width")
        tall = 100 if name == "progress" else canvas.evaluate("canvas => canvas.height")
        assert (looked["width"], looked["height"] > tall, looked["colours"] > 10) == (width, True, True), (
            name,
            looked,
        )


def test_every_chart_by_itself_is_held_and_cleared(lab: LabPage) -> None:
    lab.open(LOAD, SHOW_EACH, "_ = two_prefixes()", "_ = computed(slow, 5)")
    lab.run_cell(0)
    lab.run_cell(1)
    lab.start_cell(2)
    for name in CHARTS[1:3]:
        expect(chart(lab, name).locator("canvas")).to_be_visible()
    expect(chart(lab, "progress").locator(".tsk-progress-count")).to_have_text("0 of 8 tasks")
    hold = [
        chart(lab, name).get_by_role("button", name="Pause display (still recording)") for name in CHARTS[:3]
    ]
    for button in hold:
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
    expect(chart(lab, "gantt").locator(".tsk-gantt-state")).to_contain_text("paused at")
    # What was measured before may still have been under way.
    feed = lab.feed()
    assert feed is not None
    lab.wait_feed(f"feed.nBatches > {feed['nBatches'] + 2}")
    pictures = [chart(lab, name).locator("canvas").evaluate(SHOWN) for name in CHARTS[1:3]]
    lab.release()
    lab.wait_cell(2)
    lab.wait_feed("!feed.active && feed.tasks === 8")
    expect(chart(lab, "cache").locator(".tsk-cache-now")).to_have_text("none in memory now")
    expect(chart(lab, "progress").locator(".tsk-progress-count")).to_have_text("0 of 8 tasks")
    assert pictures == [chart(lab, name).locator("canvas").evaluate(SHOWN) for name in CHARTS[1:3]]
    for button in hold:
        button.click()
    expect(chart(lab, "progress").locator(".tsk-progress-count")).to_have_text("8 of 8 tasks")
    expect(chart(lab, "gantt").locator(".tsk-gantt-state")).to_have_text("8 tasks · 2 threads")
    for name in CHARTS:
        choose(lab, name, "Clear, show new tasks only")
    expect(chart(lab, "progress").locator(".tsk-progress-state")).to_have_text("Waiting for a Dask compute")
    for name in CHARTS[1:]:
        expect(chart(lab, name)).to_contain_text("cleared: waiting for the next compute")
    lab.run_cell(3)
    expect(chart(lab, "progress").locator(".tsk-progress-count")).to_have_text("5 of 5 tasks")
    choose(lab, "progress", "Show all computes again")
    expect(chart(lab, "progress").get_by_role("button", name="2 computes")).to_be_visible()


def test_a_dashboard_is_held_and_cleared_as_one(lab: LabPage) -> None:
    lab.open(LOAD, "display(Dashboard(more_charts=True))", "_ = computed(held, 4)")
    lab.run_cell(0)
    lab.run_cell(1)
    lab.start_cell(2)
    expect(chart(lab, "gantt").locator("canvas")).to_be_visible()
    expect(lab.page.get_by_role("button", name="Pause display (still recording)")).to_have_count(1)
    lab.page.get_by_role("button", name="Pause display (still recording)").click()
    expect(chart(lab, "progress").locator(".tsk-progress-held")).to_have_text("paused")
    lab.release()
    lab.wait_cell(2)
    lab.wait_feed("!feed.active && feed.tasks === 4")
    expect(chart(lab, "progress").locator(".tsk-progress-count")).to_have_text("0 of 4 tasks")
    lab.page.get_by_role("button", name="Pause display (still recording)").click()
    expect(chart(lab, "progress").locator(".tsk-progress-count")).to_have_text("4 of 4 tasks")
    choose(lab, "gantt", "Clear, show new tasks only")
    expect(chart(lab, "progress").locator(".tsk-progress-state")).to_have_text("Waiting for a Dask compute")
    for name in CHARTS[1:]:
        expect(chart(lab, name)).to_contain_text("cleared: waiting for the next compute")
    choose(lab, "gantt", "Show all computes again")
    expect(chart(lab, "cache")).not_to_contain_text("cleared")
