"""A million tasks in files: the page of `to_html` without a network, a `.taskscope` file in JupyterLab."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser

from benchmarks.frontend.page import chromium, chromium_page
from benchmarks.harness import spread
from benchmarks.synthetic import synthetic
from tests.browser.harness.lab_page import LabPage
from tests.browser.harness.server import running_server

__all__ = ["document_rows", "page_rows"]

# When the first of the chart's bars was there to be seen; milliseconds since the page was asked for.
PAINTED = """() => {
  const look = () => {
    for (const found of document.querySelectorAll('.tsk-gantt canvas')) {
      if (found.width > 0 && found.height > 0) {
        const { data } = found.getContext('2d').getImageData(0, 0, found.width, found.height);
        if (data.some(value => value !== 0)) {
          requestAnimationFrame(() => { window.paintedMs = performance.now(); });
          return;
        }
      }
    }
    requestAnimationFrame(look);
  };
  look();
}"""
# The page's policy forbids to evaluate text, which Playwright's own way of waiting does.
DRAWN = """async () => {
  while (window.paintedMs === undefined) await new Promise(requestAnimationFrame);
  return window.paintedMs;
}"""
# Chromium tells of the first paint a little later.
FIRST = """async () => {
  for (;;) {
    const [paint] = performance.getEntriesByName('first-contentful-paint');
    if (paint !== undefined) return paint.startTime;
    await new Promise(requestAnimationFrame);
  }
}"""
OPEN = f"""async path => {{
  window.paintedMs = undefined;
  const beganMs = performance.now();
  ({PAINTED})();
  const widget = await window.jupyterapp.commands.execute('docmanager:open', {{ path }});
  while (window.paintedMs === undefined) await new Promise(requestAnimationFrame);
  const tookMs = window.paintedMs - beganMs;
  widget.dispose();
  return tookMs;
}}"""


def page_rows(n: int, *, rounds: int) -> Iterator[list[str]]:
    """Yield the size of a page of `n` tasks, and how long it takes until they are seen."""
    for name, is_random in (("groups in turns", False), ("all random", True)):
        recording = synthetic(n, is_random=is_random)
        with tempfile.TemporaryDirectory() as folder, chromium() as browser:
            file = Path(folder, "page.html")
            start_s = time.perf_counter()
            recording.to_html(file)
            wrote_s = time.perf_counter() - start_s
            found = [_painted(browser, file) for _ in range(rounds)]
            yield [
                name,
                f"{n:,}",
                f"{file.stat().st_size / 1e6:.2f}",
                f"{wrote_s:.1f}",
                *(spread([times[i] / 1000 for times in found]) for i in range(2)),
            ]


def _painted(browser: Browser, file: Path) -> tuple[float, float]:
    context = browser.new_context(viewport={"width": 1200, "height": 800}, offline=True)
    page = context.new_page()
    page.add_init_script(f"addEventListener('DOMContentLoaded', {PAINTED})")
    page.goto(file.as_uri(), wait_until="commit")
    page.set_default_timeout(120_000)
    drawn_ms = float(page.evaluate(DRAWN))
    painted = float(page.evaluate(FIRST)), drawn_ms
    context.close()
    return painted


def document_rows(n: int, *, rounds: int) -> Iterator[list[str]]:
    """Yield how long JupyterLab takes to show a file of `n` tasks."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running_server(Path(folder)) as server,
        chromium_page() as page,
    ):
        lab = LabPage(page, server, "documents")
        page.set_default_timeout(120_000)
        lab.open("None")
        for name, is_random in (("groups in turns", False), ("all random", True)):
            file = Path(folder, "notebooks", "million.taskscope")
            synthetic(n, is_random=is_random).save(file, overwrite=True)
            took = [page.evaluate(OPEN, file.name) / 1000 for _ in range(rounds)]
            yield [name, f"{n:,}", f"{file.stat().st_size / 1e6:.1f}", spread(took)]
