"""What a person does with the Gantt chart in a real JupyterLab, and what the kernel hears of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.harness.lab_page import LabPage, use_theme

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

BESIDE = """menu => {
  const [button, list] = [...menu.children].map(el => el.getBoundingClientRect());
  return Math.min(Math.abs(list.top - button.bottom), Math.abs(button.top - list.bottom)) <= 3;
}"""
COUNT = """(colour) => {
  const canvas = document.querySelector('.tsk-gantt canvas');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let n = 0;
  for (let i = 0; i < data.length; i += 4) {
    if (data[i] === colour[0] && data[i + 1] === colour[1] && data[i + 2] === colour[2]) n += 1;
  }
  return n;
}"""


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


def choose(lab: LabPage, action: str) -> None:
    """Take an action from the menu."""
    chart(lab).get_by_role("button", name="More actions").click()
    chart(lab).get_by_role("menuitem", name=action).click()


def colour_of(lab: LabPage, prefix: str) -> tuple[int, int, int]:
    """Return the colour that the legend gives a prefix."""
    swatch = chart(lab).get_by_role("button", name=prefix).locator(".tsk-gantt-swatch")
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
    assert 0.08 < width < 5

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


def test_a_menu_is_whole_where_its_panel_is_low(lab: LabPage, shots: Path) -> None:
    opened(lab, "\n" * 60)
    chart(lab).evaluate("el => { el.parentElement.style.cssText = 'height: 70px; contain: strict'; }")
    opener = chart(lab).get_by_role("button", name="More actions")
    items = chart(lab).get_by_role("menuitem")
    for _ in range(3):
        opener.click()
        expect(items.first).to_be_focused()
        # What is clicked at the middle of each is that item, and nothing that lies over it or cuts it off.
        hidden = items.evaluate_all(
            """all => all.filter(item => {
              const { left, top, width, height } = item.getBoundingClientRect();
              return document.elementFromPoint(left + width / 2, top + height / 2) !== item;
            }).map(item => item.textContent)"""
        )
        assert hidden == []
        lab.page.screenshot(path=shots / "gantt-menu-low.png")
        lab.page.keyboard.press("Escape")
        expect(opener).to_be_focused()
        expect(items).to_have_count(0)
    opener.click()
    expect(items.first).to_be_focused()
    # It goes along with its button.
    before, menu = opener.bounding_box(), chart(lab).locator(".tsk-menu").element_handle()
    lab.page.locator(".jp-WindowedPanel-outer").first.evaluate("el => { el.scrollBy(0, 30); }")
    lab.page.wait_for_function(BESIDE, arg=menu)
    after = opener.bounding_box()
    assert before is not None
    assert after is not None
    assert after["y"] < before["y"]


def test_a_drag_on_the_ruler_tells_what_ran_there_until_escape(lab: LabPage, shots: Path) -> None:
    opened(lab)
    left, right, _ = plot(lab)
    box = canvas(lab).bounding_box()
    assert box is not None
    ruler = box["y"] + box["height"] - 8
    drag(lab, left - 5, right + 20, ruler)
    title = range_panel(lab).locator(".tsk-gantt-range-title")
    expect(title).to_have_text(re.compile(r"^0 s to .*: 40 tasks$"))
    cells = range_panel(lab).locator("tbody tr")
    expect(cells).to_have_text([re.compile(r"s\d+%20\d+ ms$")] * 2)
    drag(lab, left + (right - left) * 0.3, left + (right - left) * 0.6, ruler)
    expect(title).not_to_contain_text(": 40 tasks")
    # The drag was no click: keys go to the chart, which was selected from.
    expect(canvas(lab)).to_be_focused()
    chart(lab).screenshot(path=shots / "gantt-range-light.png")
    use_theme(lab.page, "dark")
    expect(chart(lab)).to_have_class(re.compile("tsk-dark"))
    chart(lab).screenshot(path=shots / "gantt-range-dark.png")
    press(lab, "Escape")
    expect(range_panel(lab)).to_be_hidden()
    press(lab, "x", "Shift+ArrowLeft", "Shift+D")
    expect(range_panel(lab)).to_be_visible()
    chart(lab).evaluate("el => { el.style.width = '280px'; }")
    chart(lab).screenshot(path=shots / "gantt-range-narrow.png")
    edge = "el => el.getBoundingClientRect().right"
    assert range_panel(lab).get_by_role("button", name="Close").evaluate(edge) <= chart(lab).evaluate(edge)
    range_panel(lab).get_by_role("button", name="Close").click()
    expect(range_panel(lab)).to_be_hidden()


def test_two_fingers_zoom(lab: LabPage) -> None:
    opened(lab)
    left, right, y = plot(lab)
    cdp = lab.page.context.new_cdp_session(lab.page)
    middle = (left + right) / 2
    for kind, apart in (("touchStart", 100), ("touchMove", 200), ("touchEnd", None)):
        sides = [] if apart is None else [-apart, apart]
        fingers = [{"x": middle + side, "y": y, "id": i} for i, side in enumerate(sides)]
        cdp.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers})
    start, stop = told(lab, "time_range", r"\[.*\]")
    chart(lab).get_by_role("button", name="Fit: show everything (Home)").click()
    told(lab, "time_range", "null")
    assert 0.2 < stop - start < 5


def test_keys_in_the_chart_do_not_reach_the_notebook(lab: LabPage) -> None:
    opened(lab)
    canvas(lab).click(position={"x": 4, "y": 60})
    press(lab, "d", "d", "a", "b", "c", "x", "Shift+M")
    chart(lab).get_by_role("button", name="load").press("d")
    chart(lab).get_by_role("button", name="load").press("d")
    n_cells = lab.page.evaluate("window.jupyterapp.shell.currentWidget.content.widgets.length")
    assert n_cells == 2


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


def test_what_does_not_match_steps_back_while_one_types(lab: LabPage, shots: Path) -> None:
    opened(lab)
    load_colour, scale_colour = colour_of(lab, "load"), colour_of(lab, "scale")
    wait_pixels(lab, load_colour, "> 1000")
    press(lab, "/")
    field = chart(lab).get_by_role("searchbox", name="Find tasks by key or task type")
    field.press_sequentially("sca")
    wait_pixels(lab, load_colour, "=== 0")
    wait_pixels(lab, scale_colour, "> 1000")
    chart(lab).screenshot(path=shots / "gantt-found-light.png")
    use_theme(lab.page, "dark")
    expect(chart(lab)).to_have_class(re.compile("tsk-dark"))
    chart(lab).screenshot(path=shots / "gantt-found-dark.png")
    use_theme(lab.page, "light")
    # Without Enter or Escape: nothing typed, nothing looked for.
    for _ in "sca":
        field.press("Backspace")
    wait_pixels(lab, load_colour, "> 1000")
    field.fill("load, 7")
    wait_pixels(lab, scale_colour, "=== 0")
    wait_pixels(lab, load_colour, "> 10")
    field.press("Escape")
    wait_pixels(lab, scale_colour, "> 1000")


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


def test_the_lanes_of_a_worker_collapse_into_their_mean(lab: LabPage, shots: Path) -> None:
    compute = COMPUTE.replace("num_workers=2", "num_workers=20").replace("0.02", "0.1")
    opened(lab, compute=compute, says="40 tasks · 20 threads")
    worker = chart(lab).locator(".tsk-gantt-worker")
    expect(worker).to_have_attribute("aria-expanded", "true")
    tall = canvas(lab).evaluate("canvas => canvas.clientHeight")
    chart(lab).screenshot(path=shots / "gantt-lanes-open.png")
    worker.click()
    expect(worker).to_have_attribute("aria-expanded", "false")
    lab.page.wait_for_function(f"() => document.querySelector('.tsk-gantt canvas').clientHeight < {tall}")
    left, right, y = plot(lab)
    lab.page.mouse.move(left + (right - left) / 3, y)
    tip = chart(lab).get_by_role("tooltip")
    expect(tip).to_contain_text(re.compile(r"Busy\d+(\.\d)? of 20 threads \(\d+%\)"))
    chart(lab).screenshot(path=shots / "gantt-lanes-collapsed.png")
    # Finding a task opens its worker again.
    press(lab, "/")
    field = chart(lab).get_by_role("searchbox")
    field.fill("scale, 3")
    expect(chart(lab).locator(".tsk-gantt-find").get_by_role("status")).to_have_text("1 match")
    field.press("Enter")
    expect(worker).to_have_attribute("aria-expanded", "true")


def test_the_selected_key_goes_both_ways_also_while_a_cell_runs(lab: LabPage) -> None:
    live = """w.selected_key = "('scale', 4)"
time.sleep(60)"""
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


def test_a_selection_reaches_the_kernel_while_a_compute_runs(lab: LabPage) -> None:
    heard = """import os, threading
heard = threading.Event()
w.observe(lambda change: change.new and heard.set(), "selected_key")
graph = {("load", i): (nap, i) for i in range(8)} | {"last": (lambda *_: heard.wait(50), ("load", 0))}
assert dask.threaded.get(graph, "last", num_workers=1)
w.selected_key"""
    opened(lab, heard)
    lab.start_cell(2)
    # One must have ended that can be selected.
    expect(state(lab)).to_contain_text(re.compile(r"[1-9]\d* tasks? .*1 running"))
    press(lab, "n")
    lab.wait_cell(2)
    (shown,) = lab.outputs(2)
    key = shown["data"]["text/plain"]
    expect(card(lab)).to_contain_text(key.strip("\"'"))
    assert json.dumps(told(lab, "selected_key", '".*"')).strip("\"'") in key


def test_a_failed_task_has_a_pattern_and_says_what_it_raised(lab: LabPage, shots: Path) -> None:
    compute = """def fail(i):
    time.sleep(0.1)
    raise ValueError(f"no <b>good</b> {i}")
try:
    dask.threaded.get({("bad", 0): (fail, 0)}, [("bad", 0)], num_workers=2)
except ValueError:
    pass"""
    opened(lab, compute=compute, says="failed: ValueError: no <b>good</b> 0 · 1 task · 1 thread · 1 failed")
    wait_pixels(lab, (214, 0, 0), "> 500")
    press(lab, "n")
    expect(card(lab)).to_contain_text("Status" + "failed")
    expect(card(lab)).to_contain_text("Error" + "ValueError: no <b>good</b> 0")
    chart(lab).screenshot(path=shots / "gantt-failed.png")


def test_the_theme_changes_while_the_chart_is_open(lab: LabPage, shots: Path) -> None:
    opened(lab)
    expect(chart(lab)).not_to_have_class(re.compile("tsk-dark"))
    wait_pixels(lab, (255, 255, 255), "> 10000")
    use_theme(lab.page, "dark")
    expect(chart(lab)).to_have_class(re.compile("tsk-dark"))
    # Labels within bars are white, too, where bars are wide enough for them.
    wait_pixels(lab, (255, 255, 255), "< 5000")
    chart(lab).screenshot(path=shots / "gantt-dark.png")
    use_theme(lab.page, "light")
    expect(chart(lab)).not_to_have_class(re.compile("tsk-dark"))


def test_the_chart_is_copied_as_a_table_and_saved_as_a_picture(lab: LabPage) -> None:
    lab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened(lab)
    choose(lab, "Copy task types and threads as a table")
    expect(chart(lab).locator(".tsk-notice")).to_have_text("copied 5 rows")
    lines = lab.page.evaluate("navigator.clipboard.readText()").split("\n")
    rows = [line.split("\t")[:3] for line in lines]
    # Which prefix was heard of first depends on which thread was.
    assert [rows[0], *sorted(rows[1:3]), *rows[3:]] == [
        ["Task type", "Tasks", "Finished"],
        ["load", "20", "20"],
        ["scale", "20", "20"],
        [""],
        ["Thread", "Worker", "Tasks"],
        [lines[5].split("\t")[0], lines[5].split("\t")[1], lines[5].split("\t")[2]],
        [lines[6].split("\t")[0], lines[6].split("\t")[1], str(40 - int(lines[5].split("\t")[2]))],
        [""],
        ["Compute", "Step", "Duration"],
        [lines[9].split("\t")[0], "ordering them", lines[9].split("\t")[2]],
    ]
    choose(lab, "Copy visible tasks as a table")
    expect(chart(lab).locator(".tsk-notice")).to_have_text("copied 40 rows (40 tasks in sight)")
    choose(lab, "Show as tables")
    expect(chart(lab).get_by_role("cell", name="scale")).to_be_visible()
    with lab.page.expect_download() as saved:
        choose(lab, "Save as PNG")
    assert saved.value.suggested_filename == "taskscope-gantt.png"
    assert saved.value.path().read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


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


def test_dependencies_are_links_and_keys_walk_them(lab: LabPage, shots: Path) -> None:
    opened_with_dependencies(lab)
    lab.run_cell(3)
    depends_on = card(lab).get_by_role("list", name="Depends on 2 tasks")
    expect(depends_on).to_be_visible()
    # What is out of sight is brought into it, and the kernel hears of it.
    before = told(lab, "time_range", ".*")
    press(lab, "z")
    assert told(lab, "time_range", r"\[.*") != before
    near = told(lab, "time_range", r"\[.*")
    depends_on.get_by_role("button", name="('load', 0)").click()
    expect(card(lab).locator(".tsk-gantt-tip-key")).to_have_text("('load', 0)")
    assert told(lab, "selected_key", r".*\('load', 0\).*") == "('load', 0)"
    expect(canvas(lab)).to_be_focused()
    lab.page.wait_for_function(
        "(near) => JSON.parse(document.querySelector('.told-time_range').innerText)[1] <= near", arg=near[0]
    )
    expect(card(lab).get_by_role("list", name="Needed by 20 tasks")).to_be_visible()
    use_theme(lab.page, "dark")
    expect(chart(lab)).to_have_class(re.compile("tsk-dark"))
    chart(lab).screenshot(path=shots / "gantt-links-dark.png")
