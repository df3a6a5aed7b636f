"""The page of `performance_report`, ours and distributed's: how large it is, and when something is seen."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import distributed
from distributed import Client, LocalCluster
from playwright.sync_api import Browser

from benchmarks.frontend.page import chromium
from benchmarks.frontend.pages import DRAWN, FIRST, PAINTED
from benchmarks.harness import Table, spread
from taskscope import diagnostics

__all__ = ["measure_reports"]

_BOKEH = """async () => {
  while (!window.Bokeh?.documents[0]?.is_idle) await new Promise(requestAnimationFrame);
  return performance.now();
}"""


def measure_reports(n_tasks: int, rounds: int) -> Table:
    return Table(
        f"The page of performance_report, {n_tasks:,} tasks on a cluster, opened without a network",
        ("page", "MB", "written in, s", "first paint after, s", "charts after, s"),
        _rows(n_tasks, rounds),
        "distributed's with `mode='inline'`, for its usual page loads its script from the network. Written "
        "at the end of the block; charts: ours when the first bar is drawn, Bokeh's when it is idle.",
    )


def busy(number: int) -> int:
    return sum(range(number % 1_000))


def _rows(n_tasks: int, rounds: int) -> Iterator[tuple[str, ...]]:
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=":0", memory_limit=0) as cluster,
        Client(cluster) as client,
        chromium() as browser,
    ):
        ours, theirs = Path(folder, "ours.html"), Path(folder, "theirs.html")
        pages: dict[str, tuple[Path, Callable[[], Any], str]] = {
            "taskscope": (ours, lambda: diagnostics.performance_report(ours), DRAWN),
            "distributed": (
                theirs,
                lambda: distributed.performance_report(str(theirs), mode="inline"),
                _BOKEH,
            ),
        }
        for name, (file, report, drawn) in pages.items():
            with report():
                client.gather(client.map(busy, range(n_tasks), pure=False))
                end_s = time.perf_counter()
            wrote_s = time.perf_counter() - end_s
            found = [_painted(browser, file, drawn) for _ in range(rounds)]
            size = f"{file.stat().st_size / 1e6:.2f}"
            yield (name, size, f"{wrote_s:.1f}", *(spread([f[i] / 1e3 for f in found]) for i in range(2)))


def _painted(browser: Browser, file: Path, drawn: str) -> tuple[float, float]:
    """Return the milliseconds until something, and until the charts, were seen."""
    context = browser.new_context(viewport={"width": 1200, "height": 800}, offline=True)
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.add_init_script(f"addEventListener('DOMContentLoaded', {PAINTED})")
    page.goto(file.as_uri(), wait_until="commit")
    drawn_ms, first_ms = float(page.evaluate(drawn)), float(page.evaluate(FIRST))
    context.close()
    # A document may be idle before anything of it was painted.
    return first_ms, max(drawn_ms, first_ms)
