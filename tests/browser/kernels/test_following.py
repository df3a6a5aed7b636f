"""Panels follow the notebook in use, stay with the one they are pinned to, and say what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.harness.flashes import flashes, watch_flashes
from tests.browser.harness.lab_page import LabPage
from tests.browser.harness.server import PYTHON3
from tests.browser.workloads import LOAD

NOT_LOADED = "taskscope is not loaded in this kernel yet"
CURRENT = "window.jupyterapp.shell.currentWidget"
CONSOLE_CELLS = (
    f"[...{CURRENT}.console.cells].filter(cell => cell.prompt).map(cell => cell.model.sharedModel.source)"
)
HOLD = "_ = computed(held, 40)"
STREAM = "taskscope-panel-task-stream-1"
VIEWS = f"""JSON.stringify([
  ...[...window.jupyterapp.shell.widgets('main')].find(widget => widget.id === '{STREAM}')._views.all
])"""
# JupyterLab keeps a workspace on the server, a second or so after something has changed.
SAVED = f"""async ([workspace, views]) => {{
  for (;;) {{
    const answer = await fetch(`/lab/api/workspaces/${{workspace}}`);
    const {{ data }} = await answer.json();
    const layout = JSON.stringify(data['layout-restorer:data']?.main ?? null);
    const kept = JSON.stringify(data['taskscope-panel:{STREAM}']?.views);
    if (kept === views && layout.includes('{STREAM}')) return;
    await new Promise(resolve => setTimeout(resolve, 50));
  }}
}}"""


def side(lab: LabPage) -> Locator:
    return lab.page.locator("#taskscope-side-panel")


def tab(lab: LabPage, chart: str, n: int = 1) -> Locator:
    return lab.page.locator(f"#taskscope-panel-{chart}-{n}")


def says(panel: Locator, text: str) -> None:
    """Check what stands above the charts; nothing there when all is well."""
    note = panel.locator(".tsk-panel-note")
    if text:
        expect(note.get_by_role("status")).to_have_text(text)
    else:
        expect(note).to_be_hidden()


def shows(panel: Locator, name: str, n_tasks: int) -> None:
    """Check whose kernel a panel shows, and that it is all there."""
    expect(panel.locator(".tsk-panel-name")).to_have_text(name)
    says(panel, "")
    expect(panel.locator(".tsk-progress")).to_contain_text(f"{n_tasks} of {n_tasks} tasks")


def load_button(panel: Locator) -> Locator:
    return panel.get_by_role("button", name="Load taskscope in this kernel")


def pin_button(panel: Locator) -> Locator:
    return panel.get_by_role("button", name="Pin to this notebook")


def show_all_computes(panel: Locator) -> None:
    panel.get_by_role("button", name="More actions").click()
    panel.get_by_role("menuitem", name="Show all computes").click()


def test_the_side_panel_follows_notebooks_and_consoles(lab: LabPage, shots: Path) -> None:
    lab.open(LOAD, "_ = computed(slow, 11)", path="first.ipynb")
    lab.command("taskscope:open-side-panel")
    for cell in range(2):
        lab.run_cell(cell)
    shows(side(lab), "first.ipynb", 11)
    lab.open_also(LOAD, "_ = computed(slow, 22)", path="second.ipynb")
    says(side(lab), NOT_LOADED)
    for cell in range(2):
        lab.run_cell(cell)
    shows(side(lab), "second.ipynb", 22)
    lab.switch_to("first.ipynb")
    shows(side(lab), "first.ipynb", 11)

    lab.command("console:create", kernelPreference={"name": PYTHON3}, path="")
    says(side(lab), NOT_LOADED)
    lab.page.screenshot(path=shots / "console-not-loaded.png")
    load_button(side(lab)).click()
    says(side(lab), "")
    graph = "{f'x{i}': (abs, i) for i in range(33)}"
    code = f"import dask.threaded; _ = dask.threaded.get({graph}, list({graph}))"
    lab.page.evaluate(f"code => {CURRENT}.console.inject(code)", code)
    expect(side(lab).locator(".tsk-progress")).to_contain_text("33 of 33 tasks")
    # Loading was silent: the console shows what its person ran, and nothing else.
    assert lab.page.evaluate(CONSOLE_CELLS) == [code]
    watch_flashes(lab.page)
    side(lab).locator(".tsk-gantt canvas").press("n")
    side(lab).get_by_role("button", name="Go to the cell").click()
    [flash] = flashes(lab.page, 1)
    assert flash["inConsole"]
    assert code[:40] in flash["text"].replace("\n", " ")

    lab.switch_to("first.ipynb")
    shows(side(lab), "first.ipynb", 11)
    lab.page.evaluate(f"{CURRENT}.context.rename('renamed.ipynb')")
    shows(side(lab), "renamed.ipynb", 11)


def test_panels_stay_with_the_notebooks_they_are_pinned_to(lab: LabPage, shots: Path) -> None:
    lab.open(LOAD, "_ = computed(slow, 12)", path="left.ipynb")
    for cell in range(2):
        lab.run_cell(cell)
    lab.command("taskscope:open-progress")
    pin_button(tab(lab, "progress")).click()
    lab.open_also(LOAD, "_ = computed(slow, 23)", path="right.ipynb")
    for cell in range(2):
        lab.run_cell(cell)
    lab.command("taskscope:open-dashboard")
    pin_button(tab(lab, "dashboard")).click()
    for _ in range(2):
        lab.command("taskscope:open-progress")
        shows(tab(lab, "progress"), "left.ipynb", 12)
        lab.command("taskscope:open-dashboard")
        shows(tab(lab, "dashboard"), "right.ipynb", 23)
        lab.switch_to("left.ipynb")

    lab.page.evaluate(f"{CURRENT}.dispose()")
    lab.command("taskscope:open-progress")
    says(tab(lab, "progress"), "the notebook is closed, its kernel runs on")
    expect(tab(lab, "progress").locator(".tsk-progress")).to_contain_text("12 of 12 tasks")
    lab.page.screenshot(path=shots / "pinned-closed.png")
    lab.switch_to("left.ipynb")
    lab.page.evaluate(f"{CURRENT}.context.rename('moved.ipynb')")
    lab.command("taskscope:open-progress")
    shows(tab(lab, "progress"), "moved.ipynb", 12)
    pin_button(tab(lab, "progress")).click()
    lab.switch_to("right.ipynb")
    lab.command("taskscope:open-progress")
    shows(tab(lab, "progress"), "right.ipynb", 23)


@pytest.mark.fresh_page
def test_after_a_reload_panels_are_as_they_were(lab: LabPage, shots: Path) -> None:
    lab.open(LOAD, "_ = in_groups(3, 20)", HOLD)
    lab.command("taskscope:open-side-panel")
    lab.run_cell(0)
    lab.run_cell(1)
    lab.wait_feed("!feed.active && feed.tasks === 60")
    lab.command("taskscope:open-task-stream")
    stream = tab(lab, "task-stream")
    pin_button(stream).click()
    (hidden := stream.get_by_role("button", name="group01")).click()
    stream.get_by_role("button", name="Zoom in").click()
    kept = lab.page.evaluate(VIEWS)
    lab.page.evaluate(SAVED, [lab.workspace, kept])
    lab.switch_to(f"{lab.workspace}.ipynb")
    lab.start_cell(2)
    expect(side(lab).locator(".tsk-progress")).to_contain_text("Running")
    lab.reload()
    expect(side(lab).locator(".tsk-progress")).to_contain_text("0 of 40 tasks")
    lab.wait_feed("feed.active")
    lab.release()
    lab.wait_feed("!feed.active && feed.tasks === 100")
    expect(side(lab).locator(".tsk-progress")).to_contain_text("40 of 40 tasks")
    lab.command("taskscope:open-task-stream")
    expect(stream.locator("canvas")).to_be_visible()
    # The chart is of what ran last, in which there is no such task.
    expect(hidden).to_have_count(0)
    show_all_computes(stream)
    expect(hidden).to_have_attribute("aria-pressed", "false")
    expect(pin_button(stream)).to_have_attribute("aria-pressed", "true")
    assert lab.page.evaluate(VIEWS) == kept
    lab.page.screenshot(path=shots / "reloaded.png")
