"""A first session as a person has it, step by step: its pictures, numbered, are a film strip."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.harness.cells import badge, charts
from tests.browser.harness.lab_page import LabPage, use_theme
from tests.browser.harness.server import PYTHON3
from tests.browser.workloads import CHAIN, LOAD

SIDE = "#taskscope-side-panel"
WITHOUT = LOAD.replace("%load_ext taskscope", "").replace("import taskscope\n", "")
WITHOUT = "\n".join(line for line in WITHOUT.splitlines() if not line.startswith("from taskscope"))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_from_the_launcher_to_a_restart(  # noqa: PLR0915 - the steps of one session, in their order
    lab: LabPage, shots: Path, theme: str
) -> None:
    page, n_clicks = lab.page, 0
    page.set_viewport_size({"width": 1400, "height": 900})

    def click(target: Locator) -> None:
        nonlocal n_clicks
        target.click()
        n_clicks += 1

    def shoot(name: str) -> None:
        page.screenshot(path=shots / f"first-session-{theme}-{name}.png")

    lab.open(WITHOUT, CHAIN, "_ = computed(held, 8)", kernel=PYTHON3)
    use_theme(page, theme)
    lab.command("launcher:create")
    card = page.locator(".jp-LauncherCard", has_text="Dask Side Panel")
    expect(card).to_be_visible()
    shoot("1-launcher")
    page.locator(".lm-TabBar-tab", has_text=lab.path).click()
    lab.run_cell(0)

    click(page.locator(".jp-SideBar [data-id='taskscope-side-panel']"))
    load = page.locator(SIDE).get_by_role("button", name="Load taskscope in this kernel")
    expect(load).to_be_visible()
    shoot("2-not-loaded")
    click(load)
    lab.wait_feed("feed.state === 'live'")
    lab.run_cell(1)
    expect(page.locator(SIDE).locator(".tsk-progress-count")).to_have_text("16 of 16 tasks")
    expect(page.locator(SIDE).locator(".tsk-gantt canvas")).to_be_visible()
    assert n_clicks == 2
    shoot("3-first-compute")

    expect(badge(lab, 1)).to_have_text(re.compile(r"^Dask: finished in [\d.]+ m?s$"))
    click(badge(lab, 1))
    view = charts(lab, 1)
    first = view.get_by_role("group", name="Findings").get_by_role("listitem").first
    expect(first).to_contain_text(re.compile(r"(up to|about) [\d.]+ m?s of [\d.]+ m?s"))
    # The badge was at the lower edge, and what it unfolds is below it.
    expect(view.get_by_role("button", name="More charts")).to_be_in_viewport()
    shoot("4-badge")
    click(view.get_by_role("button", name="Why?"))
    expect(view.get_by_role("listitem").filter(has_text="Long chain")).to_be_visible()
    shoot("5-findings")
    click(badge(lab, 1))

    lab.start_cell(2)
    expect(badge(lab, 2)).to_have_text(re.compile(r"^Dask: 0%"))
    stop = page.locator(SIDE).get_by_role("button", name="Stop", exact=True)
    expect(stop).to_be_visible()
    shoot("6-running")
    click(stop)
    lab.wait_cell(2)
    assert [output["ename"] for output in lab.outputs(2)] == ["KeyboardInterrupt"]
    expect(badge(lab, 2)).to_have_text("Dask: interrupted")
    shoot("7-stopped")

    lab.restart_kernel()
    expect(page.locator(SIDE).get_by_text("kernel restarted")).to_be_visible()
    # What is left there is dimmed, until the new kernel is followed.
    left = page.locator(SIDE).locator(".tsk-panel-body")
    expect(left).to_have_css("filter", "grayscale(1)")
    shoot("8-restarted")
    load.click()
    lab.wait_feed("feed.state === 'live'")
    expect(left).to_have_css("filter", "none")
