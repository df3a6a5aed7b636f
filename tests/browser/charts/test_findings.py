"""Why a compute took so long, as cards below its lanes; a card and the critical path are lit up there."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Locator, expect

from tests.browser.cells.test_badge import badge, charts
from tests.browser.charts.test_gantt import COUNT
from tests.browser.harness.axe import violations
from tests.browser.harness.lab_page import LabPage, use_theme
from tests.browser.workloads import LOAD

# Twelve tasks that need each other, and four beside them.
CHAIN = """def nap(*_):
    time.sleep(0.1)
chain = {("step", i): (nap, ("step", i - 1)) for i in range(1, 12)} | {("step", 0): (nap,)}
sides = {("side", i): (nap,) for i in range(4)}
_ = dask.threaded.get(chain | sides, [("step", 11), *sides], num_workers=4)"""
# Its seventh waits until there is a file.
HELD = """from pathlib import Path
def held(*_):
    while not Path(PATH).exists():
        time.sleep(0.01)
""" + CHAIN.replace(
    "_ =",
    """chain["step", 6] = (held, ("step", 5))
_ =""",
)
FAILED = """try:
    dask.threaded.get({"a": (slow, 1), "b": (fail, "a")}, "b", num_workers=2)
except ValueError:
    pass"""
# A chain, and after the first of it a hundred thousand short tasks beside the others.
MANY = """def nap(*_):
    time.sleep(0.8)
    return ""
chain = {("link", i): (nap, ("link", i - 1)) for i in range(1, 30)} | {("link", 0): (nap,)}
short = {("short", i): (len, ("link", 0)) for i in range(100_000 - 30)}
_ = dask.threaded.get(chain | short, [("link", 29), *short], num_workers=4)"""
OTHERS = [196, 202, 209]
"""The shade of bars that step back, on light ground."""


def n_dimmed(lab: LabPage) -> int:
    n: int = lab.page.evaluate(COUNT, OTHERS)
    return n


def lit(lanes: Locator) -> list[str]:
    return lanes.locator(".tsk-findings li > button[aria-pressed='true']").all_text_contents()


def shoot(lab: LabPage, of: Locator, shots: Path, name: str) -> None:
    lab.page.mouse.move(0, 0)
    of.screenshot(path=shots / f"{name}-light.png")
    use_theme(lab.page, "dark")
    of.screenshot(path=shots / f"{name}-dark.png")
    use_theme(lab.page, "light")


def test_a_card_and_the_critical_path_light_up_their_tasks(lab: LabPage, shots: Path) -> None:
    lab.page.set_viewport_size({"width": 1400, "height": 1400})
    lab.open(LOAD, "display(Dashboard(more_charts=True))", CHAIN)
    for cell in range(2):
        lab.run_cell(cell)
    lab.start_cell(2)
    lab.wait_cell(2)
    lanes = lab.page.locator(".tsk-dashboard > .tsk-gantt")
    found = lanes.get_by_role("group", name="Findings")
    chain = found.get_by_role("listitem").filter(has_text="Long chain")
    expect(chain).to_contain_text(re.compile(r"up to [\d.]+ m?s of \d\.\d+ s"))
    expect(chain).to_contain_text("tasks that need each other took ")
    title = chain.get_by_role("button", name="Long chain")
    assert (n_dimmed(lab), lit(lanes)) == (0, [])
    title.press("Enter")
    expect(title).to_have_attribute("aria-pressed", "true")
    lab.page.wait_for_function(f"({COUNT})({OTHERS}) > 100")
    shoot(lab, lab.page.locator(".tsk-dashboard"), shots, "findings-lit")
    title.press("Escape")
    expect(title).to_have_attribute("aria-pressed", "false")
    lab.page.wait_for_function(f"({COUNT})({OTHERS}) === 0")
    # What a lane had to do before a task of the chain is on the path as well.
    lanes.locator("canvas").press("c")
    path = lanes.locator(".tsk-findings-path")
    expect(path).to_have_text(re.compile(r"critical path: 1[2-6] tasks, \d\.\d+ s( · waits: .*)?"))
    lab.page.wait_for_function(f"({COUNT})({OTHERS}) > 100")
    shoot(lab, lanes, shots, "findings-path")
    lanes.get_by_role("button", name="Light up the critical path (C)").click()
    expect(path).to_be_hidden()
    lab.page.wait_for_function(f"({COUNT})({OTHERS}) === 0")


def test_a_selected_time_says_who_was_on_the_longest_chain(lab: LabPage, shots: Path, tmp_path: Path) -> None:
    let_go = tmp_path / "let-go"
    lab.page.set_viewport_size({"width": 1400, "height": 1400})
    lab.open(LOAD, "display(Dashboard(more_charts=True))", f"PATH = {str(let_go)!r}\n{HELD}")
    for cell in range(2):
        lab.run_cell(cell)
    lab.start_cell(2)
    lanes = lab.page.locator(".tsk-dashboard > .tsk-gantt")
    expect(lanes.locator("canvas")).to_be_visible()
    lanes.locator("canvas").press("x")
    selected = lanes.get_by_role("region", name="Selected time range")
    expect(selected).to_contain_text(
        "Who was on the longest chain is not known: these computes have not ended."
    )
    let_go.touch()
    lab.wait_cell(2)
    lanes.locator("canvas").press("Home")
    lanes.locator("canvas").press("x")
    expect(selected).to_contain_text(
        re.compile(r"On the longest chain: 1[2-6] tasks for \d+(\.\d+)? s, waits of ")
    )
    expect(selected.get_by_role("columnheader", name="On the longest chain")).to_be_visible()
    shoot(lab, lanes, shots, "range-chain")


def test_below_a_cell_findings_are_one_line_that_unfolds(lab: LabPage, shots: Path) -> None:
    lab.open(LOAD, CHAIN)
    lab.run_cell(0)
    lab.run_cell(1)
    badge(lab, 1).click()
    view = charts(lab, 1)
    line = view.get_by_role("button", name=re.compile(r"findings?(, the first)?: "))
    expect(line).to_be_visible()
    card = view.get_by_role("listitem").filter(has_text="Long chain")
    expect(card).to_be_hidden()
    box = view.bounding_box()
    assert box is not None
    assert box["height"] <= 380, box
    shoot(lab, view, shots, "findings-folded")
    line.press("Enter")
    expect(card).to_be_visible()
    card.click()
    expect(card.get_by_role("button")).to_have_attribute("aria-pressed", "true")
    view.screenshot(path=shots / "findings-unfolded.png")


def test_they_come_of_a_hundred_thousand_tasks_and_violate_no_rule(lab: LabPage, shots: Path) -> None:
    lab.page.set_viewport_size({"width": 1400, "height": 1400})
    lab.open(LOAD, "display(Dashboard(more_charts=True))", MANY)
    for cell in range(3):
        lab.run_cell(cell)
    lanes = lab.page.locator(".tsk-dashboard > .tsk-gantt")
    card = lanes.get_by_role("group", name="Findings").get_by_role("button", name="Long chain")
    expect(card).to_be_visible()
    card.click()
    expect(card).to_have_attribute("aria-pressed", "true")
    lab.page.wait_for_function(f"({COUNT})({OTHERS}) > 100")
    shoot(lab, lab.page.locator(".tsk-dashboard"), shots, "findings-many-lit")
    lanes.locator("canvas").press("c")
    # How many of the short tasks were handed over one after the other is up to the machine.
    expect(lanes.locator(".tsk-findings-path")).to_have_text(
        re.compile(
            r"critical path: [\d,]+ tasks, [23]\d(\.\d+)? s( · waits: .*)?"
            r"|the critical path is not known: the critical path has [\d,]+ steps, a page shows"
            r" one of at most 30,000; recording\.critical_path\(\) has no such limit"
        )
    )
    expect(card).to_have_attribute("aria-pressed", "false")
    shoot(lab, lanes, shots, "findings-many-path")
    found = {"light": violations(lab.page)}
    use_theme(lab.page, "dark")
    found["dark"] = violations(lab.page)
    assert found == {"light": [], "dark": []}


def test_where_nothing_can_be_said_there_is_no_box(lab: LabPage) -> None:
    lab.open(LOAD, "display(Dashboard(more_charts=True))", FAILED)
    for cell in range(3):
        lab.run_cell(cell)
    lanes = lab.page.locator(".tsk-dashboard > .tsk-gantt")
    # Its path is known, so the kernel has answered.
    expect(lanes.get_by_role("button", name="Light up the critical path (C)")).to_be_visible()
    expect(lanes.get_by_role("group", name="Findings")).to_have_count(0)
