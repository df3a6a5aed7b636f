"""Finished recordings in a real JupyterLab: interactive, without the kernel's live traffic, and sent once."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from tests.browser.harness.lab_page import LabPage
from tests.browser.workloads import LOAD
from tests.support.files.hostile import ELEMENTS
from tests.support.files.payloads import PAYLOADS

RECORD = """
with taskscope.profile(display=False) as run: _ = computed(int, 3000, 'synchronous')
recording = run.recording
"""
RELOAD_FROM_FILE = "recording.save('again.taskscope'); display(Dashboard(taskscope.load('again.taskscope')))"


def test_a_recording_from_a_file_is_shown_like_one_from_memory(lab: LabPage) -> None:
    lab.open(LOAD, RECORD.replace("3000", "30"), RELOAD_FROM_FILE)
    for cell in range(3):
        lab.run_cell(cell)
    expect(lab.page.locator(".tsk-progress-count")).to_have_text("30 of 30 tasks")
    expect(lab.page.locator(".tsk-gantt canvas")).to_be_visible()


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
