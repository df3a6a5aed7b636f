"""A page of headless Chromium with the charts in it and nothing else."""

from __future__ import annotations

import base64
import math
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

__all__ = [
    "ROOT",
    "ChartPage",
    "bundle",
    "chart_page",
    "chromium",
    "chromium_page",
]

ROOT = Path(__file__).parents[2]
HTML = """<!doctype html><meta charset="utf-8"><style>body { margin: 0 }</style>
<div id="chart" style="width: 1200px"></div><script src="page.js"></script>"""
FLAGS = ["--no-sandbox", "--js-flags=--expose-gc"]


class ChartPage:
    """Calls of ``labextension/bench/page.ts``; all times are milliseconds."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._devtools: CDPSession = page.context.new_cdp_session(page)

    def load(
        self,
        n: int,
        *,
        lanes: int = 16,
        workers: int = 1,
        prefixes: int = 10,
        active: bool = False,
        keep: float = math.inf,
    ) -> list[float]:
        """Begin anew with `n` tasks, of a recorder that keeps `keep`; return what each 100,000 took."""
        kept = keep if keep < math.inf else "Infinity"
        workload = f"{{lanes: {lanes}, workers: {workers}, prefixes: {prefixes}, keep: {kept}}}"
        took: list[float] = self._call(f"load({n}, {workload}, {_js(active)})")
        return took

    def load_series(self, *, held: int = 0, workers: int = 0, samples: int = 0) -> None:
        """Begin anew with rows of the cache, and samples of each worker, spread over ten minutes."""
        self._call(f"loadSeries({{held: {held}, workers: {workers}, samples: {samples}}})")

    def mount(self, track: str = "tasks", *, follow: bool = False) -> float:
        """Show the chart and return how long it took."""
        return float(self._call(f"mount({_js(follow)}, '{track}')"))

    def frames(self, call: str) -> list[float]:
        """Return what each frame of ``press(60, ['+'])`` or ``grow(30, 1000)`` took."""
        took: list[float] = self._call(call)
        return took

    def anew(self, count: int) -> tuple[list[float], list[float]]:
        """Measure everything anew; return each time's longest frame, and what all frames of it took."""
        took = self._call(f"anew({count})")
        return [one["longest"] for one in took], [one["sum"] for one in took]

    def zoom(self, part: float) -> None:
        """Show a part of everything."""
        self._call(f"zoom({part})")

    def busy(self) -> tuple[float, float]:
        """Return which part of the time the lanes look busy, and are."""
        found = self._call("busy()")
        return found["apparent"], found["actual"]

    def live(self, seconds: float, rows: int) -> tuple[list[float], list[float]]:
        """Feed ten messages a second; return what frames took and how far apart they were."""
        found = self._call(f"live({seconds * 1000}, {rows})")
        return found["paints"], found["gaps"]

    def rectangles(self, n: int) -> NDArray[np.float64]:
        """Return lane, prefix, start and stop of the first `n` tasks, a row each."""
        return np.frombuffer(base64.b64decode(self._call(f"rectangles({n})"))).reshape(4, n)

    def counts(self) -> tuple[int, int]:
        """Return how many tasks the store holds, and how many ever came."""
        held, came = self._call("counts()")
        return held, came

    def bytes_held(self) -> float:
        """Return what the page holds after a collection: objects and the memory of arrays."""
        self._devtools.send("HeapProfiler.collectGarbage")
        usage = self._devtools.send("Runtime.getHeapUsage")
        return float(usage["usedSize"] + usage.get("backingStorageSize", 0))

    def _call(self, call: str) -> Any:
        return self._page.evaluate(f"window.bench.{call}")


def bundle(source: Path, target: Path) -> None:
    """Bundle and minify one TypeScript file, as the offline report is."""
    _esbuild(source, "--format=iife", f"--outfile={target}")


def _esbuild(source: Path, *options: str) -> None:
    shared = [
        "--bundle",
        "--target=es2022",
        "--minify",
        "--charset=ascii",
        "--legal-comments=none",
        "--log-level=error",
    ]
    subprocess.run(
        [str(ROOT / "node_modules/.bin/esbuild"), str(source), *shared, *options], check=True, cwd=ROOT
    )


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run Debian's Chromium, without a GPU."""
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS) as browser,
    ):
        yield browser


@contextmanager
def chromium_page(width: int = 1280) -> Iterator[Page]:
    """Open a page of it."""
    with chromium() as browser:
        page = browser.new_page(viewport={"width": width, "height": 720})
        page.set_default_timeout(120_000)
        yield page


@contextmanager
def chart_page(folder: Path) -> Iterator[ChartPage]:
    """Open the page with the charts; it fails where the page's console has an error."""
    bundle(ROOT / "labextension/bench/page.ts", folder / "page.js")
    (folder / "index.html").write_text(HTML, encoding="utf-8")
    errors: list[str] = []
    with chromium_page() as page:
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto((folder / "index.html").as_uri())
        yield ChartPage(page)
    if errors:
        raise RuntimeError(f"the page raised: {errors}")


def _js(value: object) -> str:
    return "true" if value else "false"
