"""What other clients have the same cluster do: labelled in every chart, and in no total of ours."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from playwright.sync_api import FrameLocator, Locator, expect

from tests.browser.harness.lab_page import LabPage, use_theme
from tests.browser.pages.test_accessibility import THEMES
from tests.browser.workloads import LOAD

CLUSTER = '''
import subprocess, sys, tempfile
from pathlib import Path
from distributed import Client, LocalCluster, wait as wait_for

OTHER = """
import sys, time
from pathlib import Path
from distributed import Client, wait

def same(i):
    return i

def once(path):
    while not Path(path).exists():
        time.sleep(0.02)

if __name__ == "__main__":
    with Client(sys.argv[1]) as client:
        print("ready", flush=True)
        sys.stdin.readline()
        wait(client.map(same, range(4), key=[f"theirs-{i}" for i in range(4)]))
        late = client.submit(once, sys.argv[2], key="waits-0")
        print("done", flush=True)
        wait(late)
"""

folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "go"
cluster = LocalCluster(
    n_workers=1, threads_per_worker=2, processes=False,
    protocol="tcp://", host="127.0.0.1", dashboard_address=":0",
)
client = Client(cluster)
known = dask.delayed(pow)(2, 10, dask_key_name="known-0")
kept = client.persist(known)
wait_for(kept)
other = subprocess.Popen(
    [sys.executable, "-c", OTHER, cluster.scheduler_address, str(path)],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
)
assert other.stdout.readline() == "ready\\n"
'''

PROFILED = """%%profile --others -o run
print("go", file=other.stdin, flush=True)
assert other.stdout.readline() == "done\\n"
assert known.compute() == 1024
mine = client.map(slow, range(3), key=[f"mine-{i}" for i in range(3)])
assert client.gather(mine) == [0, 1, 2]
assert client.submit(held, 1, key="held-0").result() == 1
"""

CHECKED = """
ours = run.to_pandas("runs").query("scheduler == 'distributed'")
assert ours["n_tasks"].sum() == 4, ours
path.touch()
other.stdin.close()
assert other.wait() == 0
other.stdout.close()
client.close()
cluster.close()
folder.cleanup()
"""

LEGEND = {"mine": "3", "held": "1", "theirs (other clients)": "4", "waits (other clients)": "1"}


def test_tasks_of_other_clients_are_labelled_and_in_no_total_of_ours(lab: LabPage, shots: Path) -> None:
    lab.open(LOAD, CLUSTER, PROFILED, CHECKED)
    lab.run_cell(0)
    lab.run_cell(1)
    lab.start_cell(2)
    live = lab.page.locator(".tsk-dashboard")
    _see(
        live,
        number_of_held="0 / 1",
        count="3 of 4 tasks",
        state=r"^3 tasks · .* · 1 running · 4 of other clients$",
    )
    # The rows of progress are the legend of our tasks; that of theirs stands below the lanes.
    live.get_by_role("button", name="More charts").click()
    names = live.locator(".tsk-gantt-legend-name:visible")
    expect(names).to_have_count(2)
    assert sorted(names.all_inner_texts()) == ["theirs (other clients)", "waits (other clients)"]
    try:
        for theme in reversed(THEMES):
            use_theme(lab.page, theme)
            live.scroll_into_view_if_needed()
            expect(live.locator(".tsk-gantt.tsk-dark")).to_have_count(int(theme == "dark"))
            live.screenshot(path=shots / f"others-{theme}.png")
    finally:
        use_theme(lab.page, "light")
    assert not lab.is_done(2)
    lab.release()
    lab.wait_cell(2)
    result = lab.page.frame_locator("iframe")
    _see(result, number_of_held="1 / 1", count="4 of 4 tasks", state=r"^4 tasks · .* · 4 of other clients$")
    said = lab.page.locator(".taskscope-result")
    expect(said.locator("b").first).to_have_text(re.compile(r" · 4 tasks$"))
    expect(said).to_contain_text("4 tasks of other clients ended, ")
    expect(said).to_contain_text("1 task skipped: already computed, or not needed")
    lab.page.screenshot(path=shots / "others-result.png")
    lab.run_cell(3)


def _see(charts: Locator | FrameLocator, *, number_of_held: str, count: str, state: str) -> None:
    progress, gantt = charts.locator(".tsk-progress").first, charts.locator(".tsk-gantt").first
    expect(progress.locator(".tsk-progress-others")).to_have_text(
        "other clients: 4 tasks ended, 1 on a worker"
    )
    expect(progress.locator(".tsk-progress-skipped")).to_have_text("1 skipped (already computed)")
    expect(progress.locator(".tsk-progress-count")).to_have_text(count)
    expect(progress.locator(".tsk-progress-name")).to_have_text(["mine", "held"])
    expect(progress.locator(".tsk-progress-number")).to_have_text(["3 / 3", number_of_held])
    expect(gantt.locator(".tsk-gantt-state")).to_have_text(re.compile(state))
    buttons = gantt.locator(".tsk-gantt-legend [aria-pressed]")
    expect(buttons).to_have_count(len(LEGEND))
    assert _legend(buttons) == LEGEND


def _legend(buttons: Locator) -> Mapping[str, str]:
    """Return the count that stands beside each prefix."""
    names, counts = (
        buttons.locator(f".tsk-gantt-legend-{part}").all_inner_texts() for part in ("name", "count")
    )
    return dict(zip(names, counts, strict=True))
