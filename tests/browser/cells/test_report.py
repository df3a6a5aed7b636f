"""The offline page in a real Chromium: hostile text stays text, nothing is fetched, scripts may be off."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

import taskscope
from taskscope.recording import Recording
from taskscope.report import result_html
from taskscope.report.page import chart_page
from tests.browser.harness.axe import violations_of_document
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

PAINTED = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(null))))"
"""Waits until what was asked for is painted: it is in the frame after the next one at the latest."""


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


def look_everywhere(page: Page) -> list[dict[str, int]]:
    """Wait for the charts, hover over tasks, open what is folded; return the elements of every frame."""
    frame = page.frames[-1]
    chart = frame.locator(".tsk-dashboard canvas").first
    expect(chart).to_be_visible()
    for summary in page.locator("summary").all():
        summary.click()
    box = chart.bounding_box()
    assert box is not None
    for x in (0.3, 0.5, 0.7):
        for y in (0.2, 0.5):
            page.mouse.move(box["x"] + box["width"] * x, box["y"] + box["height"] * y)
            frame.evaluate(PAINTED)
    chart.focus()
    chart.press("ArrowRight")
    frame.evaluate(PAINTED)
    assert [f.evaluate("window.pwned ?? null") for f in page.frames] == [None] * len(page.frames)
    return [f.evaluate(ELEMENTS) for f in page.frames]


def look_at_pictures(page: Page) -> list[dict[str, int]]:
    """Wait for both pictures of a comparison; return the elements of the page."""
    for picture in page.get_by_role("img", name="Gantt chart").all():
        expect(picture).to_have_js_property("complete", value=True)
        assert picture.evaluate("img => img.naturalWidth") > 0
    assert page.get_by_role("img", name="Gantt chart").count() == 2
    assert page.evaluate("window.pwned ?? null") is None
    return [page.evaluate(ELEMENTS)]


def write(kind: str, recording: Recording, path: Path) -> Path:
    if kind == "page":
        recording.to_html(path)
    elif kind == "comparison":
        taskscope.compare(recording, recording).to_html(path)
    else:
        path.write_text(
            f"<!DOCTYPE html><meta charset=utf-8><title>x</title>{result_html(recording)}", "utf-8"
        )
    return path


@pytest.mark.parametrize("kind", ["page", "result", "comparison"])
def test_hostile_text_in_every_field_adds_no_element_and_runs_nothing(
    kind: str, chromium: Browser, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    # A comparison is the same text in the same kind of table as a page, and runs no script at all.
    few = kind == "comparison" and not request.config.getoption("--thorough")
    look = look_at_pictures if kind == "comparison" else look_everywhere
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
        expect(page.get_by_role("img", name="Flame graph")).to_be_visible()
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
            look_everywhere(page)
            chart = page.frames[-1].locator(".tsk-gantt canvas")
            chart.press("n")
            chart.press("r")
            card = page.frames[-1].locator(".tsk-gantt-card")
            expect(card.get_by_role("list", name="Depends on 1 task").get_by_role("button")).to_have_count(1)
            found = violations_of_document(page)
            assert (theme, [f"{name}: {nodes}" for name, nodes in found], said) == (theme, [], [])


def test_a_browser_that_cannot_unpack_the_charts_says_so_below_the_picture(
    chromium: Browser, tmp_path: Path
) -> None:
    rows = [Row(key=(f"work-{i % 3}", i), lane=i % 2, start_s=i / 2, stop_s=i / 2 + 0.9) for i in range(60)]
    recording = recording_of(rows, [run_of(n_tasks=60, stop_s=31.0)])
    context = chromium.new_context(offline=True)
    # Before the scripts of a page, which is sure for none that is in a frame.
    context.add_init_script("delete window.DecompressionStream")
    page = context.new_page()
    note = page.get_by_text(
        "The interactive chart needs a newer browser (Chrome 80, Firefox 113, Safari 16.4)."
        " The picture shows the same tasks."
    )
    page.goto(write("page", recording, tmp_path / "page.html").as_uri())
    expect(note).to_be_visible()
    expect(page.get_by_role("img", name="Gantt chart")).to_be_visible()
    frame = tmp_path / "frame.html"
    frame.write_text(chart_page(recording, None), "utf-8")
    page.goto(frame.as_uri())
    expect(note).to_be_visible()
    context.close()


@pytest.mark.parametrize("width", [500, 1400])
def test_a_result_begins_low_and_more_charts_unfold(
    chromium: Browser, tmp_path: Path, shots: Path, width: int
) -> None:
    names = [f"work-{i}" for i in range(12)]
    rows = [Row(key=(names[i % 12], i), lane=i % 16, start_s=i / 4, stop_s=i / 4 + 3.9) for i in range(120)]
    samples = [(i / 4, 90.0, 1e9 + 1e7 * i, 1, 0.0) for i in range(120)]
    recording = recording_of(rows, [run_of(n_tasks=120, stop_s=34.0)], resources=samples)
    with opened(chromium, write("result", recording, tmp_path / "a.html")) as (page, said):
        page.set_viewport_size({"width": width, "height": 1500})
        frame = page.locator("iframe")
        inside = page.frame_locator("iframe")
        expect(inside.locator(".tsk-gantt canvas")).to_be_visible()
        expect(inside.locator(".tsk-resources").get_by_role("meter")).to_have_count(2)
        expect(inside.locator(".tsk-resources canvas")).to_be_hidden()
        page.screenshot(path=shots / f"result-brief-{width}.png")
        assert frame.evaluate("frame => frame.clientHeight") <= 350
        inside_px = inside.locator(".taskscope-view").evaluate("view => view.scrollHeight")
        assert inside_px <= frame.evaluate("frame => frame.clientHeight")
        page.locator("summary", has_text="More charts").click()
        expect(inside.locator(".tsk-resources canvas")).to_be_visible()
        page.screenshot(path=shots / f"result-all-{width}.png")
        page.locator("summary", has_text="More charts").click()
        expect(inside.locator(".tsk-resources canvas")).to_be_hidden()
        assert said == []


def test_a_result_of_a_hundred_tasks_takes_less_than_113_kb_of_its_notebook() -> None:
    rows = [Row(key=(f"work-{i % 3}", i), lane=i % 4, start_s=i / 2, stop_s=i / 2 + 0.9) for i in range(101)]
    html = result_html(recording_of(rows, [run_of(n_tasks=101, stop_s=52.0)]))
    assert 90_000 < len(json.dumps(html)) < 113_000


def test_the_pictures_give_way_to_charts(chromium: Browser, tmp_path: Path, shots: Path) -> None:
    rows = [Row(key=(f"work-{i % 3}", i), lane=i % 2, start_s=i / 2, stop_s=i / 2 + 0.9) for i in range(60)]
    recording = replace(recording_of(rows, [run_of(n_tasks=60, stop_s=31.0)]), stacks=STACKS)
    path = write("page", recording, tmp_path / "a.html")
    for theme in ("light", "dark"):
        with opened(chromium, path, color_scheme=theme) as (page, said):
            expect(page.locator(".taskscope-place .tsk-dashboard canvas").first).to_be_visible()
            expect(page.locator(".taskscope-picture img")).to_be_hidden()
            page.screenshot(path=shots / f"report-{theme}.png")
            flame = page.locator(".tsk-flame")
            expect(flame.locator(".tsk-flame-sum")).to_have_text("700 samples, about 7 s in tasks")
            expect(page.get_by_role("img", name="Flame graph; the table")).to_be_hidden()
            flame.locator("canvas").first.focus()
            for key in ("ArrowDown", "ArrowDown", "Enter"):
                page.keyboard.press(key)
            expect(flame.locator(".tsk-flame-said")).to_contain_text("outer (outer.py:")
            expect(flame.get_by_role("button", name="Zoom out")).to_be_enabled()
            flame.screenshot(path=shots / f"report-flame-{theme}.png")
            assert said == []


def test_a_page_says_once_what_failed_with_charts_and_without(
    chromium: Browser, tmp_path: Path, shots: Path
) -> None:
    error = "ValueError: the column 'price' is not in the table"
    rows = [Row(key=("load", 0)), Row(key=("bad", 0), start_s=1.0, stop_s=2.0, status="erred", error=error)]
    run = run_of(n_tasks=2, stop_s=2.0, status="erred", error=error)
    path = write("page", recording_of(rows, [run]), tmp_path / "failed.html")
    for scripts in (True, False):
        with opened(chromium, path, java_script_enabled=scripts) as (page, said):
            expect(page.locator(".tsk-dashboard")).to_have_count(int(scripts))
            expect(page.get_by_text("the column 'price'").filter(visible=True)).to_have_count(1)
            expect(page.get_by_text("1 task failed")).to_be_visible()
            page.screenshot(path=shots / f"report-failed-{scripts}.png", full_page=True)
            assert said == []


@pytest.mark.parametrize("kind", ["page", "result"])
def test_a_selected_time_has_the_chain_through_it_without_a_kernel(
    chromium: Browser, tmp_path: Path, kind: str
) -> None:
    recording = recording_of(
        [Row(key="a-1", stop_s=2.0), Row(key="b-1", start_s=2.5, stop_s=4.0)],
        runs=(run_of(0, n_tasks=2, stop_s=4.0),),
    )
    with opened(chromium, write(kind, recording, tmp_path / "x.html")) as (page, said):
        lanes = page.frames[-1].locator(".tsk-gantt")
        lanes.locator("canvas").press("x")
        selected = lanes.get_by_role("region", name="Selected time range")
        expect(selected).to_contain_text("On the longest chain: 2 tasks for 3.5 s, waits of dispatch 500 ms.")
        expect(selected.get_by_role("row").nth(1)).to_have_text("a2 s57%12 s")
    assert said == []
