"""Why a compute took so long, as cards below its lanes; a card and the critical path are lit up there."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Locator, expect

from tests.browser.harness.lab_page import LabPage, use_theme
from tests.browser.harness.painted import COUNT
from tests.browser.workloads import CHAIN, LOAD

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
    expect(chain).to_contain_text(re.compile(r"up to [\d.]+ m?s of [\d.]+ s"))
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
    expect(path).to_have_text(re.compile(r"critical path: 1[2-6] tasks, [\d.]+ s( · waits: .*)?"))
    lab.page.wait_for_function(f"({COUNT})({OTHERS}) > 100")
    shoot(lab, lanes, shots, "findings-path")
    lanes.get_by_role("button", name="Light up the critical path (C)").click()
    expect(path).to_be_hidden()
    lab.page.wait_for_function(f"({COUNT})({OTHERS}) === 0")


def test_why_of_a_selected_time_is_answered_for_that_time_alone(lab: LabPage, shots: Path) -> None:
    lab.page.set_viewport_size({"width": 1400, "height": 1400})
    lab.open(LOAD, "display(Dashboard(more_charts=True))", CHAIN)
    for cell in range(3):
        lab.run_cell(cell)
    lanes = lab.page.locator(".tsk-dashboard > .tsk-gantt")
    canvas = lanes.locator("canvas")
    expect(lanes.get_by_role("group", name="Findings").get_by_role("listitem").first).to_be_visible()
    canvas.press("Home")
    canvas.press("+")
    canvas.press("+")
    canvas.press("x")
    selected = lanes.get_by_role("region", name="Selected time range")
    expect(selected).to_be_visible()
    selected.get_by_role("button", name="Why? What slowed the selected time").click()
    # A part of the chain, so it may save less than all of it: the answer's whole is the part's length.
    answer = selected.locator(".tsk-findings-words").first
    expect(answer).to_contain_text(re.compile(r"(up to|about) [\d.]+ m?s .*of [\d.]+ m?s"))
    whole = re.compile(r"of ([\d.]+) (m?s)")
    part = whole.search(answer.inner_text())
    everything = whole.search(lanes.locator(".tsk-findings li").first.inner_text())
    assert part is not None
    assert everything is not None
    seconds = [float(found[1]) / (1000 if found[2] == "ms" else 1) for found in (part, everything)]
    assert seconds[0] < seconds[1], seconds
    shoot(lab, lanes, shots, "why-of-a-range")
