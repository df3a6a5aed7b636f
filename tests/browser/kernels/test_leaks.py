"""What a hundred panels leave behind, in the page and in the kernel: nothing."""

from __future__ import annotations

import pytest
from playwright.sync_api import CDPSession

from tests.browser.harness.lab_page import LabPage
from tests.browser.workloads import LOAD
from tests.support.waiting import until

N_PANELS = 100
# Each of them is looked at before it is closed, so that its chart was mounted.
OPEN_AND_CLOSE = """async (n) => {
  const { commands, shell } = window.jupyterapp;
  const charts = ['dashboard', 'progress', 'task-stream', 'resources', 'cache'];
  const find = () => [...shell.widgets('main')].find(widget => widget.id.startsWith('taskscope-panel-'));
  const frame = () => new Promise(resolve => requestAnimationFrame(resolve));
  for (let i = 0; i < n; i += 1) {
    await commands.execute(`taskscope:open-${charts[i % charts.length]}`);
    while (!find()?.node.querySelector('.tsk-chart')) await frame();
    (window.opened ??= []).push(new WeakRef(find()));
    find().close();
    while (find() !== undefined) await frame();
  }
}"""
SHOW_AND_HIDE = """async (n) => {
  const { commands, shell } = window.jupyterapp;
  const panel = [...shell.widgets('right')].find(widget => widget.id === 'taskscope-side-panel');
  const frame = () => new Promise(resolve => requestAnimationFrame(resolve));
  for (let i = 0; i < n; i += 1) {
    shell.activateById(panel.id);
    while (!panel.node.querySelector('canvas')?.width) await frame();
    await frame();
    shell.collapseRight();
    while (panel.node.querySelector('canvas')) await frame();
  }
}"""
HOLDS = """(feeds) => {
  const entries = [...feeds._feeds._entries.values()];
  const stores = entries.flatMap(({ value: { feed } }) => [...feed._stores._stores._entries.values()]);
  const sum = numbers => numbers.reduce((total, number) => total + number, 0);
  return {
    feeds: entries.length,
    feedHolds: sum(entries.map(entry => entry.nUsers)),
    stores: stores.length,
    storeHolds: sum(stores.map(entry => entry.nUsers)),
    storeListeners: sum(stores.map(entry => entry.value.listenerCount)),
    selectionListeners: sum(stores.map(entry => entry.value.selection.listenerCount)),
    widgets: [...window.jupyterapp.shell.widgets('main')].length,
    tracked: window.jupyterapp.pluginRegistry._plugins.get('taskscope:panels').service.tracker.size
  };
}"""
LASTING = ("window", "document", "document.documentElement", "document.body")
KERNEL = (
    "import comm; from taskscope.jupyter.feed import current\n"
    "len(comm.get_comm_manager().comms), len(current()._pages.alive())"
)


def listeners(session: CDPSession) -> int:
    """Return how many event listeners are on what outlives all panels."""
    n = 0
    for target in LASTING:
        found = session.send("Runtime.evaluate", {"expression": target})["result"]
        n += len(session.send("DOMDebugger.getEventListeners", {"objectId": found["objectId"]})["listeners"])
    return n


def still_there(lab: LabPage, session: CDPSession) -> int:
    """Return how many of the panels or stores that the page had open it could not free."""
    for _ in range(5):
        session.send("HeapProfiler.collectGarbage")
    n: int = lab.page.evaluate("window.opened.filter(panel => panel.deref() !== undefined).length")
    return n


def canvases(session: CDPSession) -> int:
    """Return how many canvases the page keeps in memory, seen or not."""
    prototype = session.send("Runtime.evaluate", {"expression": "HTMLCanvasElement.prototype"})
    for _ in range(5):
        session.send("HeapProfiler.collectGarbage")
    found = session.send("Runtime.queryObjects", {"prototypeObjectId": prototype["result"]["objectId"]})
    counted = session.send(
        "Runtime.callFunctionOn",
        {
            "objectId": found["objects"]["objectId"],
            "functionDeclaration": "function () { return this.length; }",
            "returnByValue": True,
        },
    )
    session.send("Runtime.releaseObject", {"objectId": found["objects"]["objectId"]})
    return int(counted["result"]["value"])


@pytest.mark.fresh_page
def test_a_panel_shown_twenty_times_keeps_as_many_canvases_and_no_store_of_a_kernel_that_is_over(
    lab: LabPage,
) -> None:
    lab.open(LOAD, "_ = in_groups(3, 20)")
    for cell in range(2):
        lab.run_cell(cell)
    session = lab.page.context.new_cdp_session(lab.page)
    lab.page.evaluate(SHOW_AND_HIDE, 1)
    before = canvases(session)
    lab.page.evaluate(SHOW_AND_HIDE, 20)
    until(lambda: canvases(session) == before, lambda: (canvases(session), before))

    lab.command("taskscope:open-side-panel")
    lab.on_feed_value("feed => { window.opened = [new WeakRef(feed.store)]; }")
    lab.restart_kernel()
    for cell in range(2):
        lab.run_cell(cell)
    until(lambda: still_there(lab, session) == 0, lambda: still_there(lab, session))


@pytest.mark.fresh_page
def test_a_hundred_panels_leave_no_listener_comm_or_widget(lab: LabPage) -> None:
    lab.open(LOAD, "_ = in_groups(3, 20)", KERNEL, KERNEL)
    for cell in range(2):
        lab.run_cell(cell)
    lab.wait_feed("feed.state === 'live' && feed.tasks === 60 && !feed.active")
    # Not before: on a busy machine the page may not have been there yet.
    lab.run_cell(2)
    session = lab.page.context.new_cdp_session(lab.page)
    # What JupyterLab and the charts make once, at the first panel of each kind.
    lab.page.evaluate(OPEN_AND_CLOSE, 20)
    before, n_before = lab.on_feeds(HOLDS), listeners(session)
    lab.page.evaluate(OPEN_AND_CLOSE, N_PANELS)
    assert lab.on_feeds(HOLDS) == before
    assert before["storeListeners"] == 2, "the badges of the notebook, and the status bar's item"
    until(lambda: still_there(lab, session) == 0, lambda: still_there(lab, session))
    # One of JupyterLab's own, for menus, comes and goes.
    assert listeners(session) - n_before in {-1, 0, 1}
    lab.run_cell(3)
    kernel = [lab.outputs(cell)[0]["data"]["text/plain"] for cell in (2, 3)]
    assert kernel[1] == kernel[0]
