"""CPU and memory in a real JupyterLab: growing while a cell runs, true at its end, and without a kernel."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.harness.lab_page import LabPage
from tests.browser.workloads import LOAD

WIDGET = """
import numpy as np, psutil
from taskscope import ResourceWidget
w = ResourceWidget()
display(w)
def hold(i):
    block = np.ones(10_000_000)
    kept.append(block)
    truth.append(psutil.Process().memory_info().rss)
    end = time.thread_time() + 0.8
    while time.thread_time() < end:
        block[:1000].sum()
    until(len(kept))
    return float(block[0])
truth, kept = [], []
"""
COMPUTE = """
before = psutil.Process().memory_info().rss
start, cpu = time.perf_counter(), time.process_time()
_ = computed(hold, 3, 'synchronous')
mean_percent = 100 * (time.process_time() - cpu) / (time.perf_counter() - start)
"""
# Three times 80 MB, seen from inside of tasks; no mean is above the peak, and no peak above all cores.
TRUE = """
assert w.rss_peak_bytes >= before + 200_000_000, (w.rss_peak_bytes, before)
assert 0.9 * max(truth) <= w.rss_peak_bytes <= 1.1 * max(truth), (w.rss_peak_bytes, truth)
assert 0.95 * mean_percent <= w.cpu_peak_percent <= 110 * w.n_cores, (w.cpu_peak_percent, mean_percent)
assert w.limit_bytes > w.rss_peak_bytes and w.n_cores >= 1
"""
WATCH = """() => {
  window.seen = [];
  const cell = window.jupyterapp.shell.currentWidget.content.widgets[2];
  const observer = new MutationObserver(() => {
    const memory = document.querySelectorAll('.tsk-resources [role=meter]')[1];
    const now = memory?.getAttribute('aria-valuetext') ?? '';
    const running = cell.model.executionState !== 'idle';
    if (running && window.seen.at(-1) !== now) window.seen.push(now);
  });
  observer.observe(document.body, { subtree: true, childList: true, attributes: true });
  window.endOfTest.signal.addEventListener('abort', () => observer.disconnect());
}"""
N_SEEN = "n => new Set(window.seen.filter(text => text !== '')).size >= n"


def test_cpu_and_memory_grow_while_a_cell_runs_and_are_true(lab: LabPage, shots: Path) -> None:
    lab.open(LOAD, WIDGET, COMPUTE, TRUE)
    lab.run_cell(0)
    lab.run_cell(1)
    expect(lab.page.locator(".tsk-resources .tsk-series-empty")).to_have_text("waiting for the first compute")
    lab.page.evaluate(WATCH)
    lab.start_cell(2)
    expect(lab.page.locator(".tsk-resources canvas")).to_be_visible()
    lab.page.screenshot(path=shots / "resources-live.png")
    for n in (1, 2, 3):
        lab.page.wait_for_function(N_SEEN, arg=n)
        lab.release(n)
    lab.wait_cell(2)
    seen = lab.page.evaluate("window.seen")
    assert len(set(filter(None, seen))) >= 3, seen
    assert all(re.search(r"B, peak .*B · limit .*B$", text) for text in filter(None, seen)), seen
    lab.wait_feed("!feed.active")
    lab.run_cell(3)
    canvas = lab.page.locator(".tsk-resources canvas")
    expect(canvas).to_have_attribute("aria-label", re.compile(r"^CPU, mean .*core"))
    lab.page.screenshot(path=shots / "resources-done.png")
