"""How long after a task's end on a cluster's worker a page has it: a real JupyterLab, in headless Chromium.

Tasks return when they ended by the clock of this machine, which the page reads, too, to about 0.1 ms.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.frontend.lab import FEED
from benchmarks.frontend.page import chromium_page
from benchmarks.harness import Table
from tests.browser.harness.lab_page import LabPage
from tests.browser.harness.server import running_server

__all__ = ["measure_page_lag"]

LOAD = """
import json, time
from distributed import Client, LocalCluster
import taskscope
from taskscope import GanttWidget
from taskscope.session import current
%load_ext taskscope
cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=0)
client = Client(cluster)

def ended(_):
    time.sleep(0.02)
    return time.time()

def run(n):
    keys = [f"ended-{number}" for number in range(n)]
    with taskscope.profile(display=False):
        ends = dict(zip(keys, client.gather(client.map(ended, range(n), key=keys))))
    recorder = current().recorder
    first, block = recorder.tasks_since(recorder.cursor - n, n)
    names = [recorder.groups[group].name for group in block.group.tolist()]
    print(json.dumps([[first + i, ends[key]] for i, key in enumerate(block.keys.iter_text(names))]))
"""
SHOW = "display(GanttWidget())"
END = "client.close(); cluster.close()"
WATCH = f"""() => {{
  window.arrivals = [];
  const now = () => (performance.timeOrigin + performance.now()) / 1000;
  {FEED}._comms.arrived.connect((_, {{ channel, data }}) => {{
    if (channel !== 'data' || !data.count) return;
    const arrival = [data.first, data.count, now()];
    window.arrivals.push(arrival);
    // What was asked for before, the chart's drawing, comes first in the same frame.
    requestAnimationFrame(() => requestAnimationFrame(() => {{ arrival.push(now()); }}));
  }});
}}"""


def measure_page_lag(n_tasks: int) -> Table:
    return Table(
        f"From a task's end on a worker to a page of JupyterLab, {n_tasks} tasks of 20 ms, in ms",
        ("where", "median", "95th percentile", "most"),
        _rows(n_tasks),
        "2 worker processes of 1 thread, while the cell that computes waits; the page shows a GanttWidget.",
    )


def _rows(n_tasks: int) -> Iterator[tuple[str, ...]]:
    with (
        tempfile.TemporaryDirectory() as folder,
        running_server(Path(folder)) as server,
        chromium_page() as page,
    ):
        lab = LabPage(page, server, "lag")
        lab.open(LOAD, SHOW, f"run({n_tasks})", END)
        lab.run_cell(0)
        lab.run_cell(1)
        lab.wait_feed("feed?.state === 'live'")
        page.evaluate(WATCH)
        lab.run_cell(2)
        ends = dict(json.loads(_text(lab.outputs(2))))
        page.wait_for_function(
            "row => window.arrivals.some(a => a[0] + a[1] > row && a.length === 4)", arg=max(ends)
        )
        arrivals = page.evaluate("window.arrivals")
        for place, where in ((2, "in the page"), (3, "drawn")):
            yield (where, *_lags(ends, arrivals, place))
        lab.run_cell(3)


def _lags(ends: dict[int, float], arrivals: Sequence[Sequence[float]], place: int) -> Iterator[str]:
    came = {row: a[place] for a in arrivals for row in range(int(a[0]), int(a[0] + a[1]))}
    lags = np.array([came[row] - end for row, end in ends.items()]) * 1e3
    return (f"{lag:.0f}" for lag in (*np.percentile(lags, (50, 95)), lags.max()))


def _text(outputs: list[dict[str, Any]]) -> str:
    return "".join("".join(o["text"]) for o in outputs if o["output_type"] == "stream")
