"""Settings: what they say of themselves, and that each does what it says."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from tests.browser.harness.lab_page import LabPage
from tests.browser.harness.server import PYTHON3
from tests.browser.workloads import LOAD

# The registry of settings is nowhere public on the page; plugins get it by injection.
REGISTRY = "window.jupyterapp.pluginRegistry._plugins.get('@jupyterlab/apputils-extension:settings').service"
SET = f"([name, value]) => {REGISTRY}.set('taskscope:plugin', name, value)"
ASK = """from taskscope.jupyter.adapter.channels import KernelChannels
KernelChannels().announce("taskscope.show", {"protocol": 1, "panel": "%s"})"""

WITH_DASK = "import dask.array as da\nassert da.ones(8, chunks=2).sum().compute() == 8"
LOADS_WITH_DASK = (
    f"{REGISTRY}.load('taskscope:plugin').then(settings => settings.get('loadWithDask').composite)"
)


def change(lab: LabPage, name: str, value: object) -> None:
    lab.page.evaluate(SET, [name, value])


def test_taskscope_loads_by_itself_once_a_person_has_taken_the_offer(lab: LabPage, shots: Path) -> None:
    side = lab.page.locator("#taskscope-side-panel")
    offer = side.get_by_role("button", name="Always load it with dask")
    badge = lab.page.locator("[data-windowed-list-index='0'] .tsk-cell-badge")
    finished = badge.get_by_text("Dask: finished")
    lab.open(WITH_DASK, kernel=PYTHON3)
    lab.run_cell(0)
    lab.command("taskscope:open-side-panel")
    expect(offer).to_be_visible()
    lab.page.screenshot(path=shots / "offer-to-load.png")
    assert lab.page.evaluate(LOADS_WITH_DASK) is False
    offer.click()
    # The kernel at hand has imported dask already.
    lab.wait_feed("feed.state === 'live'")
    expect(offer).to_be_hidden()
    lab.page.wait_for_function(LOADS_WITH_DASK)
    lab.run_cell(0)
    expect(finished).to_be_visible()
    lab.restart_kernel()
    expect(badge).to_have_attribute("data-status", "gone")
    lab.run_cell(0)
    expect(badge).to_have_attribute("data-status", "finished")
    assert lab.outputs(0) == []
    # Other notebooks have it, too, until it is taken back; the panel says so before dask is there.
    lab.open_also(WITH_DASK, path=f"{lab.workspace}-also.ipynb", kernel=PYTHON3)
    expect(side.get_by_text("It loads itself as soon as this kernel imports dask.")).to_be_visible()
    expect(offer).to_be_hidden()
    lab.run_cell(0)
    expect(finished.last).to_be_visible()
    lab.command("taskscope:load-with-dask")
    assert lab.page.evaluate(LOADS_WITH_DASK) is False


def test_a_cell_opens_the_side_panel_where_it_or_the_settings_ask(lab: LabPage) -> None:
    lab.open(LOAD, ASK % "auto", ASK % "dock")
    lab.run_cell(0)
    side = lab.page.locator("#taskscope-side-panel")
    lab.run_cell(1)
    expect(side).to_be_hidden()
    lab.run_cell(2)
    expect(side).to_be_visible()
    lab.command("application:toggle-right-area")
    expect(side).to_be_hidden()
    change(lab, "autoOpen", "side-panel")
    lab.run_cell(1)
    expect(side).to_be_visible()
