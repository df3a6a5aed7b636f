"""What the scheduler holds in a real JupyterLab: growing while a cell runs, and true by construction."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.harness.lab_page import LabPage
from tests.browser.workloads import LOAD

# Results of 1 MB are held until all have landed; then one sum of them is made. After every four they wait.
WIDGET = """
import itertools
from dask._task_spec import Task, TaskRef
from taskscope import CacheWidget
made = itertools.count()
w = CacheWidget()
display(w)
def make(i):
    n = next(made)
    if n >= 4:
        until(min(n // 4, 3))
    return bytes(1_000_000)
def total(*parts):
    return sum(map(len, parts))
def held_graph(n):
    graph = {("block-1", i): Task(("block-1", i), make, i) for i in range(n)}
    graph["total"] = Task("total", total, *(TaskRef(("block-1", i)) for i in range(n)))
    return graph
"""
COMPUTE = "dask.threaded.get(held_graph(20), 'total', num_workers=2)"
# The kernel's values follow the page's within a second.
TRUE = """
import threading
ended = threading.Event()
look = lambda change=None: w.n_keys == 0 and w.peak_n_keys == 20 and ended.set()
w.observe(look)
look()
assert ended.wait(60), w.get_state()
size = 20 * (1_000_000 + bytes(0).__sizeof__())
assert (w.metric, w.n_keys, w.nbytes, w.n_unsized) == ('nbytes', 0, 0, 0), w.get_state()
assert (w.peak_n_keys, w.peak_nbytes) == (20, size), (w.peak_n_keys, w.peak_nbytes)
"""
WATCH = """() => {
  window.seen = [];
  const observer = new MutationObserver(() => {
    const now = document.querySelector('.tsk-cache-now')?.textContent ?? '';
    if (now && window.seen.at(-1) !== now) window.seen.push(now);
  });
  observer.observe(document.body, { subtree: true, childList: true, characterData: true });
  window.endOfTest.signal.addEventListener('abort', () => observer.disconnect());
}"""


def test_what_is_held_grows_while_a_cell_runs_and_its_peak_is_exact(lab: LabPage, shots: Path) -> None:
    lab.open(LOAD, WIDGET, COMPUTE, TRUE)
    lab.run_cell(0)
    lab.run_cell(1)
    expect(lab.page.locator(".tsk-cache .tsk-series-empty")).to_have_text("waiting for the first compute")
    lab.page.evaluate(WATCH)
    lab.start_cell(2)
    now = lab.page.locator(".tsk-cache-now")
    expect(now).to_have_text("now 4 MB · 4 results")
    lab.release(1)
    expect(now).to_have_text("now 8 MB · 8 results")
    lab.release(2)
    expect(now).to_have_text("now 12 MB · 12 results")
    assert not lab.is_done(2)
    amounts = [int(text.split()[1]) for text in lab.page.evaluate("window.seen")]
    assert len(set(amounts)) >= 3, amounts
    assert amounts == sorted(amounts), amounts
    lab.page.screenshot(path=shots / "cache-live.png")
    lab.release(3)
    lab.wait_cell(2)
    expect(now).to_have_text("none in memory now")
    peak = lab.page.locator(".tsk-cache .tsk-series-foot p")
    expect(peak).to_have_text(re.compile(r"^Peak 20 MB at .*s: block 20 MB \(100%\)$"))
    lab.wait_feed("!feed.active")
    lab.run_cell(3)
    lab.page.get_by_role("button", name="Count").click()
    expect(peak).to_have_text(re.compile(r"^Peak 20 results at .*: block 20 \(100%\)$"))
