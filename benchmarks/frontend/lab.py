"""JupyterLab with a million tasks: how a message gets to the store, its cost, and a view that joins late."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.frontend.page import chromium_page
from benchmarks.harness import spread
from tests.browser.harness.lab_page import LabPage
from tests.browser.harness.server import running_server

__all__ = ["live_rows", "panel_rows", "reload_rows", "replay_rows"]

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

def stream(seconds, rate):
    log, keys = begin(seconds * rate)
    current().pump.wake()
    sender = next(t for t in threading.enumerate() if t.name == "taskscope-pump")
    cpu_clock = time.pthread_getcpuclockid(sender.ident)
    cpu_s, began_s = time.clock_gettime(cpu_clock), time.perf_counter()
    for beat in range(10 * seconds):
        write(log, keys[beat * rate // 10 : (beat + 1) * rate // 10], time.perf_counter() - 0.1, 0.0016)
        time.sleep(max(began_s + (beat + 1) / 10 - time.perf_counter(), 0))
    log.stop, log.status = log.perf_counter(), "finished"
    current().pump.wake()
    print((time.clock_gettime(cpu_clock) - cpu_s) / (time.perf_counter() - began_s))
"""
ZERO = "print(recorder.started_at.timestamp())"
FEED = """(() => {
  const feeds = window.jupyterapp.pluginRegistry._plugins.get('taskscope:plugin').service;
  return feeds.get(window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel.id);
})()"""
WATCH = f"""() => {{
  window.arrivals = [];
  window.gaps = [];
  const now = () => (performance.timeOrigin + performance.now()) / 1000;
  const feed = {FEED};
  feed._comms.arrived.connect((_, a) => {{
    if (a.channel === 'data') window.arrivals.push([now(), a.data.now_s, a.data.count]);
  }});
  let last = performance.now();
  const look = time => {{ window.gaps.push(time - last); last = time; requestAnimationFrame(look); }};
  requestAnimationFrame(look);
}}"""
REPLAY = f"""(n) => new Promise(resolve => {{
  const feed = {FEED};
  feed._stores.clear();
  feed._stores.current = feed._epoch = '';
  const beganMs = performance.now();
  let firstMs = null;
  const look = () => {{
    const rows = [...feed._stores._entries.values()].at(-1)?.store.cursor ?? 0;
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


def live_rows(n: int, *, seconds: int, rate: int = 10_000) -> Iterator[list[str]]:
    """Yield what a compute of `rate` tasks a second costs and shows on top of `n` tasks."""
    cell = f"from taskscope import GanttWidget\ndisplay(GanttWidget())\nstream({seconds}, {rate})"
    with _lab(n, cell) as lab:
        (zero_s,) = _numbers(lab.outputs(1))
        lab.page.evaluate(WATCH)
        lab.run_cell(3)
        (sender,) = _numbers(lab.outputs(3))
        arrivals = np.array(lab.page.evaluate("window.arrivals"))
        gaps = np.array(lab.page.evaluate("window.gaps"))
    late_ms = (arrivals[:, 0] - zero_s - arrivals[:, 1]) * 1e3
    yield ["tasks that came in messages", f"{int(arrivals[:, 2].sum()):,} in {len(arrivals)}"]
    yield ["kernel to store, p50 / p95 ms", _p50_p95(late_ms)]
    yield ["from one animation frame to the next, p50 / p95 ms", _p50_p95(gaps)]
    yield ["sender, % of a core", f"{100 * sender:.1f}"]


def _p50_p95(values: Any) -> str:
    p50, p95 = np.percentile(values, [50, 95])
    return f"{p50:.1f} / {p95:.1f}"


def _numbers(outputs: list[dict[str, Any]]) -> list[float]:
    texts = ["".join(o["text"]) for o in outputs if o["output_type"] == "stream"]
    return [float(word) for word in "".join(texts).split()]
