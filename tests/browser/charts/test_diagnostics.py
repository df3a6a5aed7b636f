"""The drop-in in a real browser: the bar and a plot under a cell, and a plot in a file without a network."""

from __future__ import annotations

import re
import time
from pathlib import Path

import dask.threaded
import pytest
from dask._task_spec import Task
from playwright.sync_api import Browser, ConsoleMessage, expect

from taskscope.diagnostics import CacheProfiler, Profiler, ResourceProfiler, visualize
from tests.browser.harness.lab_page import LabPage

IMPORT = "import dask, time\nfrom taskscope.diagnostics import Profiler, ProgressBar"
COMPUTE = """
with ProgressBar():
    out = dask.compute(*(dask.delayed(time.sleep)(0.1) for i in range(60)), num_workers=2)
"""
PLOT = """
with Profiler() as prof:
    dask.delayed(abs)(-1, dask_key_name="abs-1").compute()
prof.visualize();
"""
PAINTED = """() => {
  const all = root =>
    [...root.querySelectorAll('*')].flatMap(e => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])]);
  const canvases = all(document).filter(e => e.tagName === 'CANVAS' && e.width > 0);
  const colours = new Set();
  for (const canvas of canvases) {
    const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    for (let i = 0; i < pixels.length; i += 4)
      if (pixels[i + 3] === 255) colours.add((pixels[i] << 16) | (pixels[i + 1] << 8) | pixels[i + 2]);
  }
  return [...colours].map(c => c.toString(16).padStart(6, '0'));
}"""


def test_the_bar_under_a_cell_is_a_widget_while_it_runs_and_text_afterwards(
    lab: LabPage, shots: Path
) -> None:
    lab.open(IMPORT, COMPUTE)
    lab.run_cell(0)
    lab.start_cell(1)
    bar = lab.page.locator(".tsk-widget [role=progressbar]").first
    expect(bar).to_be_visible()
    expect(bar).to_have_attribute("aria-valuenow", re.compile(r"[1-9]\d*"))
    lab.page.screenshot(path=shots / "progress-bar.png")
    lab.wait_cell(1)
    (output,) = lab.outputs(1)
    text = "".join(output["data"]["text/plain"])
    assert re.fullmatch(r"\[#{40}\] \| 100% Completed \| .*", text), text
    expect(lab.page.locator(".tsk-widget")).to_have_count(0)


def test_a_plot_under_a_cell_is_drawn_in_its_own_frame(lab: LabPage, shots: Path) -> None:
    lab.open(IMPORT, PLOT)
    lab.run_cell(0)
    lab.run_cell(1)
    expect(lab.page.frame_locator("iframe").locator(".bk-Figure canvas").first).to_be_visible()
    lab.page.screenshot(path=shots / "visualize-cell.png")


@pytest.mark.parametrize("n_tasks", [200, 12_000])
def test_a_saved_plot_is_drawn_without_a_network(
    chromium: Browser, tmp_path: Path, shots: Path, n_tasks: int
) -> None:
    hostile = "<img src=x onerror=document.title='owned'>"
    # So few are long enough that a bar is wherever one points.
    nap_s = 0.01 if n_tasks < 1_000 else 0.0
    graph = {(hostile, i): Task((hostile, i), time.sleep, nap_s) for i in range(n_tasks)}
    with Profiler() as prof, ResourceProfiler(dt=0.05) as rprof, CacheProfiler() as cprof:
        dask.threaded.get(graph, list(graph), num_workers=2)
    path = tmp_path / "plot.html"
    visualize([prof, rprof, cprof], path, show=False)
    context = chromium.new_context(viewport={"width": 860, "height": 950}, offline=True)
    page = context.new_page()
    said: list[str] = []

    def listen(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            said.append(message.text)

    page.on("console", listen)
    page.on("pageerror", lambda error: said.append(str(error)))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_function("window.Bokeh?.documents?.[0]?.is_idle")
    page.mouse.move(400, 150)
    expect(page.get_by_text("Key:" if n_tasks < 10_000 else "Mostly:")).to_be_visible()
    page.screenshot(path=shots / f"visualize-{n_tasks}.png")
    colours = page.evaluate(PAINTED)
    title = page.title()
    context.close()
    # One prefix, and so the first colour, in the chart of tasks, the legend and the line of the cache.
    assert "6887ff" in colours
    assert (said, asked, title) == ([], [path.as_uri()], "Profile Results")
