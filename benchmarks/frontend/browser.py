"""How long from a worker thread to a page, while the cell computes?

A real JupyterLab, a real kernel, headless Chromium. The cell runs a blocking threaded compute; the page notes
when each message of the feed arrives, and when the first bar is there to be seen. Kernel and page share this
machine's clock, which a page reads to about 0.1 ms.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import sync_playwright

from benchmarks.harness import Table, main
from tests.browser.harness.lab_page import LabPage
from tests.browser.harness.server import running_server

LOAD = """
import time, dask.threaded
from dask._task_spec import Task
from taskscope.session import current
%load_ext taskscope
def busy(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
def run_tasks(n, function, seconds):
    dask.threaded.get({i: Task(i, function, seconds) for i in range(n)}, list(range(n)), num_workers=4)
"""
SLEEPING = "run_tasks({n}, time.sleep, 0.02)"
SPINNING = "run_tasks({n}, busy, 0.002)"
FIRST = "print(float(run.to_pandas('tasks').start_s.min()), run.zero_s)"
ZERO = "print(current().recorder.started_at.timestamp())"
RECORD = """() => {
  window.arrivals = [];
  window.shown = null;
  const feeds = window.jupyterapp.pluginRegistry._plugins.get('taskscope:plugin').service;
  const kernel = window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel;
  const now = () => (performance.timeOrigin + performance.now()) / 1000;
  feeds.get(kernel.id)._comms.arrived.connect((_, a) => {
    if (a.channel === 'data') window.arrivals.push([now(), a.data.now_s, a.data.count]);
  });
  new MutationObserver(() => {
    const bar = document.querySelector('.tsk-widget [role=progressbar]');
    if (window.shown === null && Number(bar?.getAttribute('aria-valuenow')) > 0) window.shown = now();
  }).observe(document.body, { subtree: true, childList: true, attributes: true });
}"""


def measure(*, quick: bool) -> list[Table]:
    sizes = {"sleeping tasks of 20 ms": SLEEPING.format(n=300 if quick else 1500)}
    sizes["tasks that spin 2 ms and hold the lock"] = SPINNING.format(n=700 if quick else 3500)
    rows = [_row(name, cell) for name, cell in sizes.items()]
    columns = ("cell", "messages", "per second", "p50 ms", "p95 ms", "first task to first progress shown, ms")
    return [Table("Worker thread to page, 4 threads", columns, rows)]


def _row(name: str, cell: str) -> list[str]:
    with (
        tempfile.TemporaryDirectory() as folder,
        running_server(Path(folder)) as server,
        sync_playwright() as playwright,
        playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        ) as browser,
    ):
        lab = LabPage(browser.new_page(), server, "latency")
        lab.open(
            LOAD,
            ZERO,
            f"%%profile -o run\n{cell}",
            "print(float(run.to_pandas('tasks').start_s.min()), run.zero_s)",
        )
        lab.run_cell(0)
        lab.wait_feed("feed?.state === 'live'")
        lab.run_cell(1)
        lab.page.evaluate(RECORD)
        lab.run_cell(2)
        lab.run_cell(3)
        zero = _numbers(lab.outputs(1))[0]
        first_s, block_s = _numbers(lab.outputs(3))
        arrivals = np.array(lab.page.evaluate("window.arrivals"))
        shown = lab.page.evaluate("window.shown")
    late_ms = (arrivals[:, 0] - zero - arrivals[:, 1]) * 1e3
    rate = (len(arrivals) - 1) / (arrivals[-1, 0] - arrivals[0, 0])
    p50, p95 = np.percentile(late_ms, [50, 95])
    to_pixels = (shown - zero - block_s - first_s) * 1e3
    return [name, f"{len(arrivals)}", f"{rate:.1f}", f"{p50:.1f}", f"{p95:.1f}", f"{to_pixels:.0f}"]


def _numbers(outputs: list[dict[str, Any]]) -> list[float]:
    return [float(word) for word in "".join(outputs[0]["text"]).split()]


if __name__ == "__main__":
    main(__doc__, measure)
