"""An axe-core run over every widget in each of its states, light and dark, in a real JupyterLab."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import expect

from tests.browser.charts.test_findings import CHAIN
from tests.browser.harness.axe import violations
from tests.browser.harness.lab_page import LabPage, use_theme
from tests.browser.workloads import LOAD

THEMES = ("light", "dark")
SHOW_EACH = """
live = [kind() for kind in (ProgressWidget, GanttWidget, ResourceWidget, CacheWidget)]
live.append(Dashboard(more_charts=True))
for w in live: display(w)
"""
# The threads of the interrupted compute are those of the next one.
FREED = "gate.set(); _ = in_groups(11, 2)"
BRIEF = "live[-1].more_charts = False"


# Whether every canvas that is seen has a dark corner, or a light one.
PAINTED = """dark => [...document.querySelectorAll('.tsk-chart canvas')].every(canvas => {
  if (!canvas.checkVisibility()) return true;
  const { data } = canvas.getContext('2d').getImageData(0, 0, 1, 1);
  return (data[0] + data[1] + data[2] < 200) === dark;
})"""


def _violations_in_brief(lab: LabPage) -> list[str]:
    lab.run_cell(5)
    expect(lab.page.get_by_role("button", name="More charts")).to_be_visible()
    return violations(lab.page)


@pytest.mark.parametrize("theme", THEMES)
def test_no_widget_in_any_state_violates_a_rule(lab: LabPage, shots: Path, theme: str) -> None:
    lab.open(LOAD, SHOW_EACH, "_ = computed(wait, 6)", FREED, "_ = computed(fail, 3)", BRIEF)
    use_theme(lab.page, theme)
    lab.run_cell(0)
    lab.run_cell(1)
    states = lab.page.locator(".tsk-progress-state")
    expect(states).to_have_text(["Waiting for a Dask compute"] * 2)
    found = {"waiting": violations(lab.page)}
    lab.start_cell(2)
    expect(states).to_have_text(["Running"] * 2)
    found["running"] = violations(lab.page)
    lab.page.screenshot(path=shots / f"axe-running-{theme}.png")
    lab.page.get_by_role("button", name="Stop", exact=True).first.click()
    lab.wait_cell(2)
    expect(states).to_have_text(["Interrupted"] * 2)
    found["interrupted"] = violations(lab.page)
    lab.run_cell(3)
    expect(lab.page.get_by_role("button", name="Show 3 more task types")).to_have_count(2)
    found["many groups"] = violations(lab.page)
    lab.start_cell(4)
    lab.wait_cell(4)
    lab.wait_feed("!feed.active")
    found["failed"] = violations(lab.page)
    found["brief"] = _violations_in_brief(lab)
    lab.page.screenshot(path=shots / f"axe-failed-{theme}.png")
    lab.restart_kernel()
    former = "kernel restarted: this is what was there before"
    expect(lab.page.locator(".tsk-note:visible")).to_have_text([former] * 5)
    found["restarted"] = violations(lab.page)
    # One line a violation, so that a red test says it all.
    assert [f"{state}: {violation}" for state in found for violation in found[state]] == []


@pytest.mark.parametrize("theme", THEMES)
def test_neither_findings_nor_a_selected_time_violates_a_rule(lab: LabPage, shots: Path, theme: str) -> None:
    lab.page.set_viewport_size({"width": 1200, "height": 1400})
    lab.open(LOAD, "display(Dashboard(more_charts=True))", CHAIN)
    use_theme(lab.page, theme)
    for cell in range(3):
        lab.run_cell(cell)
    lanes = lab.page.locator(".tsk-dashboard > .tsk-gantt")
    card = lanes.get_by_role("group", name="Findings").get_by_role("button", name="Long chain")
    expect(card).to_be_visible()
    found = {"findings": violations(lab.page)}
    card.click()
    expect(card).to_have_attribute("aria-pressed", "true")
    found["lit"] = violations(lab.page)
    lanes.locator("canvas").press("c")
    expect(lanes.locator(".tsk-findings-path")).to_be_visible()
    found["path"] = violations(lab.page)
    lanes.locator("canvas").press("x")
    expect(lanes.get_by_role("region", name="Selected time range")).to_be_visible()
    found["range"] = violations(lab.page)
    lanes.screenshot(path=shots / f"axe-range-{theme}.png")
    assert [f"{state}: {violation}" for state in found for violation in found[state]] == []


def test_widgets_follow_the_theme_while_they_are_open(lab: LabPage) -> None:
    lab.open(LOAD, SHOW_EACH, "_ = in_groups(3, 2)")
    for cell in range(3):
        lab.run_cell(cell)
    charts = lab.page.locator(".tsk-chart:visible")
    n_charts = 8
    expect(charts).to_have_count(n_charts)
    dark = lab.page.locator(".tsk-chart.tsk-dark:visible")
    grounds = []
    for theme in (*THEMES, *THEMES):
        use_theme(lab.page, theme)
        expect(dark).to_have_count(n_charts if theme == "dark" else 0)
        # The canvases are painted anew, each of the live charts and of the dashboard.
        lab.page.wait_for_function(PAINTED, arg=theme == "dark")
        grounds.append(charts.first.evaluate("el => getComputedStyle(el).backgroundColor"))
    assert (grounds[:2], grounds[0] != grounds[1]) == (grounds[2:], True)


@pytest.mark.parametrize(("theme", "machine"), [("light", "dark"), ("dark", "light")])
def test_charts_have_the_theme_of_the_page_whatever_the_machine_prefers(
    lab: LabPage, shots: Path, theme: str, machine: Literal["dark", "light"]
) -> None:
    lab.page.emulate_media(color_scheme=machine)
    lab.open(LOAD, SHOW_EACH, "_ = in_groups(3, 4)")
    use_theme(lab.page, theme)
    for cell in range(3):
        lab.run_cell(cell)
    lab.wait_feed("!feed.active && feed.tasks === 12")
    is_dark = theme == "dark"
    lab.page.wait_for_function(PAINTED, arg=is_dark)
    charts = lab.page.locator(".tsk-chart")
    assert charts.evaluate_all("all => all.map(one => one.classList.contains('tsk-dark'))") == (
        [is_dark] * charts.count()
    )
    lab.page.screenshot(path=shots / f"theme-{theme}-on-{machine}.png")
