"""What a hundred panels leave behind, in the page and in the kernel: nothing."""

from __future__ import annotations

from playwright.sync_api import CDPSession

from tests.browser.harness.lab_page import LabPage
from tests.browser.workloads import LOAD

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
    find().close();
    while (find() !== undefined) await frame();
  }
}"""
HOLDS = """(feeds) => {
  const entries = [...feeds._entries.values()];
  const stores = entries.flatMap(({ feed }) => [...feed._stores.values()]);
  const sum = numbers => numbers.reduce((total, number) => total + number, 0);
  return {
    feeds: entries.length,
    feedHolds: sum(entries.map(entry => entry.holds)),
    stores: stores.length,
    storeHolds: sum(stores.map(entry => entry.holds)),
    storeListeners: sum(stores.map(entry => entry.store.listenerCount)),
    selectionListeners: sum(stores.map(entry => entry.store.selection.listenerCount)),
    widgets: [...window.jupyterapp.shell.widgets('main')].length,
    tracked: window.jupyterapp.pluginRegistry._plugins.get('taskscope:panels').service.tracker.size
  };
}"""
KERNEL = (
    "import comm, threading; from taskscope.widgets.feed import current\n"
    "len(comm.get_comm_manager().comms), threading.active_count(), len(current()._pages.alive())"
)


def listeners(session: CDPSession) -> int:
    """Return how many event listeners the page has, once nothing that could be freed is counted."""
    found, before = 0, -1
    while found != before:
        # What one collection frees lets go of more, which only the next one sees.
        for _ in range(3):
            session.send("HeapProfiler.collectGarbage")
        metrics = {m["name"]: m["value"] for m in session.send("Performance.getMetrics")["metrics"]}
        before, found = found, int(metrics["JSEventListeners"])
    return found


def test_a_hundred_panels_leave_no_listener_comm_or_widget(lab: LabPage) -> None:
    lab.open(LOAD, "_ = in_groups(3, 20)", KERNEL, KERNEL)
    for cell in range(3):
        lab.run_cell(cell)
    lab.wait_feed("feed.state === 'live' && feed.tasks === 60 && !feed.active")
    session = lab.page.context.new_cdp_session(lab.page)
    session.send("Performance.enable")
    # What JupyterLab and the charts make once, at the first panel of each kind.
    lab.page.evaluate(OPEN_AND_CLOSE, 20)
    before, n_before = lab.on_feeds(HOLDS), listeners(session)
    lab.page.evaluate(OPEN_AND_CLOSE, N_PANELS)
    after, n_after = lab.on_feeds(HOLDS), listeners(session)
    assert after == before
    assert after["storeListeners"] == 1, "the badges of the notebook"
    # The page's own shell gains a few with its tabs; a chart alone has dozens.
    assert n_after - n_before < N_PANELS
    lab.run_cell(3)
    kernel = [lab.outputs(cell)[0]["data"]["text/plain"] for cell in (2, 3)]
    assert kernel[1] == kernel[0]
