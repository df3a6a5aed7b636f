"""States of a page: its server is gone, its tab was hidden, its screen is fine, motion is unwanted."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from tests.browser.conftest import opening_pages
from tests.browser.harness.contexts import Contexts
from tests.browser.harness.lab_page import LabPage
from tests.browser.harness.painted import PAINTED
from tests.browser.harness.server import running_server
from tests.browser.workloads import HALF_DONE, LOAD
from tests.support.waiting import until

SHOW_EACH = "for kind in (ProgressWidget, GanttWidget, ResourceWidget, CacheWidget): display(kind())"
CANVASES = ".tsk-widget canvas:visible"
# JupyterLab says of its own polling that the server is gone.
SERVER_GONE = (
    "console: Failed to load resource: net::ERR_CONNECTION_REFUSED",
    "console: Failed to load resource: net::ERR_CONNECTION_RESET",
    "console: WebSocket connection to",
    "console: Connection lost",
    "console: Failed to fetch",
    "page error: Failed to fetch",
    "console: TypeError: Failed to fetch",
)


def drawn(lab: LabPage) -> list[str]:
    pictures: list[str] = lab.page.locator(CANVASES).evaluate_all("all => all.map(one => one.toDataURL())")
    return pictures


def test_a_server_that_stops_is_said_and_the_last_picture_stays(
    contexts: Contexts, tmp_path: Path, shots: Path
) -> None:
    with (
        running_server(tmp_path) as server,
        opening_pages(server, contexts, "stopped", keep=True) as open_one,
    ):
        lab = open_one()
        lab.open(LOAD, SHOW_EACH, "_ = in_groups(3, 4); _ = computed(held, 4)")
        lab.run_cell(0)
        lab.run_cell(1)
        lab.start_cell(2)
        count = lab.page.locator(".tsk-progress-count")
        expect(count).to_have_text("12 of 16 tasks")
        # Its script comes last: with it all is there that a server is needed for.
        expect(lab.page.locator(".tsk-cell-badge")).to_have_text("Dask: 75%")
        expect(lab.page.locator(CANVASES)).to_have_count(3)
        server.kill()
        expect(lab.page.locator(".tsk-note:visible")).to_have_text(["disconnected, trying again"] * 4)
        expect(count).to_have_text("12 of 16 tasks")
        state = lab.page.locator(".tsk-gantt-state")
        expect(state).to_contain_text("disconnected: last known state")
        expect(lab.page.get_by_role("button", name="Stop", exact=True)).to_have_count(0)
        lab.page.evaluate(PAINTED)
        # Nothing grows any more.
        before = drawn(lab)
        lab.page.evaluate("() => new Promise(done => setTimeout(done, 300))")
        assert (len(before), drawn(lab)) == (3, before)
        lab.page.screenshot(path=shots / "states-disconnected.png")
        # JupyterLab tries again until its page is closed.
        for text in SERVER_GONE:
            lab.forgive(text, also_later=True)


def dimmed(lab: LabPage) -> tuple[list[str], set[str]]:
    """Return the filter of each view's charts, and what their canvases let through."""
    style = "(all, name) => all.map(one => getComputedStyle(one)[name])"
    filters = lab.page.locator(".tsk-widget > .tsk-body").evaluate_all(style, "filter")
    return filters, set(lab.page.locator(CANVASES).evaluate_all(style, "opacity"))


def test_what_ran_when_its_kernel_restarted_is_cut_off_and_said_to_be_of_before(
    lab: LabPage, shots: Path
) -> None:
    lab.open(LOAD, SHOW_EACH, HALF_DONE)
    lab.run_cell(0)
    lab.run_cell(1)
    lab.start_cell(2)
    expect(lab.page.locator(".tsk-progress-count")).to_have_text("4 of 8 tasks")
    expect(lab.page.locator(".tsk-progress-eta")).to_contain_text("left")
    until(lambda: dimmed(lab) == (["none"] * 4, {"1"}), lambda: dimmed(lab))
    lab.restart_kernel()
    expect(lab.page.locator(".tsk-note:visible")).to_have_text(
        ["kernel restarted: this is what was there before"] * 4
    )
    expect(lab.page.locator(".tsk-progress-state")).to_have_text("Interrupted")
    expect(lab.page.locator(".tsk-widget").first).not_to_contain_text("left")
    until(lambda: dimmed(lab) == (["grayscale(1)"] * 4, {"0.6"}), lambda: dimmed(lab))
    expect(lab.page.get_by_role("button", name="Stop", exact=True)).to_have_count(0)
    lab.page.locator(".tsk-progress").first.scroll_into_view_if_needed()
    lab.page.screenshot(path=shots / "states-restarted.png")
    # The next one says that it is there, and does not take what was there before for its own.
    lab.run_cell(0)
    lab.wait_feed("feed.state === 'live'")
    expect(lab.page.locator(".tsk-note:visible")).to_have_text(
        ["kernel restarted: this is what was there before"] * 4
    )
