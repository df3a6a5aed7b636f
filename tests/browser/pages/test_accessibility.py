"""An axe-core run over every widget in each of its states, light and dark, in a real JupyterLab."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

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
