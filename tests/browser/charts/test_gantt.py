"""What a person does with the Gantt chart in a real JupyterLab, and what the kernel hears of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.harness.lab_page import LabPage
from tests.browser.harness.painted import COUNT

# The labels show what the kernel knows, after a round trip.
SHOW = """%load_ext taskscope
import dask, ipywidgets, json, time, traitlets
from taskscope import GanttWidget
w = GanttWidget()
labels = [ipywidgets.Label() for _ in range(3)]
for name, label in zip(("time_range", "follow", "selected_key"), labels):
    label.add_class(f"told-{name}")
    traitlets.dlink((w, name), (label, "value"), json.dumps)
display(w, *labels)"""
# Forty tasks of 20 ms with two prefixes, on two threads.
COMPUTE = """def nap(*_):
    time.sleep(0.02)
graph = {("load", i): (nap, i) for i in range(20)} | {("scale", i): (nap, ("load", i)) for i in range(20)}
dask.threaded.get(graph, [("scale", i) for i in range(20)], num_workers=2);"""


def chart(lab: LabPage) -> Locator:
    return lab.page.locator(".tsk-gantt").first


def canvas(lab: LabPage) -> Locator:
    return chart(lab).locator("canvas")


def state(lab: LabPage) -> Locator:
    return chart(lab).locator(".tsk-gantt-state")


def card(lab: LabPage) -> Locator:
    return chart(lab).get_by_role("region", name="Selected task")


def range_panel(lab: LabPage) -> Locator:
    return chart(lab).get_by_role("region", name="Selected time range")


def press(lab: LabPage, *keys: str) -> None:
    for key in keys:
        canvas(lab).press(key)


def colour_of(lab: LabPage, prefix: str) -> tuple[int, int, int]:
    """Return the colour that the legend gives a prefix."""
    swatch = chart(lab).get_by_role("button", name=prefix).locator(".tsk-swatch")
    red, green, blue = map(int, re.findall(r"\d+", swatch.evaluate("el => el.style.background")))
    return red, green, blue


def wait_pixels(lab: LabPage, colour: tuple[int, int, int], condition: str) -> None:
    """Wait until the number of pixels of a colour fulfils a condition such as ``> 0``."""
    lab.page.wait_for_function(f"(colour) => ({COUNT})(colour) {condition}", arg=list(colour))


def told(lab: LabPage, trait: str, pattern: str) -> Any:
    """Wait until the kernel knows a trait's value as JSON that matches, and return the value."""
    label = lab.page.locator(f".told-{trait}").first
    expect(label).to_have_text(re.compile(f"^{pattern}$"))
    return json.loads(label.inner_text())


def opened(lab: LabPage, *more: str, compute: str = COMPUTE, says: str = "40 tasks · 2 threads") -> None:
    lab.open(SHOW, compute, *more)
    lab.run_cell(0)
    expect(chart(lab)).to_be_visible()
    lab.start_cell(1)
    lab.wait_cell(1)
    expect(state(lab)).to_have_text(says)


def plot(lab: LabPage) -> tuple[float, float, float]:
    """Left and right edge of the bars on the page, and the middle of the first lane."""
    canvas(lab).scroll_into_view_if_needed()
    box = canvas(lab).bounding_box()
    assert box is not None
    left = chart(lab).locator(".tsk-gantt-workers").evaluate("el => el.offsetWidth")
    return box["x"] + left, box["x"] + box["width"] - 12, box["y"] + 15


def drag(lab: LabPage, start: float, stop: float, y: float) -> None:
    lab.page.mouse.move(start, y)
    lab.page.mouse.down()
    lab.page.mouse.move((start + stop) / 2, y)
    lab.page.mouse.move(stop, y)
    lab.page.mouse.up()


def test_a_range_the_wheel_and_keys_zoom_and_the_kernel_hears_of_it(lab: LabPage) -> None:
    opened(lab)
    chart(lab).get_by_role("button", name="Fit: show everything (Home)").click()
    told(lab, "follow", "false")
    left, right, y = plot(lab)
    lab.page.keyboard.down("Shift")
    drag(lab, left + (right - left) / 4, left + (right - left) / 2, y)
    lab.page.keyboard.up("Shift")
    expect(range_panel(lab)).to_be_visible()
    told(lab, "time_range", "null")
    range_panel(lab).get_by_role("button", name="Zoom to it").click()
    quarter = told(lab, "time_range", r"\[.*\]")
    width = quarter[1] - quarter[0]
    # The chart began with all of it: at least twenty rounds of 20 ms.
    assert width > 0.08

    press(lab, "w")
    zoomed = told(lab, "time_range", rf"\[(?!{re.escape(json.dumps(quarter)[1:-1])}).*\]")
    assert zoomed[1] - zoomed[0] == pytest.approx(width / 1.5)
    press(lab, "d")
    moved = told(lab, "time_range", rf"\[(?!{re.escape(json.dumps(zoomed)[1:-1])}).*\]")
    assert moved[1] - moved[0] == pytest.approx(width / 1.5)
    assert moved[0] - zoomed[0] == pytest.approx(80 / (right - left) * width / 1.5, rel=0.02)

    lab.page.mouse.move(left + 10, y)
    lab.page.mouse.wheel(0, -200)
    wheeled = told(lab, "time_range", rf"\[(?!{re.escape(json.dumps(moved)[1:-1])}).*\]")
    assert wheeled[1] - wheeled[0] < moved[1] - moved[0]
    canvas(lab).dblclick(position={"x": 300, "y": 10})
    told(lab, "time_range", "null")


def test_tasks_are_found_by_prefix_and_by_key(lab: LabPage) -> None:
    opened(lab)
    press(lab, "/")
    field = chart(lab).get_by_role("searchbox", name="Find tasks by key or task type")
    expect(field).to_be_focused()
    said = chart(lab).locator(".tsk-gantt-find").get_by_role("status")
    field.fill("SCALE")
    expect(said).to_have_text("20 matches")
    field.press("Enter")
    expect(said).to_have_text("1 of 20 matches")
    expect(card(lab)).to_contain_text("Task type" + "scale")
    field.press("Shift+Enter")
    expect(said).to_have_text("20 of 20 matches")
    field.fill("load, 7")
    expect(said).to_have_text("1 match")
    field.press("Enter")
    expect(card(lab)).to_contain_text("('load', 7)")
    assert told(lab, "selected_key", r'"\(.load., 7\)"') == "('load', 7)"
    field.fill("nowhere")
    expect(said).to_have_text("no match")
    field.press("Escape")
    expect(field).to_be_hidden()
    expect(canvas(lab)).to_be_focused()


def test_a_prefix_is_hidden_and_stands_out_from_the_legend(lab: LabPage, shots: Path) -> None:
    opened(lab)
    load = chart(lab).get_by_role("button", name="load")
    scale = chart(lab).get_by_role("button", name="scale")
    load_colour, scale_colour = colour_of(lab, "load"), colour_of(lab, "scale")
    wait_pixels(lab, load_colour, "> 1000")
    load.click()
    expect(load).to_have_attribute("aria-pressed", "false")
    expect(state(lab)).to_have_text("40 tasks · 2 threads · 1 task type hidden")
    wait_pixels(lab, load_colour, "=== 0")
    wait_pixels(lab, scale_colour, "> 1000")
    chart(lab).screenshot(path=shots / "gantt-hidden.png")
    chart(lab).get_by_role("button", name="Show all task types again").click()
    expect(state(lab)).to_have_text("40 tasks · 2 threads")
    wait_pixels(lab, load_colour, "> 1000")

    scale.hover()
    wait_pixels(lab, load_colour, "=== 0")
    wait_pixels(lab, scale_colour, "> 1000")
    chart(lab).screenshot(path=shots / "gantt-highlighted.png")
    load.focus()
    lab.page.mouse.move(0, 0)
    load.press("Space")
    expect(load).to_have_attribute("aria-pressed", "false")
    load.press("Space")
    expect(load).to_have_attribute("aria-pressed", "true")


def test_the_selected_key_goes_both_ways_also_while_a_cell_runs(lab: LabPage) -> None:
    live = """w.selected_key = "('scale', 4)"
time.sleep(600)"""
    opened(lab, "w.selected_key = \"('load', 3)\"", "w.selected_key = None", live)
    lab.run_cell(2)
    expect(card(lab)).to_contain_text("('load', 3)")
    lab.run_cell(3)
    expect(card(lab)).to_be_hidden()
    lab.start_cell(4)
    expect(card(lab)).to_contain_text("('scale', 4)")
    assert not lab.is_done(4)
    lab.page.evaluate("window.jupyterapp.commands.execute('notebook:interrupt-kernel')")
    lab.wait_cell(4)
    press(lab, "Escape")
    told(lab, "selected_key", "null")
    press(lab, "n")
    key = told(lab, "selected_key", r'".*"')
    expect(card(lab)).to_contain_text(key)


def opened_with_dependencies(lab: LabPage) -> None:
    """Twenty tasks need two others each, one of which all need; two cells select one of either kind."""
    compute = COMPUTE.replace(
        '("scale", i): (nap, ("load", i))', '("scale", i): (nap, ("load", i), ("load", 0))'
    )
    opened(lab, "w.selected_key = \"('load', 0)\"", "w.selected_key = \"('scale', 3)\"", compute=compute)


def test_dependencies_of_the_selected_task_are_links_and_lines(lab: LabPage, shots: Path) -> None:
    opened_with_dependencies(lab)
    lab.run_cell(2)
    expect(card(lab)).to_contain_text("('load', 0)")
    needed_by = card(lab).get_by_role("list", name="Needed by 20 tasks")
    expect(needed_by.get_by_role("button")).to_have_count(20)
    draw = card(lab).get_by_role("button", name="Draw dependencies")
    expect(draw).to_have_attribute("aria-pressed", "false")
    draw.click()
    expect(draw).to_have_attribute("aria-pressed", "true")
    lines = "Solid lines come from what it depends on, dashed ones lead to what needs it."
    expect(card(lab)).to_contain_text(lines)
    chart(lab).screenshot(path=shots / "gantt-dependents.png")
    lab.run_cell(3)
    depends_on = card(lab).get_by_role("list", name="Depends on 2 tasks")
    expect(depends_on.get_by_role("button")).to_have_text(["('load', 3)", "('load', 0)"])
    press(lab, "r")
    expect(draw).to_have_attribute("aria-pressed", "false")
    expect(card(lab)).not_to_contain_text(lines)
