"""What exists only in the page is used a second and a third time, after an interrupt and a restart."""

from __future__ import annotations

from playwright.sync_api import Locator, expect

from tests.browser.harness.lab_page import LabPage
from tests.browser.workloads import LOAD

CHARTS = ("progress", "task-stream", "resources", "cache", "dashboard")
FIND = "[...window.jupyterapp.shell.widgets('main')].find(({ id }) => id.startsWith('taskscope-panel-'))"


def opened(lab: LabPage, chart: str) -> Locator:
    lab.command(f"taskscope:open-{chart}")
    panel = lab.page.locator(f"#taskscope-panel-{chart}-1")
    expect(panel.locator(".tsk-panel-note")).to_be_hidden()
    return panel


def back_to_notebook(lab: LabPage) -> None:
    lab.switch_to(f"{lab.workspace}.ipynb")


def use_each(lab: LabPage, state: str, count: str, n_tasks: str, *, held_any: bool = True) -> None:
    """Open each panel, look whether it shows what was computed and can be moved by keys, and close it."""
    for chart in CHARTS:
        panel = opened(lab, chart)
        if chart in {"progress", "dashboard"}:
            expect(panel.locator(".tsk-progress-state")).to_have_text(state)
            expect(panel.locator(".tsk-progress-count")).to_have_text(count)
        if chart in {"task-stream", "dashboard"}:
            expect(panel.locator(".tsk-gantt-state")).to_contain_text(n_tasks)
        # Of a compute that never held a result there is no chart of the cache.
        if chart != "progress" and (held_any or chart != "cache"):
            canvas = panel.locator("canvas[tabindex='0']:visible").first
            expect(canvas).to_have_attribute("role", "application")
            roles = panel.locator("canvas[tabindex='0']").evaluate_all("all => all.map(one => one.role)")
            assert set(roles) == {"application"}
            canvas.press("+")
        lab.page.evaluate(f"{FIND}.close()")
        expect(panel).to_have_count(0)


def test_each_panel_shows_a_second_and_a_third_time_what_it_shows_the_first(lab: LabPage) -> None:
    lab.open(LOAD, "_ = in_groups(2, 3)", "_ = computed(held, 4)")
    lab.run_cell(0)
    lab.run_cell(1)
    use_each(lab, "Finished", "6 of 6 tasks", "6 tasks")

    back_to_notebook(lab)
    lab.start_cell(2)
    progress = opened(lab, "progress")
    expect(progress.locator(".tsk-progress-state")).to_have_text("Running")
    progress.get_by_role("button", name="Stop", exact=True).click()
    expect(progress.locator(".tsk-progress-state")).to_have_text("Interrupted")
    lab.page.evaluate(f"{FIND}.close()")
    back_to_notebook(lab)
    lab.wait_cell(2)
    lab.release()
    use_each(lab, "Interrupted", "0 of 4 tasks", "4 tasks", held_any=False)

    back_to_notebook(lab)
    lab.restart_kernel()
    lab.run_cell(0)
    lab.run_cell(1)
    use_each(lab, "Finished", "6 of 6 tasks", "6 tasks")
