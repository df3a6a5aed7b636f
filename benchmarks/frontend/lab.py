"""JupyterLab with a million tasks: how a message gets to the store, its cost, and a view that joins late."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benchmarks.frontend.page import chromium_page
from benchmarks.harness import spread
from tests.browser.harness.lab_page import LabPage
from tests.browser.harness.server import running_server

__all__ = ["panel_rows", "reload_rows", "replay_rows"]

LOAD = """
import os, threading, time
from taskscope.record import GraphSource, LaneBuffer, LaneKey
from taskscope.session import current
%load_ext taskscope
recorder = current().recorder

def write(log, keys, first_s, step_s):
    for i, key in enumerate(keys):
        lane = log.lanes.setdefault(i % 16, LaneBuffer(LaneKey(os.getpid(), i % 16, 0, f"thread {i % 16}")))
        start_s = first_s + i // 16 * step_s
        lane.extend((key, start_s, start_s + 0.9 * step_s, step_s / 2, 800.0))

def begin(n):
    log = recorder.begin()
    log.n_tasks = n
    keys = [(f"step-{i // 500 % 10}", i, 0) for i in range(n)]
    log.graph_source = GraphSource(dict.fromkeys(keys, ()), frozenset(), {})
    return log, keys

def fill(n):
    log, keys = begin(n)
    log.start -= n / 16 * 0.001
    write(log, keys, log.start, 0.001)
    log.stop, log.status = log.perf_counter(), "finished"
    current().pump.wake()
"""
ZERO = "print(recorder.started_at.timestamp())"
FEED = """(() => {
  const feeds = window.jupyterapp.pluginRegistry._plugins.get('taskscope:plugin').service;
  return feeds.get(window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel.id);
})()"""
REPLAY = f"""(n) => new Promise(resolve => {{
  const feed = {FEED};
  feed._stores.clear();
  feed._stores.current = feed._epoch = '';
  const beganMs = performance.now();
  let firstMs = null;
  const look = () => {{
    const rows = [...feed._stores._stores.values()].at(-1)?.cursor ?? 0;
    if (rows > 0) firstMs ??= performance.now() - beganMs;
    if (rows >= n) resolve([firstMs, performance.now() - beganMs]);
    else setTimeout(look, 2);
  }};
  feed.attach();
  look();
}})"""

# From the command until the chart's canvas has something on it, and what the page sent for that.
OPEN_PANEL = """async ([chart, canvas]) => {
  const { commands, shell } = window.jupyterapp;
  const sent = window.sentMessages ??= { n: 0 };
  if (!sent.counts) {
    sent.counts = true;
    const send = WebSocket.prototype.send;
    WebSocket.prototype.send = function (data) { sent.n += 1; return send.call(this, data); };
  }
  const before = sent.n;
  const beganMs = performance.now();
  await commands.execute(`taskscope:open-${chart}`);
  const id = `taskscope-panel-${chart}-1`;
  const painted = () => {
    const found = document.querySelector(`#${id} ${canvas}`);
    if (found === null || found.width === 0 || found.height === 0) return false;
    const { data } = found.getContext('2d').getImageData(0, 0, found.width, found.height);
    return data.some(value => value !== 0);
  };
  while (!painted()) await new Promise(requestAnimationFrame);
  const tookMs = performance.now() - beganMs;
  const [panel] = [...shell.widgets('main')].filter(widget => widget.id === id);
  panel.dispose();
  return [tookMs, sent.n - before];
}"""
RESTORED = "document.querySelector('#taskscope-panel-task-stream-1') !== null"
PAINTED = """() => {
  const found = document.querySelector('#taskscope-panel-task-stream-1 .tsk-gantt canvas');
  if (!found || found.width === 0 || found.height === 0) return false;
  const { data } = found.getContext('2d').getImageData(0, 0, found.width, found.height);
  return data.some(value => value !== 0);
}"""
# Whose canvas shows the tasks; what is recorded here has neither samples nor results.
PANELS = {"task-stream": ".tsk-gantt canvas", "dashboard": ".tsk-gantt canvas"}


@contextmanager
def _lab(n: int, *cells: str) -> Iterator[LabPage]:
    """Open JupyterLab with `n` tasks recorded and shown to the page; cells run from number 3 on."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running_server(Path(folder)) as server,
        chromium_page() as page,
    ):
        lab = LabPage(page, server, "million")
        page.set_default_timeout(120_000)
        lab.open(LOAD, ZERO, f"fill({n})", *cells)
        lab.run_cell(0)
        lab.wait_feed("feed?.state === 'live'")
        lab.run_cell(1)
        lab.run_cell(2)
        lab.wait_feed(f"feed?.tasks >= {n}")
        yield lab


def replay_rows(n: int, *, rounds: int) -> Iterator[list[str]]:
    """Yield how long a page that has nothing takes to have everything."""
    with _lab(n) as lab:
        took = np.array([lab.page.evaluate(REPLAY, n) for _ in range(rounds)]) / 1000
    yield [f"{n:,}", spread(took[:, 0].tolist()), spread(took[:, 1].tolist())]


def panel_rows(n: int, *, rounds: int) -> Iterator[list[str]]:
    """Yield how long a panel takes to show `n` tasks that are in the page, and how much it sends for that."""
    with _lab(n) as lab:
        for chart, canvas in PANELS.items():
            found = np.array([lab.page.evaluate(OPEN_PANEL, [chart, canvas]) for _ in range(rounds)])
            yield [chart, spread((found[:, 0] / 1000).tolist()), f"{int(found[:, 1].max())}"]


def reload_rows(n: int, *, rounds: int) -> Iterator[list[str]]:
    """Yield how long a page that is loaded again takes until its panel shows `n` tasks."""
    with _lab(n) as lab:
        lab.save()
        lab.command("taskscope:open-task-stream")
        lab.page.wait_for_function(PAINTED)
        ready, painted = [], []
        for _ in range(rounds):
            # JupyterLab keeps the layout of a workspace a moment after it has changed.
            lab.page.wait_for_timeout(2000)
            start_s = time.perf_counter()
            lab.page.reload()
            lab.page.wait_for_function(RESTORED)
            ready.append(time.perf_counter() - start_s)
            lab.page.wait_for_function(PAINTED)
            painted.append(time.perf_counter() - start_s - ready[-1])
    yield [f"{n:,}", spread(ready), spread(painted)]
