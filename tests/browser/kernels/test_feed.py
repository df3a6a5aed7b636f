"""The feed in a real JupyterLab: what reaches the page, and when."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenLab
from tests.browser.harness.lab_page import LabPage
from tests.browser.harness.server import Server

LOAD = """
import time, dask
from taskscope.session import current
from IPython.display import display
from taskscope import ProgressWidget, GanttWidget, Dashboard
%load_ext taskscope

@dask.delayed
def slow(i):
    time.sleep(0.02)
    return i

def work(n):
    tasks = [slow(i, dask_key_name=("slow-1", i)) for i in range(n)]
    return dask.compute(*tasks, scheduler="threads", num_workers=4)
"""
LIVE = "feed?.state === 'live' && feed.subshell"
UNDER_WAY = "feed?.active && feed.nBatches >= 5"


def test_the_feed_delivers_while_the_cell_is_still_running(lab: LabPage) -> None:
    lab.open(LOAD, "_ = work(400)")
    lab.run_cell(0)
    lab.wait_feed(LIVE)
    lab.start_cell(1)
    lab.wait_feed(UNDER_WAY)
    assert not lab.is_done(1)
    lab.wait_cell(1)
    lab.wait_feed("!feed.active && feed.tasks === 400")


def test_two_views_share_one_store_and_cost_no_second_message(lab: LabPage) -> None:
    lab.open(LOAD, "a = ProgressWidget(); b = ProgressWidget(); display(a, b)", "_ = work(300)")
    lab.run_cell(0)
    lab.run_cell(1)
    bars = lab.page.get_by_role("progressbar", name="Finished tasks")
    expect(bars).to_have_count(2)
    lab.wait_feed("feed.tasks === 0 && feed.nStores === 1")
    lab.record_messages()
    lab.run_cell(2)
    lab.wait_feed("!feed.active && feed.tasks === 300 && feed.nStores === 1")
    expect(bars.first).to_have_attribute("aria-valuenow", "300")
    expect(bars.last).to_have_attribute("aria-valuenow", "300")
    # Each task crossed the wire once.
    assert sum(m["count"] for m in lab.data_messages()) == 300


def test_a_page_reloaded_in_a_running_cell_shows_the_picture_again(lab: LabPage, server: Server) -> None:
    lab.open(LOAD, "_ = work(1500)")
    lab.run_cell(0)
    lab.wait_feed(LIVE)
    lab.start_cell(1)
    lab.wait_feed(UNDER_WAY)
    lab.save()
    lab.reload()
    lab.ask_for_feed()
    lab.wait_feed("feed?.active && feed.tasks > 50")
    (kernel,) = server.request("GET", "kernels")
    assert (lab.is_done(1), kernel["execution_state"]) == (False, "busy")
    lab.wait_feed("!feed.active && feed.tasks === 1500")


def test_a_restarted_kernel_is_followed_again_once_it_loads_taskscope(lab: LabPage) -> None:
    lab.open(LOAD, "_ = work(100)")
    lab.run_cell(0)
    lab.run_cell(1)
    lab.wait_feed("feed?.tasks === 100")
    lab.restart_kernel()
    lab.wait_feed("feed.state === 'restarted'")
    lab.run_cell(0)
    lab.wait_feed("feed.state === 'live' && feed.tasks === 0")
    lab.run_cell(1)
    lab.wait_feed("feed.tasks === 100 && !feed.active")


def test_a_lost_websocket_loses_no_task(lab: LabPage) -> None:
    lab.open(LOAD, "_ = work(600)")
    lab.run_cell(0)
    lab.wait_feed(LIVE)
    lab.start_cell(1)
    lab.wait_feed(UNDER_WAY)
    lab.drop_websocket()
    lab.wait_feed("!feed.active && feed.tasks === 600 && feed.state === 'live'")


def test_an_unknown_verb_is_answered_with_an_error_while_a_cell_runs(lab: LabPage) -> None:
    lab.open(LOAD, "_ = work(400)")
    lab.run_cell(0)
    lab.wait_feed(LIVE)
    lab.start_cell(1)
    lab.wait_feed(UNDER_WAY)
    reply = lab.ask_feed({"verb": "eval", "code": "1/0"})
    assert not lab.is_done(1)
    assert reply["error"] == (
        "unknown verb 'eval'; known are hello, resync, rate, renew, stop, dependencies, save, compare, "
        "explain, tell"
    )


TALKING = """
import threading
def talk():
    for i in range(300):
        time.sleep(0.005)
        print("line", i)
thread = threading.Thread(target=talk); thread.start(); _ = work(400); thread.join()
"""


def test_what_a_page_says_while_a_cell_runs_leaves_the_kernel_busy_and_threads_their_output(
    lab: LabPage, server: Server
) -> None:
    lab.open(LOAD, TALKING)
    lab.run_cell(0)
    lab.wait_feed(LIVE)
    lab.start_cell(1)
    lab.wait_feed(UNDER_WAY)
    assert "error" not in lab.ask_feed({"verb": "renew"})
    (kernel,) = server.request("GET", "kernels")
    assert (lab.is_done(1), lab.kernel_status(), kernel["execution_state"]) == (False, "Busy", "busy")
    lab.wait_cell(1)
    printed = "".join("".join(output["text"]) for output in lab.outputs(1))
    assert printed == "".join(f"line {i}\n" for i in range(300))


def test_stop_interrupts_the_cell_that_computes(lab: LabPage) -> None:
    lab.open(LOAD, "_ = work(5000)")
    lab.run_cell(0)
    lab.wait_feed(LIVE)
    lab.start_cell(1)
    lab.wait_feed(UNDER_WAY)
    assert "error" not in lab.ask_feed({"verb": "stop", "run": 0, "way": "interrupt"})
    lab.wait_cell(1)
    assert [o["ename"] for o in lab.outputs(1)] == ["KeyboardInterrupt"]


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


def test_hostile_keys_are_shown_as_text(lab: LabPage) -> None:
    compute = "_ = dask.threaded.get({key: (lasting, i) for i, key in enumerate(keys)}, keys)"
    lab.open(LOAD + HOSTILE_SETUP, f"w = Dashboard(); display(w)\n{compute}")
    fail_on_dialogs(lab)
    lab.run_cell(0)
    lab.run_cell(1)
    lab.wait_feed("!feed.active && feed.tasks === 5")
    for prefix, _ in HOSTILE_KEYS:
        # The timeline, the cache and the resources each have a table that may name it.
        expect(lab.page.locator(".tsk-widget").get_by_role("cell", name=prefix).first).to_be_attached()
    assert lab.page.locator("img[src=x], .tsk-widget script").count() == 0


@pytest.mark.parametrize(
    "place", range(len(HOSTILE_KEYS)), ids=["script", "img", "bidi", "surrogate", "long"]
)
def test_a_hostile_key_is_text_in_the_static_result_and_its_tooltip(lab: LabPage, place: int) -> None:
    cell = f"%%profile\n_ = dask.threaded.get({{keys[{place}]: (lasting, 1)}}, keys[{place}])"
    lab.open(LOAD + HOSTILE_SETUP, cell)
    fail_on_dialogs(lab)
    lab.run_cell(0)
    lab.run_cell(1)
    frame = lab.page.frame_locator("iframe")
    chart = frame.locator(".tsk-gantt canvas")
    expect(chart).to_be_visible()
    # Selected and zoomed to, the one task fills its lane, however long the compute took to start it.
    for key in ("n", "z"):
        chart.press(key)
    box = chart.bounding_box()
    assert box is not None
    chart.hover(position={"x": box["width"] / 2, "y": 15})
    expect(frame.locator(".tsk-gantt-tip")).to_contain_text(HOSTILE_KEYS[place][1])
    assert (frame.locator("img[src=x]").count(), lab.page.locator("img[src=x]").count()) == (0, 0)


def test_a_browser_that_goes_away_changes_nothing_for_the_cell(lab: LabPage, open_lab: OpenLab) -> None:
    lab.open(LOAD, "result = work(400)", "assert result == tuple(range(400)); current().recorder.messages")
    lab.run_cell(0)
    lab.wait_feed(LIVE)
    lab.start_cell(1)
    lab.wait_feed(UNDER_WAY)
    lab.crash()
    second = open_lab()
    second.join(lab)
    second.run_cell(2)
    assert [output["data"]["text/plain"] for output in second.outputs(2)] == ["[]"]


def test_a_second_page_on_the_same_kernel_sees_the_same_tasks(lab: LabPage, open_lab: OpenLab) -> None:
    lab.open(LOAD, "_ = work(100)")
    lab.run_cell(0)
    lab.run_cell(1)
    second = open_lab()
    second.join(lab)
    second.ask_for_feed()
    second.wait_feed("feed?.tasks === 100")
    lab.wait_feed("feed.tasks === 100")


def test_a_compute_knows_the_cell_that_ran_it(lab: LabPage) -> None:
    lab.open(LOAD, "_ = work(4)", "[run.cell for run in current().recorder.snapshot().runs]")
    for cell in range(3):
        lab.run_cell(cell)
    (output,) = lab.outputs(2)
    assert output["data"]["text/plain"] == "['cell-1']"


def test_closing_a_widget_leaves_no_listener_behind(lab: LabPage) -> None:
    lab.open(LOAD, "w = ProgressWidget(); display(w)", "w.close()")
    lab.run_cell(0)
    lab.run_cell(1)
    bar = lab.page.get_by_role("progressbar", name="Finished tasks")
    expect(bar).to_be_visible()
    lab.wait_feed("feed.nListeners > 2")
    lab.run_cell(2)
    expect(bar).to_have_count(0)
    lab.wait_feed("feed.nListeners === 2")


def test_what_a_person_changes_reaches_the_kernel_and_the_other_way_round(lab: LabPage) -> None:
    lab.open(
        LOAD,
        "w = GanttWidget(); display(w)",
        "_ = work(40)",
        "assert w.follow is False and w.time_range is None, (w.follow, w.time_range)",
        "w.follow = True",
    )
    lab.run_cell(0)
    lab.run_cell(1)
    lab.run_cell(2)
    follow = lab.page.get_by_role("button", name="Follow live (F)")
    expect(follow).to_have_attribute("aria-pressed", "true")
    lab.page.get_by_role("button", name="Fit: show everything (Home)").click()
    expect(follow).to_have_attribute("aria-pressed", "false")
    lab.run_cell(3)
    lab.run_cell(4)
    expect(follow).to_have_attribute("aria-pressed", "true")


# Such a regular expression holds the interpreter's lock from beginning to end; each letter more doubles that.
MEASURE = """
import re, time
n, took_s = 16, 0.0
while took_s < 7:
    n += max(int(7 / max(took_s, 0.05)).bit_length() - 2, 1)
    began_s = time.monotonic()
    re.match("(a+)+$", "a" * n + "b")
    took_s = time.monotonic() - began_s
"""


def test_a_call_that_holds_the_interpreters_lock_is_waited_for_without_a_word(
    lab: LabPage, server: Server
) -> None:
    lab.open(
        MEASURE,
        LOAD,
        "display(ProgressWidget())",
        "re.match('(a+)+$', 'a' * n + 'b')",
        "import gc; _ = gc.collect()",
    )
    for cell in range(3):
        lab.run_cell(cell)
    lab.wait_feed(LIVE)
    logged = len(server.log.read_text())
    before = lab.on_feed_value("feed => feed._link._comms")
    # As when the lease is due in the middle of the call.
    lab.start_cell(3)
    lab.on_feed("feed => feed._step.renew()")
    lab.wait_cell(3)
    assert lab.ask_feed({"verb": "renew"})["re"] == "renew"
    lab.run_cell(4)
    assert (lab.outputs(3), lab.outputs(4)) == ([], [])
    assert lab.on_feed_value("feed => feed._link._comms") == before
    lab.wait_feed(LIVE)
    assert "subshell" not in server.log.read_text()[logged:]
