"""How fast is the front end, and does it show the truth?

Headless Chromium without a GPU. A chart of 16 lanes in 1,200 pixels; its frames are timed where the page
paints, so scripts count and the compositor does not. Milliseconds are p50 / p95 of a round, each as the
median (smallest to largest) of five rounds.

python -m benchmarks.frontend [--quick] [chart busy live ...]
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.frontend.beside import bokeh_rows
from benchmarks.frontend.charts import (
    busy_rows,
    endurance_rows,
    frame_rows,
    lane_rows,
    live_rows,
    series_rows,
)
from benchmarks.frontend.lab import panel_rows, reload_rows, replay_rows
from benchmarks.frontend.page import ChartPage, chart_page
from benchmarks.frontend.pages import document_rows, page_rows
from benchmarks.frontend.sizes import size_rows
from benchmarks.harness import Table


@contextmanager
def _page() -> Iterator[ChartPage]:
    with tempfile.TemporaryDirectory() as folder, chart_page(Path(folder)) as page:
        yield page


def chart(*, quick: bool) -> Iterator[Table]:
    sizes = (100_000,) if quick else (100_000, 1_000_000, 5_000_000)
    columns = (
        "tasks", "store, ms per 100,000", "bytes per task", "first paint, ms",
        "all measured anew: longest frame, ms",
        "all its frames, ms", "zooming, ms", "hover, ms", "half in sight, moving, ms",
        "a hundredth in sight, moving, ms", "hover, ms",
    )  # fmt: skip
    with _page() as page:
        yield Table("Frames of the Gantt chart", columns, frame_rows(page, sizes, frames=20 if quick else 60))


def lanes(*, quick: bool) -> Iterator[Table]:
    columns = (
        "tasks",
        "first paint, ms",
        "measured anew: longest frame, ms",
        "all its frames, ms",
        "zooming, ms",
        "hover, ms",
    )
    with _page() as page:
        rows = lane_rows(page, 100_000 if quick else 1_000_000, frames=20 if quick else 60)
        yield Table("480 lanes, collapsed into 12 workers", columns, rows)


def series(*, quick: bool) -> Iterator[Table]:
    columns = (
        "chart",
        "holds",
        "first paint, ms",
        "zooming, ms",
        "moving, ms",
        "hover, ms",
        "100 more rows, or a sample of each worker, ms",
    )
    with _page() as page:
        rows = series_rows(page, 0.1 if quick else 1.0, frames=20 if quick else 60)
        yield Table("Frames of the cache and of workers, at a recorder's limits", columns, rows)


def busy(*, quick: bool) -> Iterator[Table]:
    columns = ("part in sight", "looks busy, %", "is busy, %", "off by, points")
    with _page() as page:
        yield Table(
            "Apparent and true busy fraction", columns, busy_rows(page, 100_000 if quick else 1_000_000)
        )


def live(*, quick: bool) -> Iterator[Table]:
    with _page() as page:
        rows = live_rows(page, 100_000 if quick else 1_000_000, seconds=3 if quick else 10)
        yield Table("A growing chart, ms", ("what", "p50 / p95"), rows)


def sizes(*, quick: bool) -> Iterator[Table]:
    columns = ("bundle", "kB", "kB, gzip")
    yield Table("What a browser loads", columns, size_rows())


def replay(*, quick: bool) -> Iterator[Table]:
    rows = replay_rows(100_000 if quick else 1_000_000, rounds=3 if quick else 5)
    yield Table(
        "A page that joins late, in JupyterLab", ("tasks", "first rows after, s", "all after, s"), rows
    )


def panels(*, quick: bool) -> Iterator[Table]:
    rows = panel_rows(100_000 if quick else 1_000_000, rounds=3 if quick else 5)
    columns = ("panel", "from command to first paint, s", "messages sent")
    yield Table("Opening a panel on a kernel whose tasks the page has, in JupyterLab", columns, rows)


def reloads(*, quick: bool) -> Iterator[Table]:
    rows = reload_rows(100_000 if quick else 1_000_000, rounds=3 if quick else 5)
    columns = ("tasks", "JupyterLab with the panel after, s", "the chart after that, s")
    yield Table("A page that is loaded again with a panel open", columns, rows)


def pages(*, quick: bool) -> Iterator[Table]:
    columns = ("tasks are", "tasks", "MB", "written in, s", "picture after, s", "Gantt chart after, s")
    rows = page_rows(100_000 if quick else 1_000_000, rounds=3 if quick else 7)
    yield Table("The page of to_html, opened without a network", columns, rows)


def documents(*, quick: bool) -> Iterator[Table]:
    columns = ("tasks are", "tasks", "MB", "Gantt chart after, s")
    rows = document_rows(100_000 if quick else 1_000_000, rounds=3 if quick else 5)
    yield Table("A .taskscope file, opened in JupyterLab", columns, rows)


def bokeh(*, quick: bool) -> Iterator[Table]:
    numbers = (10_000, 100_000) if quick else (100_000, 1_000_000)
    columns = ("bars", "MB of page", "first paint, s", "panning, ms")
    with tempfile.TemporaryDirectory() as folder:
        rows = bokeh_rows(Path(folder), numbers, frames=5 if quick else 10)
        yield Table("The same bars by Bokeh's canvas", columns, rows)


def endurance(*, quick: bool) -> Iterator[Table]:
    minutes = 0.25 if quick else 30.0
    columns = ("minutes", "tasks held", "tasks that came", "page holds, MB")
    with _page() as page:
        yield Table("A long session, 10,000 tasks a second", columns, endurance_rows(page, minutes))


SECTIONS: dict[str, Callable[..., Iterator[Table]]] = {
    "chart": chart,
    "lanes": lanes,
    "series": series,
    "busy": busy,
    "live": live,
    "sizes": sizes,
    "replay": replay,
    "panels": panels,
    "reloads": reloads,
    "pages": pages,
    "documents": documents,
    "bokeh": bokeh,
}
LONG: dict[str, Callable[..., Iterator[Table]]] = {"endurance": endurance}
"""Only when named: half an hour."""
EVERY = SECTIONS | LONG


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="smaller sizes, fewer repetitions: noisy")
    parser.add_argument("sections", nargs="*", metavar="section", help=", ".join(EVERY))
    options = parser.parse_args()
    unknown = sorted(set(options.sections) - set(EVERY))
    if unknown:
        parser.error(f"no section is called {', '.join(unknown)}; there are {', '.join(EVERY)}")
    print(f"{(__doc__ or '').strip()}\n")
    for name in options.sections or SECTIONS:
        for table in EVERY[name](quick=options.quick):
            for line in table.lines():
                print(line, flush=True)


if __name__ == "__main__":
    main()
