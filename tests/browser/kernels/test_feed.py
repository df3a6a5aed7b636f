"""The feed in a real JupyterLab: what reaches the page, and when."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenLab
from tests.browser.harness.lab_page import LabPage
from tests.browser.harness.server import Server
from tests.browser.workloads import UNDER_WAY, WORK

LIVE = "feed.state === 'live' && feed.subshell"


def test_the_feed_delivers_while_the_cell_is_still_running(lab: LabPage) -> None:
    lab.open(WORK, "_ = work_on(100)")
    lab.run_cell(0)
    lab.wait_feed(LIVE)
    lab.start_cell(1)
    lab.wait_feed(UNDER_WAY)
    assert not lab.is_done(1)
    lab.release()
    lab.wait_cell(1)
    lab.wait_feed("!feed.active && feed.tasks === 104")


@pytest.mark.fresh_page
def test_a_page_reloaded_in_a_running_cell_shows_the_picture_again(lab: LabPage, server: Server) -> None:
    lab.open(WORK, "_ = work_on(100)")
    lab.run_cell(0)
    lab.wait_feed(LIVE)
    lab.start_cell(1)
    lab.wait_feed(UNDER_WAY)
    lab.save()
    lab.reload()
    lab.ask_for_feed()
    lab.wait_feed(UNDER_WAY)
    (kernel,) = server.request("GET", "kernels")
    assert (lab.is_done(1), kernel["execution_state"]) == (False, "busy")
    lab.release()
    lab.wait_feed("!feed.active && feed.tasks === 104")


def test_a_lost_websocket_loses_no_task(lab: LabPage) -> None:
    lab.open(WORK, "_ = work_on(100), work(300)")
    lab.run_cell(0)
    lab.wait_feed(LIVE)
    lab.start_cell(1)
    lab.wait_feed(UNDER_WAY)
    lab.drop_websocket()
    lab.release()
    lab.wait_feed("!feed.active && feed.tasks === 404 && feed.state === 'live'")


# What a page shows of a prefix, as Dask makes it of the key, and of the key itself: a lone surrogate has no
# UTF-8, a direction mark is spelt out, and long keys are cut.
HOSTILE_KEYS = [
    ("/script><script>alert(1)</script", "</script><script>alert(1)</script>"),
    ("img", "<img src=x onerror=alert(1)>"),
    ("bidi \\u202egnp.exe", "bidi \\u202egnp.exe"),
    ("\\ud800 lone", "\\ud800 lone"),
    ("xxxxxxxxxxxxxxxxxxxx", "xxxxxxxxxxxxxxxxxxxx"),
]
HOSTILE_SETUP = """
import dask.threaded
keys = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>"]
keys += ["bidi \\u202egnp.exe", "\\ud800 lone", "x" * 1_000_000]
def lasting(i):
    time.sleep(0.3)
    return i
"""


def fail_on_dialogs(lab: LabPage) -> None:
    lab.page.on("dialog", lambda dialog: lab.errors.append(f"dialog: {dialog.message}"))


@pytest.mark.fresh_page
def test_hostile_keys_are_shown_as_text(lab: LabPage) -> None:
    compute = "_ = dask.threaded.get({key: (lasting, i) for i, key in enumerate(keys)}, keys)"
    lab.open(WORK + HOSTILE_SETUP, f"w = Dashboard(); display(w)\n{compute}")
    fail_on_dialogs(lab)
    lab.run_cell(0)
    lab.run_cell(1)
    lab.wait_feed("!feed.active && feed.tasks === 5")
    for prefix, _ in HOSTILE_KEYS:
        # The timeline, the cache and the resources each have a table that may name it.
        expect(lab.page.locator(".tsk-widget").get_by_role("cell", name=prefix).first).to_be_attached()
    assert lab.page.locator("img[src=x], .tsk-widget script").count() == 0


CHECKED = "assert result == (*range(100), *range(4)); current().recorder.messages"


@pytest.mark.fresh_page
def test_a_browser_that_goes_away_changes_nothing_for_the_cell(lab: LabPage, open_lab: OpenLab) -> None:
    lab.open(WORK, "result = work_on(100)", CHECKED)
    lab.run_cell(0)
    lab.wait_feed(LIVE)
    lab.start_cell(1)
    lab.wait_feed(UNDER_WAY)
    assert not lab.is_done(1)
    lab.crash()
    lab.release()
    second = open_lab()
    second.join(lab)
    second.run_cell(2)
    assert [output["data"]["text/plain"] for output in second.outputs(2)] == ["[]"]
