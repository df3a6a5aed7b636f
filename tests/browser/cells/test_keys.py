"""The keys of a notebook act on its cells after a click on a button of taskscope, as beside one of HTML."""

from __future__ import annotations

from playwright.sync_api import Locator, expect
from playwright.sync_api import TimeoutError as NotReached

from tests.browser.harness.lab_page import LabPage
from tests.browser.workloads import LOAD

_CONTENT = "window.jupyterapp.shell.currentWidget.content"
_STATE = f"""(() => {{
  const {{ widgets, activeCellIndex, mode }} = {_CONTENT};
  return [widgets.length, activeCellIndex, mode].join(' ');
}})()"""
_COUNT = f"{_CONTENT}.widgets[1].model.executionCount"


def cell(lab: LabPage, index: int) -> Locator:
    return lab.page.locator(f"[data-windowed-list-index='{index}']")


def reaches(lab: LabPage, key: str, expected: str) -> bool:
    """Return whether a key brings the notebook to a state: how many cells, the active one, the mode."""
    lab.page.keyboard.press(key)
    try:
        lab.page.wait_for_function(f"expected => {_STATE} === expected", arg=expected)
    except NotReached:
        return False
    return True


def inserts(lab: LabPage, key: str, index: int) -> bool:
    """Return whether a key inserts a cell at this place of a notebook of three, which stays as it is."""
    if not reaches(lab, key, f"4 {index} command"):
        return False
    lab.command("notebook:delete-cell")
    lab.page.wait_for_function(f"{_CONTENT}.widgets.length === 3")
    return True


def test_after_a_click_on_a_badge_the_keys_are_the_notebooks(lab: LabPage) -> None:
    lab.open(LOAD, "_ = computed(slow, 4)", "1 + 1")
    lab.run_cell(0)
    lab.run_cell(1)
    badge = cell(lab, 1).locator(".tsk-cell-badge > button")
    badge.click()
    expect(badge).to_have_attribute("aria-expanded", "true")
    assert inserts(lab, "b", 2)
    badge.click()
    expect(badge).to_have_attribute("aria-expanded", "false")
    cell(lab, 1).locator(".jp-InputPrompt").click()
    assert inserts(lab, "a", 1)
    # Shift+Enter runs the cell and goes on to the next one, Enter edits it: neither presses the badge.
    badge.click()
    expect(badge).to_have_attribute("aria-expanded", "true")
    count = lab.page.evaluate(_COUNT)
    assert reaches(lab, "Shift+Enter", "3 2 command")
    lab.wait_cell(1)
    assert lab.page.evaluate(_COUNT) == count + 1
    expect(badge).to_have_attribute("aria-expanded", "true")
    badge.click()
    expect(badge).to_have_attribute("aria-expanded", "false")
    assert reaches(lab, "Enter", "3 1 edit")
    assert reaches(lab, "Escape", "3 1 command")
    expect(badge).to_have_attribute("aria-expanded", "false")
    # With the focus on it, it is a button.
    badge.focus()
    badge.press("Enter")
    expect(badge).to_have_attribute("aria-expanded", "true")
    badge.click()
    lab.page.keyboard.press("d")
    assert reaches(lab, "d", "2 1 command")


def test_after_a_click_on_any_button_of_a_widget_the_keys_are_the_notebooks(lab: LabPage) -> None:
    lab.open(LOAD, "display(Dashboard(), FlameWidget()); _ = computed(slow, 40)", "1 + 1")
    lab.run_cell(0)
    lab.run_cell(1)
    charts = cell(lab, 1).locator(".tsk-widget")
    expect(charts.first.locator(".tsk-progress-count")).to_have_text("40 of 40 tasks")
    names: list[str] = charts.locator("button:visible:enabled").evaluate_all(_NUMBERED)
    assert len(names) > 8, names
    lost = []
    for number, name in enumerate(names):
        # A panel has the keys that opens, and whoever stops a compute is asked first.
        if name not in {"Open as a tab of its own", "Stop"}:
            charts.locator(f"[data-number='{number}']").click()
            # What opened a menu, a search or a question has the keys until Escape.
            lab.page.keyboard.press("Escape")
            if not inserts(lab, "b", 2):
                lost.append(name)
    assert lost == []


_NUMBERED = """buttons => buttons.map((button, number) => {
  button.dataset.number = number;
  return button.getAttribute('aria-label') ?? button.textContent.trim();
})"""


def test_the_shortcut_of_the_side_panel_leads_there_and_back(lab: LabPage) -> None:
    lab.open("1 + 1")
    side, shortcut = lab.page.locator("#taskscope-side-panel"), "ControlOrMeta+Shift+F8"
    cell(lab, 0).locator(".jp-InputPrompt").click()
    lab.page.keyboard.press(shortcut)
    expect(side).to_be_focused()
    lab.page.keyboard.press(shortcut)
    expect(side).to_be_hidden()
    assert reaches(lab, "b", "2 1 command")
