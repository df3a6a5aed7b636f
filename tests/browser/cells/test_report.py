"""The offline page in a real Chromium: hostile text stays text, nothing is fetched, scripts may be off."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Frame, Locator, Page, expect

import taskscope
from taskscope.recording import Recording
from taskscope.report import result_bundle
from tests.browser.harness.axe import violations_of_document
from tests.browser.harness.painted import PAINTED
from tests.support.files.hostile import ELEMENTS, hostile
from tests.support.files.payloads import PAYLOADS
from tests.support.recordings.spelled_out import recording_of, run_of
from tests.support.recordings.stacks import Sample, stacks_of
from tests.support.recordings.task_blocks import Row

STACKS = stacks_of(
    [
        Sample(("outer", "inner"), prefix="work", count=400, seconds=4.0),
        Sample(("outer",), prefix="work", count=100, seconds=1.0, start_s=1.0),
        Sample((), prefix="work", count=200, seconds=2.0, start_s=2.0),
    ]
)


@contextmanager
def opened(chromium: Browser, path: Path, **options: Any) -> Iterator[tuple[Page, list[str]]]:
    """Open a file; whatever it says on the console, asks for or fetches is listed."""
    context = chromium.new_context(viewport={"width": 1000, "height": 800}, offline=True, **options)
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: said.append(f"error: {error}"))
    page.on("dialog", lambda dialog: said.append(f"dialog: {dialog.message}"))
    page.on("request", lambda r: said.append(f"request: {r.url}") if is_foreign(r.url) else None)
    page.goto(path.as_uri())
    yield page, said
    context.close()


def is_foreign(url: str) -> bool:
    return not url.startswith(("file:", "data:", "about:"))


def chart_of(page: Page) -> tuple[Frame, Locator]:
    """Wait for the charts and open what is folded; return the tasks' chart and its frame."""
    frame = page.frames[-1]
    chart = frame.locator(".tsk-gantt canvas")
    expect(chart).to_be_visible()
    for summary in page.locator("summary").all():
        summary.click()
    frame.evaluate(PAINTED)
    return frame, chart


def elements_of(page: Page) -> list[dict[str, int]]:
    assert [f.evaluate("window.pwned ?? null") for f in page.frames] == [None] * len(page.frames)
    return [f.evaluate(ELEMENTS) for f in page.frames]


def look_at_tasks(page: Page) -> list[list[dict[str, int]]]:
    """Hover over each task of a hostile recording, then go by keys; return all elements each time."""
    frame, chart = chart_of(page)
    tip = frame.locator(".tsk-gantt .tsk-gantt-tip")
    # How wide the names of lanes are depends on the text; the plot has the rest.
    left, width = frame.locator(".tsk-gantt .tsk-track-over").evaluate(
        "el => [el.offsetLeft, el.offsetWidth]"
    )

    def hover(x: float, y: float) -> None:
        # It brings the chart into view: a pointer beyond the edge of the window is over nothing.
        height = chart.evaluate("el => el.offsetHeight")
        chart.hover(position={"x": left + width * x, "y": height * y})

    seen = [elements_of(page)]
    for x, y in ((0.25, 0.2), (0.75, 0.2), (0.1, 0.5)):
        hover(x, y)
        # `expect` would check again after 100 ms only, some two hundred times.
        tip.wait_for(state="visible")
        seen.append(elements_of(page))
        hover(0.75, 0.5)
        tip.wait_for(state="hidden")
    chart.focus()
    chart.press("ArrowRight")
    frame.evaluate(PAINTED)
    return [*seen, elements_of(page)]


def look_at_pictures(page: Page) -> list[list[dict[str, int]]]:
    """Wait for both pictures of a comparison; return the elements of the page."""
    for picture in page.get_by_role("img", name="Gantt chart").all():
        expect(picture).to_have_js_property("complete", value=True)
        assert picture.evaluate("img => img.naturalWidth") > 0
    assert page.get_by_role("img", name="Gantt chart").count() == 2
    return [elements_of(page)]


def write(kind: str, recording: Recording, path: Path) -> Path:
    if kind == "page":
        recording.to_html(path)
    elif kind == "comparison":
        taskscope.compare(recording, recording).to_html(path)
    else:
        html = result_bundle(recording)["text/html"]
        path.write_text(f"<!DOCTYPE html><meta charset=utf-8><title>x</title>{html}", "utf-8")
    return path


@pytest.mark.parametrize("kind", ["page", "result", "comparison"])
def test_hostile_text_in_every_field_adds_no_element_and_runs_nothing(
    kind: str, chromium: Browser, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    # A comparison is the same text in the same kind of table as a page, and runs no script at all.
    few = kind == "comparison" and not request.config.getoption("--thorough")
    look = look_at_pictures if kind == "comparison" else look_at_tasks
    with opened(chromium, write(kind, hostile("harmless"), tmp_path / "harmless.html")) as (page, said):
        expected = look(page)
        assert said == []
        for number, payload in enumerate(PAYLOADS[::6] if few else PAYLOADS):
            page.goto(write(kind, hostile(payload), tmp_path / f"{number}.html").as_uri())
            assert (look(page), said) == (expected, []), payload


def test_with_scripts_off_there_are_the_picture_and_the_table(
    chromium: Browser, tmp_path: Path, shots: Path
) -> None:
    rows = [Row(key=(f"work-{i % 3}", i), lane=i % 2, start_s=i / 2, stop_s=i / 2 + 0.9) for i in range(60)]
    recording = replace(recording_of(rows, [run_of(n_tasks=60, stop_s=31.0)]), stacks=STACKS)
    path = write("page", recording, tmp_path / "a.html")
    with opened(chromium, path, java_script_enabled=False) as (page, said):
        picture = page.get_by_role("img", name="Gantt chart")
        expect(picture).to_be_visible()
        page.locator("summary", has_text="By task type").click()
        expect(page.get_by_role("cell", name="work", exact=True).first).to_be_visible()
        page.locator("summary", has_text="Functions by self time").click()
        expect(page.get_by_role("cell", name="inner", exact=True)).to_be_visible()
        page.screenshot(path=shots / "report-without-scripts.png")
        assert said == []


@pytest.mark.parametrize("kind", ["page", "result"])
def test_neither_page_nor_static_result_violates_a_rule_of_axe(
    kind: str, chromium: Browser, tmp_path: Path
) -> None:
    rows = [Row(key=(f"work-{i % 12}", i), lane=i % 2, start_s=i / 2, stop_s=i / 2 + 0.9) for i in range(60)]
    rows.append(Row(key="bad", lane=2, start_s=1.0, stop_s=3.0, status="erred", error="ValueError: no"))
    samples = [(i / 4, 90.0, 1e9 + 1e7 * i, 1, 0.0) for i in range(120)]
    recording = recording_of(rows, [run_of(n_tasks=61, stop_s=31.0)], resources=samples)
    needs, edges = np.array([1] * 60 + [0], "u1"), np.full(60, 60, "i4")
    recording = replace(
        recording,
        graphs={0: replace(recording.graphs[0], n_dependencies=needs, edges=edges)},
        stacks=STACKS,
    )
    path = write(kind, recording, tmp_path / "a.html")
    for theme in ("light", "dark"):
        with opened(chromium, path, color_scheme=theme) as (page, said):
            frame, chart = chart_of(page)
            chart.hover()
            frame.evaluate(PAINTED)
            chart.press("ArrowRight")
            chart.press("n")
            chart.press("r")
            card = frame.locator(".tsk-gantt-card")
            expect(card.get_by_role("list", name="Depends on 1 task").get_by_role("button")).to_have_count(1)
            found = violations_of_document(page)
            assert (theme, [f"{name}: {nodes}" for name, nodes in found], said) == (theme, [], [])


def test_the_page_of_a_recording_shows_the_digits_of_its_summary(chromium: Browser, tmp_path: Path) -> None:
    rows = [Row(key=("inc-1", i), start_s=i / 3, stop_s=(i + 1) / 3, cpu_s=0.1) for i in range(12)]
    samples = [
        (0.0, np.nan, 5e8, 1, 0.0, np.nan, np.nan),
        (1.0, 40.0, 596.4e6, 1, 0.0, np.nan, 605.2e6),
        (4.0, 54.0, 590e6, 1, 0.0, np.nan, 596e6),
    ]
    recording = replace(
        recording_of(rows, [run_of(n_tasks=12, stop_s=4.0)], resources=samples), metadata={"n_cores": 2}
    )
    recording.to_html(tmp_path / "run.html")
    with opened(chromium, tmp_path / "run.html") as (page, said):
        shown = page.frames[-1]
        expect(page.locator("body > div").first).to_contain_text(re.compile(r"wall time\s4 s"))
        expect(shown.locator(".tsk-gauge-value")).to_have_text(["25%", "605 MB"])
        assert said == []
    facts = recording.summary()
    assert "  wall time      4 s\n" in facts
    assert "  CPU            25% of 2 cores, " in facts
    assert "  peak memory    605 MB" in facts
