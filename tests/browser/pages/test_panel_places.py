"""Where panels are reached from, what several pages have of them, and kernels of another language."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.harness.lab_page import LabPage
from tests.browser.harness.server import ECHO
from tests.browser.workloads import LOAD

SIDE = "#taskscope-side-panel"


def test_charts_open_from_the_launcher_the_view_menu_and_the_palette(lab: LabPage) -> None:
    lab.open(LOAD, "_ = in_groups(3, 20)", "_ = computed(held, 4)")
    lab.run_cell(0)
    lab.run_cell(1)
    lab.command("launcher:create")
    lab.page.locator(".jp-LauncherCard", has_text="Dask Progress").click()
    progress = lab.page.locator("[id^=taskscope-panel-progress]")
    expect(progress.locator(".tsk-progress-count")).to_have_text("60 of 60 tasks")
    lab.page.locator(".lm-MenuBar-item", has_text="View").click()
    lab.page.locator(".lm-Menu-item", has_text="Taskscope").click()
    lab.page.locator(".lm-Menu-item", has_text="Dask Results in Memory").click()
    expect(lab.page.locator("[id^=taskscope-panel-cache] canvas")).to_be_visible()
    lab.command("taskscope:open-flame")
    flame = lab.page.locator("[id^=taskscope-panel-flame]")
    expect(flame).to_contain_text("no samples yet")
    lab.switch_to(lab.path)
    lab.start_cell(2)
    lab.command("taskscope:open-flame")
    expect(flame.locator(".tsk-flame-sum")).to_contain_text("samples, about")
    lab.release()
    lab.command("apputils:activate-command-palette")
    lab.page.locator(".lm-CommandPalette-input").fill("Taskscope Dask CPU and Memory")
    lab.page.keyboard.press("Enter")
    expect(lab.page.locator("[id^=taskscope-panel-resources] canvas:visible")).to_be_visible()


def test_a_kernel_of_another_language_is_named_and_offered_nothing(lab: LabPage) -> None:
    lab.open("hello", kernel=ECHO)
    lab.command("taskscope:open-side-panel")
    status = lab.page.locator(SIDE).get_by_role("status").first
    expect(status).to_have_text("this kernel runs echo; Dask computes are watched in Python kernels")
    expect(lab.page.locator(SIDE).get_by_role("button", name="Load taskscope")).to_have_count(0)
    lab.run_cell(0)
    assert [(output["name"], output["text"]) for output in lab.outputs(0)] == [("stdout", "hello")]
