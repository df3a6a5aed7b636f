"""Bokeh's canvas with the same bars in 16 lanes, coloured by prefix."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.frontend.page import chart_page, chromium_page
from benchmarks.harness import spread

__all__ = ["bokeh_rows"]

COLOURS = np.array(["#6887ff", "#4cd676", "#a67f38", "#006d91", "#dca0d6"])
PAN = """async count => {
  const plot = Bokeh.documents[0].roots()[0];
  const view = Bokeh.index.get_by_id(plot.id);
  const took = [];
  for (let i = 0; i < count; i += 1) {
    const width = plot.x_range.end - plot.x_range.start;
    const step = (i % 2 === 0 ? 0.05 : -0.05) * width;
    const beganMs = performance.now();
    plot.x_range.setv({ start: plot.x_range.start + step, end: plot.x_range.end + step });
    view.paint();
    took.push(performance.now() - beganMs);
    await new Promise(requestAnimationFrame);
  }
  return took;
}"""


def bokeh_rows(folder: Path, sizes: Sequence[int], *, frames: int) -> Iterator[list[str]]:
    """Yield, by number of bars, first paint and the time of frames."""
    for n in sizes:
        file = folder / f"bokeh-{n}.html"
        with chart_page(folder) as page:
            bars = page.rectangles(n)
        _write(file, bars)
        with chromium_page() as page:
            began_s = time.perf_counter()
            page.goto(file.as_uri())
            page.wait_for_function("window.Bokeh?.documents[0]?.is_idle")
            first_s = time.perf_counter() - began_s
            took = page.evaluate(PAN, frames)
        yield [f"{n:,}", f"{file.stat().st_size / 1e6:.0f}", f"{first_s:.1f}", spread(took, "{:.0f}")]


def _write(file: Path, bars: NDArray[np.float64]) -> None:
    from bokeh.embed import file_html
    from bokeh.plotting import figure
    from bokeh.resources import INLINE

    lane, prefix, start_s, stop_s = bars
    plot = figure(width=1200, height=420, output_backend="canvas", tools="xpan,xwheel_zoom")
    plot.quad(
        left=start_s,
        right=stop_s,
        bottom=lane,
        top=lane + 0.8,
        fill_color=COLOURS[prefix.astype(int) % len(COLOURS)].tolist(),
        line_color=None,
    )
    file.write_text(file_html(plot, INLINE, "bars"), encoding="utf-8")
