"""The charts alone: frames at several sizes and a recorder's limits, truth at five zooms, memory per task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.frontend.page import ChartPage
from benchmarks.harness import spread

__all__ = ["busy_rows", "endurance_rows", "frame_rows", "lane_rows", "live_rows", "series_rows"]

ZOOMS = (1.0, 1 / 4, 1 / 20, 1 / 100, 1 / 400)
ROUNDS = 5
ZOOMING = "press({}, ['+', '-'])"
MOVING = "press({}, ['ArrowRight', 'ArrowLeft'])"
HOVER = "hover({})"


def frame_rows(page: ChartPage, sizes: Sequence[int], *, frames: int) -> Iterator[list[str]]:
    """Yield, by number of tasks, what the store and the frames took."""
    empty = page.bytes_held()
    for n in sizes:
        took = page.load(n)
        held = (page.bytes_held() - empty) / n
        first = page.mount()
        rate = [one for one in took if n >= 100_000]
        cells = [f"{n:,}", f"{spread(rate, '{:.1f}')}", f"{held:.0f}", f"{first:.0f}"]
        whole = [*_anew(page, frames), *(_rounds(page, call.format(frames)) for call in (ZOOMING, HOVER))]
        page.zoom(0.5)
        moving = _rounds(page, MOVING.format(frames))
        page.zoom(0.01)
        part = [_rounds(page, call) for call in (MOVING.format(frames), HOVER.format(frames))]
        yield cells + [_p50_p95(rounds) for rounds in (*whole, moving, *part)]


def lane_rows(page: ChartPage, n: int, *, frames: int) -> Iterator[list[str]]:
    """Yield what frames take where `n` tasks ran in 480 lanes of 12 workers, shown as the mean of each."""
    page.load(n, lanes=480, workers=12)
    first = page.mount()
    took = [*_anew(page, frames), *(_rounds(page, call.format(frames)) for call in (ZOOMING, HOVER))]
    yield [f"{n:,}", f"{first:.0f}", *map(_p50_p95, took)]


def series_rows(page: ChartPage, part: float, *, frames: int) -> Iterator[list[str]]:
    """Yield what frames of the cache and of workers take, at this part of what a recorder keeps of them."""
    held, workers, samples = int(300_000 * part), int(200 * part), 500
    for track, rows, loaded, growth in (
        ("cache", f"{held:,} rows", {"held": held}, f"growSeries({frames}, 100, 0)"),
        (
            "workers",
            f"{workers} workers × {samples} samples",
            {"workers": workers, "samples": samples},
            f"growSeries({frames}, 0, 1)",
        ),
    ):
        page.load_series(**loaded)
        first = page.mount(track)
        took = [_rounds(page, call.format(frames)) for call in (ZOOMING, MOVING, HOVER)]
        yield [track, rows, f"{first:.0f}", *map(_p50_p95, took), _p50_p95([page.frames(growth)])]


def busy_rows(page: ChartPage, n: int) -> Iterator[list[str]]:
    """Yield, by zoom, which part of the time lanes look busy and are, in percent."""
    page.load(n, prefixes=1)
    page.mount()
    for part in ZOOMS:
        page.zoom(part)
        apparent, actual = (100 * value for value in page.busy())
        yield [f"1 / {1 / part:.0f}", f"{apparent:.2f}", f"{actual:.2f}", f"{apparent - actual:+.2f}"]


def live_rows(page: ChartPage, n: int, *, seconds: float) -> Iterator[list[str]]:
    """Yield what frames do while 10,000 tasks a second come on top of `n`."""
    page.load(n, active=True)
    page.mount(follow=True)
    growth = page.frames("grow(30, 1000)")
    paints, gaps = page.live(seconds, 1000)
    yield ["frame after 1,000 more tasks", _p50_p95([growth])]
    yield [f"painting, {seconds:.0f} s of 10 messages a second", _p50_p95([paints])]
    yield ["from one animation frame to the next", _p50_p95([gaps])]


def endurance_rows(page: ChartPage, minutes: float) -> Iterator[list[str]]:
    """Yield, ten times, what a page holds while 10,000 tasks a second come to a recorder that keeps 2M."""
    page.load(2_000_000, active=True, keep=2_000_000)
    page.mount(follow=True)
    for step in range(11):
        held, came = page.counts()
        yield [f"{step * minutes / 10:.1f}", f"{held:,}", f"{came:,}", f"{page.bytes_held() / 1e6:.0f}"]
        if step < 10:
            page.live(minutes * 6, 1000)


def _rounds(page: ChartPage, call: str) -> list[list[float]]:
    page.frames(call)
    return [page.frames(call) for _ in range(ROUNDS)]


def _anew(page: ChartPage, frames: int) -> list[list[list[float]]]:
    """Return the rounds of measuring everything anew: of longest frames, and of the sums of frames."""
    page.anew(frames)
    rounds = [page.anew(frames) for _ in range(ROUNDS)]
    return [[longest for longest, _ in rounds], [total for _, total in rounds]]


def _p50_p95(rounds: Sequence[Sequence[float]]) -> str:
    """Return the median and the 95th percentile in ms, each with its spread over rounds."""
    p50, p95 = ([float(np.percentile(times, q)) for times in rounds] for q in (50, 95))
    return f"{spread(p50, '{:.1f}')} / {spread(p95, '{:.1f}')}"
