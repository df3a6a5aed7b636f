"""Where a cell is live: `%%profile --panel` in a real JupyterLab."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from tests.browser.harness.lab_page import LabPage
from tests.browser.workloads import LOAD

INLINE = ".jp-OutputArea .tsk-widget"


def test_a_docked_cell_is_live_in_the_side_panel_and_leaves_its_result_under_itself(
    lab: LabPage, shots: Path
) -> None:
    lab.open(
        LOAD,
        "%%profile --panel inline\n_ = computed(slow, 8)",
        "%%profile --panel dock\n_ = computed(wait, 4)",
        "%%profile --panel docked\nran = True",
    )
    lab.run_cell(0)
    lab.wait_feed("feed?.state === 'live'")
    lab.run_cell(1)
    side = lab.page.locator("#taskscope-side-panel")
    expect(side).not_to_be_visible()
    lab.start_cell(2)
    expect(side.locator(".tsk-progress-state")).to_have_text("Running")
    assert not lab.is_done(2)
    assert (lab.page.locator(INLINE).count(), lab.outputs(2)) == (0, [])
    lab.page.screenshot(path=shots / "docked-cell.png")
    side.get_by_role("button", name="Stop", exact=True).click()
    lab.wait_cell(2)
    lab.start_cell(3)
    lab.wait_cell(3)
    kinds = [[sorted(output.get("data", output)) for output in lab.outputs(cell)] for cell in (1, 2)]
    assert kinds == [
        [["text/html", "text/plain"]],
        [["ename", "evalue", "output_type", "traceback"], ["text/html", "text/plain"]],
    ]
    (error,) = lab.outputs(3)
    expected = "panel must be 'inline' or 'dock', got 'docked'; did you mean 'dock'?"
    assert error["text"] == f"UsageError: %%profile: {expected}\n"
