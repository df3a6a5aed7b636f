"""Finished recordings in a real JupyterLab: interactive, without the kernel's live traffic, and sent once."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import WebSocket, expect

from tests.browser.harness.lab_page import LabPage
from tests.browser.workloads import LOAD
from tests.support.files.hostile import ELEMENTS
from tests.support.files.payloads import PAYLOADS

RECORD = """
with taskscope.profile(display=False) as run: _ = computed(int, 3000, 'synchronous')
recording = run.recording
"""
SHOW_ONE = "display(GanttWidget(recording))"
SHOW_TEN = "for kind in (ProgressWidget, GanttWidget, Dashboard) * 3: display(kind(recording))"
RELOAD_FROM_FILE = "recording.save('again.taskscope'); display(Dashboard(taskscope.load('again.taskscope')))"


class Received:
    """Counts the bytes that come over the page's websockets."""

    def __init__(self, lab: LabPage) -> None:
        self.n_bytes = 0
        lab.page.on("websocket", self._watch)

    def _watch(self, socket: WebSocket) -> None:
        socket.on("framereceived", self._add)

    def _add(self, frame: str | bytes) -> None:
        self.n_bytes += len(frame)


def test_ten_views_of_one_recording_are_sent_as_one(lab: LabPage, shots: Path) -> None:
    received = Received(lab)
    lab.open(LOAD, RECORD, SHOW_ONE, SHOW_TEN)
    lab.run_cell(0)
    lab.wait_feed("feed?.state === 'live'")
    lab.run_cell(1)
    lab.wait_feed("!feed.active && feed.tasks === 3000")
    before = received.n_bytes
    lab.run_cell(2)
    gantt = lab.page.locator(".tsk-gantt-state")
    expect(gantt).to_have_text(["3,000 tasks · 1 thread"])
    for_one = received.n_bytes - before
    lab.run_cell(3)
    expect(gantt).to_have_count(7)
    expect(lab.page.locator(".tsk-progress-count")).to_have_text(["3,000 of 3,000 tasks"] * 6)
    expect(lab.page.locator(".tsk-note:visible")).to_have_count(0)
    for_nine_more = received.n_bytes - before - for_one
    # 3,000 tasks are at least 16 bytes each; a widget's own traits and outputs are about 10 kB.
    assert for_one > 3000 * 16, (for_one, for_nine_more)
    assert for_nine_more < for_one * 3, (for_one, for_nine_more)
    lab.page.screenshot(path=shots / "recording.png")


def test_a_recording_from_a_file_is_shown_like_one_from_memory(lab: LabPage) -> None:
    lab.open(LOAD, RECORD.replace("3000", "30"), RELOAD_FROM_FILE)
    for cell in range(3):
        lab.run_cell(cell)
    expect(lab.page.locator(".tsk-progress-count")).to_have_text("30 of 30 tasks")
    expect(lab.page.locator(".tsk-gantt canvas")).to_be_visible()


RECORD_NEEDS = """
import dask.local
def total(*parts): return sum(parts)
graph = {("load", i): (int, i) for i in range(20)}
graph |= {("scale", i): (total, ("load", i), ("load", 0)) for i in range(20)}
with taskscope.profile(display=False) as run: _ = dask.local.get_sync(graph, list(graph))
run.recording.save("needs.taskscope")
"""
SHOW_NEEDS = """
shown = GanttWidget(run.recording), Dashboard(taskscope.load("needs.taskscope"))
display(*shown)
"""
SELECT = "for widget in shown: widget.selected_key = {!r}"


def test_a_recording_tells_what_the_selected_task_needs_and_what_needs_it(lab: LabPage, shots: Path) -> None:
    first, last = "('load', 0)", "('scale', 3)"
    lab.open(LOAD, RECORD_NEEDS, SHOW_NEEDS, SELECT.format(first), SELECT.format(last))
    for cell in range(4):
        lab.run_cell(cell)
    charts = lab.page.locator(".tsk-gantt")
    expect(charts).to_have_count(2)
    cards = charts.locator(".tsk-gantt-card")
    for card in cards.all():
        expect(card).to_contain_text(first)
        card.get_by_role("button", name="Draw dependencies").click()
        expect(card.get_by_role("list", name="Needed by 20 tasks").get_by_role("button")).to_have_count(20)
    charts.first.screenshot(path=shots / "recording-dependents.png")
    lab.run_cell(4)
    for card in cards.all():
        expect(card.get_by_role("list", name="Depends on 2 tasks").get_by_role("button")).to_have_count(2)


SHOW_HOSTILE = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[3])!r})
from ipywidgets import VBox
from tests.support.files.hostile import hostile
from tests.support.files.payloads import PAYLOADS
display(VBox([GanttWidget(hostile(text)) for text in ("harmless", *PAYLOADS)]))
"""
STEP = """document.querySelectorAll('.tsk-gantt canvas').forEach(canvas =>
  canvas.dispatchEvent(new KeyboardEvent('keydown', { key: 'n', bubbles: true, cancelable: true })))"""


def test_hostile_text_in_every_field_adds_no_element_to_a_widget_and_runs_nothing(lab: LabPage) -> None:
    lab.open(LOAD, SHOW_HOSTILE)
    for cell in range(2):
        lab.run_cell(cell)
    charts, n_charts = lab.page.locator(".tsk-gantt"), 1 + len(PAYLOADS)
    tells = "2 tasks · 2 threads · 1 running · 1 failed"
    expect(charts.locator(".tsk-gantt-state")).to_contain_text([tells] * n_charts)
    lab.page.evaluate(STEP)
    expect(charts.locator(".tsk-gantt-card")).to_have_count(n_charts)
    # What each needs, and what needs it, comes after the card.
    expect(charts.locator(".tsk-gantt-links")).to_have_count(2 * n_charts)
    made = [chart.evaluate(ELEMENTS) for chart in charts.all()]
    assert made == [made[0]] * n_charts
    assert lab.page.evaluate("window.pwned ?? null") is None
