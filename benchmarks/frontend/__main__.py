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

from benchmarks.frontend.charts import busy_rows, frame_rows, live_rows
from benchmarks.frontend.page import ChartPage, chart_page
from benchmarks.harness import Table


@contextmanager
def _page() -> Iterator[ChartPage]:
    with tempfile.TemporaryDirectory() as folder, chart_page(Path(folder)) as page:
        yield page


def chart(*, quick: bool) -> Iterator[Table]:
    sizes = (100_000, 1_000_000) if quick else (100_000, 1_000_000, 5_000_000)
    columns = (
        "tasks", "store, ms per 100,000", "bytes per task", "first paint, ms",
        "all in sight, panning, ms", "a hundredth in sight, ms", "hover, ms",
    )  # fmt: skip
    with _page() as page:
        yield Table("Frames of the Gantt chart", columns, frame_rows(page, sizes, frames=20 if quick else 60))


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


SECTIONS: dict[str, Callable[..., Iterator[Table]]] = {"chart": chart, "busy": busy, "live": live}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="smaller sizes, fewer repetitions: noisy")
    parser.add_argument("sections", nargs="*", metavar="section", help=", ".join(SECTIONS))
    options = parser.parse_args()
    unknown = sorted(set(options.sections) - set(SECTIONS))
    if unknown:
        parser.error(f"no section is called {', '.join(unknown)}; there are {', '.join(SECTIONS)}")
    print(f"## frontend\n\n{(__doc__ or '').strip()}\n")
    for name in options.sections or SECTIONS:
        for table in SECTIONS[name](quick=options.quick):
            for line in table.lines():
                print(line, flush=True)


if __name__ == "__main__":
    main()
