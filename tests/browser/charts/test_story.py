"""What happened to a selected task, in its card on request."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.harness.lab_page import LabPage, use_theme
from tests.browser.workloads import CHAIN, LOAD


def test_the_card_of_a_task_tells_what_recording_story_tells(lab: LabPage, shots: Path) -> None:
    lab.page.set_viewport_size({"width": 1400, "height": 1400})
    told = "for task in taskscope.last().table('tasks')['key']: print(taskscope.last().story(task))"
    lab.open(LOAD, "display(Dashboard(more_charts=True))", CHAIN, told)
    for cell in range(4):
        lab.run_cell(cell)
    (printed,) = lab.outputs(3)
    lanes = lab.page.locator(".tsk-dashboard > .tsk-gantt")
    lanes.locator("canvas").press("n")
    card = lanes.locator(".tsk-gantt-card")
    card.get_by_role("button", name="Story").click()
    table = card.get_by_role("table", name="Story")
    expect(table.get_by_role("row").first).to_contain_text(re.compile(r"\d"))
    rows = table.get_by_role("row").all()
    assert len(rows) > 2
    for row in rows:
        after, what = (part.inner_text() for part in row.locator("th, td").all())
        assert re.search(rf"^ *{re.escape(after)} +{re.escape(what)}$", printed["text"], re.MULTILINE), what
    for theme in ("light", "dark"):
        use_theme(lab.page, theme)
        card.screenshot(path=shots / f"story-{theme}.png")
    use_theme(lab.page, "light")
    card.get_by_role("button", name="Story").click()
    expect(table).to_be_hidden()
