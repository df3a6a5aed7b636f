"""What a plot costs in both packages: the time to make it, its page, and the time until a browser shows it.

Both pages carry Bokeh's scripts in them, so that neither needs a network. A page is shown when Bokeh says
that it has drawn everything (``document idle``), in headless Chromium; the time counts from the navigation.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from benchmarks.diagnostics.cost import PACKAGES
from benchmarks.harness import Table, main, spread
from benchmarks.workloads import tree

SHOWN = """
const look = () => {
  if (window.Bokeh?.documents?.[0]?.is_idle) window.shown = performance.now();
  else requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""
TIMEOUT_MS = 170_000


def profiled(package: Any, kind: str, n_tasks: int) -> Any:
    """Return a profiler that has seen a compute."""
    with getattr(package, kind)() as profiler:
        tree(n_tasks).compute("threads")
    return profiler


def drawn(package: Any, profiler: Any, path: Path) -> float:
    """Return the seconds that it takes to draw and save."""
    path.unlink(missing_ok=True)
    start_s = time.perf_counter()
    package.visualize(profiler, filename=str(path), show=False, mode="inline")
    return time.perf_counter() - start_s


def shown_ms(browser: Browser, path: Path) -> float:
    page = browser.new_page()
    try:
        page.add_init_script(SHOWN)
        page.goto(path.as_uri(), timeout=TIMEOUT_MS, wait_until="commit")
        page.wait_for_function("window.shown", timeout=TIMEOUT_MS)
        return float(page.evaluate("window.shown"))
    finally:
        page.close()


def rows(*, quick: bool) -> Iterator[list[str]]:
    with (
        tempfile.TemporaryDirectory() as folder,
        sync_playwright() as playwright,
        playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        ) as browser,
    ):
        for kind, n_tasks in cases(quick=quick):
            for name, package in PACKAGES.items():
                path = Path(folder) / f"{name}.html"
                profiler = profiled(package, kind, n_tasks)
                rounds = 3 if n_tasks <= 100_000 else 1
                made_s = [drawn(package, profiler, path) for _ in range(rounds)]
                shown = [shown_ms(browser, path) for _ in range(rounds)]
                size = f"{path.stat().st_size / 1e6:.2f}"
                yield [kind, f"{n_tasks:,}", name, str(rounds), spread(made_s), size, spread(shown, "{:.0f}")]


def cases(*, quick: bool) -> list[tuple[str, int]]:
    """Return what to draw: dask's chart of a cache has a line of twice the tasks for each task."""
    if quick:
        return [("CacheProfiler", 300), ("Profiler", 2_000), ("Profiler", 20_000)]
    return [("CacheProfiler", 500), *(("Profiler", n) for n in (10_000, 100_000, 1_000_000))]


def measure(*, quick: bool) -> list[Table]:
    columns = ["plot", "tasks", "by", "rounds", "to make and save it, s", "page, MB", "until it is shown, ms"]
    return [Table("Plots", columns, rows(quick=quick))]


if __name__ == "__main__":
    main(__doc__, measure)
