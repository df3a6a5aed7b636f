"""Recordings at the edges of what there can be, in a real JupyterLab: each is drawn, and nothing errs."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from tests.browser.harness.lab_page import LabPage
from tests.browser.workloads import LOAD

SETUP = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[3])!r})
from dataclasses import replace
from taskscope.model.tables.records import Lane
from tests.support.recordings.spelled_out import recording_of, run_of
from tests.support.recordings.task_blocks import Row
from ipywidgets import VBox
DAY = 86400.0
shown = []
def show(rows, stop_s, n_workers=1):
    for w in shown: w.close()
    recording = recording_of(rows, [run_of(n_tasks=len(rows), stop_s=stop_s)])
    n_lanes = len(recording.lanes)
    worker = lambda lane: f"worker-{{lane.id * n_workers // n_lanes}}"
    lanes = tuple(replace(lane, worker=worker(lane)) for lane in recording.lanes)
    shown[:] = [Dashboard(replace(recording, lanes=lanes, now_s=recording.zero_s + stop_s))]
    display(shown[0])
def lanes(n, n_workers=1):
    rows = [Row(key=(f"work{{i % 3}}-1", lane, i), lane=lane, start_s=i + lane / n, stop_s=i + 0.8 + lane / n,
                cpu_s=0.5, size_bytes=1e6) for lane in range(n) for i in range(3)]
    show(rows, 4.0, n_workers)
"""
GROUPS = """
groups = range(2000)
show([Row(key=(f"g{i}-1", 0), lane=i % 4, start_s=i / 100, stop_s=i / 100 + 0.03) for i in groups], 21)
"""
NAMES = """
names = [f"load_{i:05}_" + "x" * 400 for i in range(12_000)]
show([Row(key=name, lane=i % 4, start_s=i / 100, stop_s=i / 100 + 0.03) for i, name in enumerate(names)], 121)
"""
LENGTHS = """
none = Row(key="none", lane=1, start_s=DAY, stop_s=DAY)
short = Row(key="short", lane=1, start_s=2 * DAY, stop_s=2 * DAY + 1e-6)
show([Row(key="long", stop_s=3 * DAY), none, short], 3 * DAY)
"""
STEPS = """
times = [(5, 6), (2, 3), (9, 8.5), (5.5, 7)]
show([Row(key=("a", i), start_s=start, stop_s=stop) for i, (start, stop) in enumerate(times)], 10)
"""
CASES = {
    "1 thread": ("lanes(1)", "3 tasks · 1 thread"),
    "16 threads": ("lanes(16)", "48 tasks · 16 threads"),
    "500 threads": ("lanes(500, 20)", "1,500 tasks · 500 threads"),
    "5,000 threads": ("lanes(5000, 100)", "15,000 tasks · 5,000 threads"),
    "2,000 groups": (GROUPS, "2,000 tasks · 4 threads"),
    "more names than fit into a message": (NAMES, "12,000 tasks · 4 threads"),
    "nothing and three days": (LENGTHS, "3 tasks · 2 threads"),
    "clock steps back": (STEPS, "4 tasks · 1 thread"),
}


def test_the_edges_of_what_there_can_be_are_shown(lab: LabPage, shots: Path) -> None:
    lab.open(LOAD + SETUP, *[code for code, _ in CASES.values()])
    lab.run_cell(0)
    gantt = lab.page.locator(".tsk-gantt")
    for cell, (name, (_, says)) in enumerate(CASES.items(), start=1):
        lab.run_cell(cell)
        expect(gantt.locator(".tsk-gantt-state")).to_have_text(says)
        canvas = gantt.locator("canvas")
        # Bars are the only colours there are.
        lab.page.wait_for_function(IS_DRAWN)
        for key in ("w", "d", "n", "r", "Escape", "Home"):
            canvas.press(key)
        canvas.hover(position={"x": 500, "y": 10})
        gantt.screenshot(path=shots / f"extreme-{name.replace(' ', '-').replace(',', '')}.png")


IS_DRAWN = """() => {
  const canvas = document.querySelector('.tsk-gantt canvas');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let coloured = 0;
  for (let i = 0; i < data.length; i += 4) {
    const parts = [data[i], data[i + 1], data[i + 2]];
    coloured += Math.max(...parts) - Math.min(...parts) > 50;
  }
  return coloured > 500;
}"""
