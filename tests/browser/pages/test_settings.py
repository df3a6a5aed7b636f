"""Settings: what they say of themselves, and that each does what it says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.harness.lab_page import LabPage
from tests.browser.workloads import LOAD

# The registry of settings is nowhere public on the page; plugins get it by injection.
REGISTRY = "window.jupyterapp.pluginRegistry._plugins.get('@jupyterlab/apputils-extension:settings').service"
SET = f"([name, value]) => {REGISTRY}.set('taskscope:plugin', name, value)"
RESET = f"""{REGISTRY}.load('taskscope:plugin').then(settings =>
  Promise.all(Object.keys(settings.user).map(name => settings.remove(name))).then(() => null))"""
SCHEMA = f"{REGISTRY}.load('taskscope:plugin').then(settings => settings.schema)"
BINDINGS = "window.jupyterapp.commands.keyBindings.map(b => ({ keys: b.keys, command: b.command }))"
# Where each of our panels is, as the dock panel has laid them out.
PLACES = """Object.fromEntries([...window.jupyterapp.shell.widgets('main')]
  .filter(widget => widget.id.startsWith('taskscope-panel-'))
  .map(widget => {
    const shown = widget.isVisible ? widget.node.getBoundingClientRect() : null;
    return [widget.id.slice(16), shown && [Math.round(shown.left), Math.round(shown.top)]];
  }))"""
CLOSE = """[...window.jupyterapp.shell.widgets('main')]
  .filter(widget => widget.id.startsWith('taskscope-panel-')).forEach(widget => widget.close())"""
PINS = "[...window.jupyterapp.shell.widgets('main')].map(widget => [widget.id, widget.pin?.path ?? null])"
# Rows as workers write them: computing as many would take a minute.
MANY = """
from taskscope.record import GraphSource, LaneBuffer, LaneKey
from taskscope.session import current
log = current().recorder.begin()
log.n_tasks = 200_000
keys = [("step-1", i) for i in range(log.n_tasks)]
log.graph_source = GraphSource(dict.fromkeys(keys, ()), frozenset(), {})
lane = log.lanes.setdefault(0, LaneBuffer(LaneKey(os.getpid(), 1, 0, "thread 1")))
for i, key in enumerate(keys):
    lane.extend((key, log.start + i * 1e-6, log.start + (i + 1) * 1e-6, 1e-6, 8.0))
log.stop, log.status = log.perf_counter(), "finished"
current().pump.wake()
"""
ASK = """from taskscope.jupyter.adapter.channels import KernelChannels
KernelChannels().announce("taskscope.show", {"protocol": 1, "panel": "%s"})"""

WITH_DASK = "import dask.array as da\nassert da.ones(8, chunks=2).sum().compute() == 8"
LOADS_WITH_DASK = (
    f"{REGISTRY}.load('taskscope:plugin').then(settings => settings.get('loadWithDask').composite)"
)


@pytest.fixture(autouse=True)
def unchanged_afterwards(lab: LabPage) -> Iterator[None]:
    """Take back what a test has set, which the server keeps for all pages."""
    yield
    lab.page.evaluate(RESET)


def change(lab: LabPage, name: str, value: object) -> None:
    lab.page.evaluate(SET, [name, value])


def test_each_setting_has_a_default_and_says_what_it_does(lab: LabPage, shots: Path) -> None:
    lab.open()
    schema: dict[str, Any] = lab.page.evaluate(SCHEMA)
    defaults = {name: about["default"] for name, about in schema["properties"].items()}
    assert defaults == {
        "updatesPerSecond": 10,
        "followMode": "active",
        "autoOpen": "nothing",
        "defaultLayout": {
            "task-stream": {"mode": "split-right"},
            "progress": {"mode": "split-top", "ref": "task-stream"},
            "resources": {"mode": "split-bottom", "ref": "task-stream"},
            "cache": {"mode": "tab-after", "ref": "resources"},
        },
        "loadWithDask": False,
        "maxTasks": 5_000_000,
    }
    assert [name for name, about in schema["properties"].items() if len(about["description"]) < 40] == []
    lab.command("settingeditor:open", query="Taskscope")
    expect(lab.page.get_by_text("Updates per second")).to_be_visible()
    lab.page.screenshot(path=shots / "settings.png")


def test_our_shortcuts_are_nobody_elses(lab: LabPage) -> None:
    lab.open()
    bindings = lab.page.evaluate(BINDINGS)
    ours = {b["command"]: b["keys"] for b in bindings if b["command"].startswith("taskscope:")}
    assert ours == {
        "taskscope:open-side-panel": ["Ctrl Shift F8"],
        "taskscope:open-task-stream": ["Ctrl Shift F7"],
    }
    firsts = {keys[0] for keys in ours.values()}
    others = [b for b in bindings if not b["command"].startswith("taskscope:")]
    assert (len(others) > 100, [b for b in others if b["keys"][0] in firsts]) == (True, [])
    lab.page.keyboard.press("Control+Shift+F8")
    expect(lab.page.locator("#taskscope-side-panel")).to_be_visible()


def test_the_default_layout_opens_as_the_settings_say(lab: LabPage, shots: Path) -> None:
    lab.open(LOAD, "_ = in_groups(3, 20)")
    lab.run_cell(0)
    lab.run_cell(1)
    lab.command("taskscope:open-layout")
    places = lab.page.evaluate(PLACES)
    progress, stream, cache = places["progress-1"], places["task-stream-1"], places["cache-1"]
    assert sorted(places) == ["cache-1", "progress-1", "resources-1", "task-stream-1"]
    assert (places["resources-1"], progress[0], cache[0]) == (None, stream[0], stream[0])
    assert progress[1] < stream[1] < cache[1]
    lab.page.screenshot(path=shots / "default-layout.png")
    change(lab, "defaultLayout", {"dashboard": {"mode": "split-right", "ref": "progress"}})
    lab.command("taskscope:open-layout")
    places = lab.page.evaluate(PLACES)
    dashboard, progress = places["dashboard-1"], places["progress-1"]
    assert (dashboard[0] > progress[0], dashboard[1]) == (True, progress[1])
    # A layout of one's own takes the place of ours, as a whole.
    lab.page.evaluate(CLOSE)
    lab.command("taskscope:open-layout")
    assert list(lab.page.evaluate(PLACES)) == ["dashboard-1"]


def test_the_settings_of_the_feed_take_effect_at_once(lab: LabPage) -> None:
    lab.open(LOAD, "display(ProgressWidget(), GanttWidget())", "_ = computed(slow, 300)", MANY)
    lab.run_cell(0)
    lab.run_cell(1)
    lab.wait_feed("feed?.state === 'live'")
    lab.record_messages()
    counts = []
    for per_second in (10, 1, 10):
        change(lab, "updatesPerSecond", per_second)
        # Verbs are answered in order, so the one before has been heard.
        lab.ask_feed({"verb": "renew"})
        before = len(lab.data_messages())
        lab.run_cell(2)
        lab.wait_feed("!feed.active")
        counts.append(len(lab.data_messages()) - before)
    # How many there are hangs on the machine; that there are fewer of them, and more again, does not.
    assert min(counts[::2]) > counts[1], counts

    # A page that holds fewer tasks than the kernel says so, also of those that it had before.
    change(lab, "maxTasks", 100_000)
    lab.run_cell(3)
    says = re.compile(r"showing ([\d,]+) of 200,900: older tasks were dropped")
    expect(lab.page.locator(".tsk-gantt-state")).to_have_text(says)
    text = lab.page.locator(".tsk-gantt-state").inner_text()
    (shown,) = says.findall(text)
    # What goes at once is 65,536 tasks, and the last of them need not have come alone.
    assert 100_000 <= int(shown.replace(",", "")) < 165_536


def test_new_panels_are_pinned_where_the_settings_say_so(lab: LabPage) -> None:
    lab.open(LOAD)
    lab.run_cell(0)
    change(lab, "followMode", "pinned")
    for _ in range(2):
        lab.command("taskscope:open-cache")
        lab.command("docmanager:open", path=f"{lab.workspace}.ipynb")
    lab.command("taskscope:open-cache")
    panels = lab.page.evaluate(PINS)
    assert [p for p in panels if p[0].startswith("taskscope")] == [
        ["taskscope-panel-cache-2", f"{lab.workspace}.ipynb"]
    ]


def test_taskscope_loads_by_itself_once_a_person_has_taken_the_offer(lab: LabPage, shots: Path) -> None:
    side = lab.page.locator("#taskscope-side-panel")
    offer = side.get_by_role("button", name="Always load it with dask")
    finished = lab.page.locator("[data-windowed-list-index='0'] .tsk-cell-badge").get_by_text(
        "Dask: finished"
    )
    lab.open(WITH_DASK)
    lab.run_cell(0)
    lab.command("taskscope:open-side-panel")
    expect(offer).to_be_visible()
    lab.page.screenshot(path=shots / "offer-to-load.png")
    assert lab.page.evaluate(LOADS_WITH_DASK) is False
    offer.click()
    # The kernel at hand has imported dask already.
    lab.wait_feed("feed.state === 'live'")
    expect(offer).to_be_hidden()
    assert lab.page.evaluate(LOADS_WITH_DASK) is True
    lab.run_cell(0)
    expect(finished).to_be_visible()
    lab.restart_kernel()
    expect(finished).to_be_hidden()
    lab.run_cell(0)
    expect(finished).to_be_visible()
    assert lab.outputs(0) == []
    # Whoever opens another notebook has it, too, until it is taken back.
    lab.open_also(WITH_DASK, path=f"{lab.workspace}-also.ipynb")
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
    change(lab, "autoOpen", "layout")
    lab.start_cell(1)
    expect(lab.page.locator("#taskscope-panel-progress-1")).to_be_visible()
    assert sorted(lab.page.evaluate(PLACES)) == ["cache-1", "progress-1", "resources-1", "task-stream-1"]
