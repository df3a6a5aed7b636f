"""What a person can do to a compute and to its picture, in a real JupyterLab."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.harness.lab_page import LabPage
from tests.browser.workloads import LOAD

WIDGET = "w = ProgressWidget(); display(w)"
UNHEARD = "feed => { feed._state = { kind: 'live', subshell: false }; }"


def start_waiting(lab: LabPage) -> None:
    lab.open(LOAD, WIDGET, "_ = computed(wait, 8)")
    lab.run_cell(0)
    lab.wait_feed("feed?.state === 'live' && feed.subshell")
    lab.run_cell(1)
    lab.start_cell(2)


def expect_interrupted(lab: LabPage) -> None:
    lab.wait_cell(2)
    assert [output["ename"] for output in lab.outputs(2)] == ["KeyboardInterrupt"]
    expect(lab.page.locator(".tsk-progress-state")).to_have_text("Interrupted")
    expect(lab.page.get_by_role("button", name="Stop", exact=True)).to_have_count(0)


def test_stop_interrupts_the_compute_while_its_cell_runs(lab: LabPage) -> None:
    start_waiting(lab)
    lab.page.get_by_role("button", name="Stop", exact=True).click()
    expect_interrupted(lab)


def test_stop_can_be_reached_and_pressed_by_keyboard(lab: LabPage) -> None:
    start_waiting(lab)
    stop = lab.page.get_by_role("button", name="Stop", exact=True)
    expect(stop).to_be_visible()
    stop.focus()
    lab.page.keyboard.press("Enter")
    expect_interrupted(lab)


def test_stop_goes_through_the_server_where_the_kernel_does_not_hear_us(lab: LabPage) -> None:
    start_waiting(lab)
    stop = lab.page.get_by_role("button", name="Stop", exact=True)
    expect(stop).to_be_visible()
    lab.on_feed(UNHEARD)
    with lab.page.expect_request(lambda request: request.url.partition("?")[0].endswith("/interrupt")):
        stop.click()
    expect_interrupted(lab)
