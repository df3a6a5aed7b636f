"""Makes the pictures of the documentation, of real computes in a real JupyterLab: ``make pictures``."""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Error, Locator, Page, sync_playwright

from docs.check import FENCED
from tests.browser.harness.lab_page import LabPage, use_theme
from tests.browser.harness.server import Server, running_server

FOLDER = Path(__file__).parent / "pictures"
CAUSES = Path(__file__).parent / "causes.md"
TITLES = Path(__file__).parent.parent / "labextension/src/charts/tasks/why/findings.tsx"
CLOSE_SIDE_BAR = "() => window.jupyterapp.shell.collapseLeft()"
QUICKSTART = Path(__file__).parent.parent / "notebooks/01-quickstart.ipynb"
WHY = "import taskscope\n\nslow = taskscope.last()\nslow.explain()"
COMPARE = "taskscope.compare(slow, taskscope.last())"
MOST_PX = 520
MOST_TRIES = 20
N_TASKS = 3_761
SETTLE_MS = 500
FOUND_MS = 15_000
THEMES = ("light", "dark")


def take_session(  # noqa: PLR0915 - the steps of one session, in their order
    server: Server, browser: Browser, theme: str, film: Path | None = None
) -> None:
    """Take the pictures of a first session, the quickstart without magics; `film`: of the whole page."""
    sources = [
        "".join(cell["source"])
        for cell in json.loads(QUICKSTART.read_text(encoding="utf-8"))["cells"]
        if cell["cell_type"] == "code"
    ]
    load, slow, _, fast, _ = sources
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    lab = LabPage(page, server, f"session-{theme}")
    side = page.locator("#taskscope-side-panel")

    def shoot(number: int, name: str, part: Locator | None = None) -> None:
        if film is not None:
            page.screenshot(path=film / f"{theme}-1400-{number}-{name}.png")
            if side.is_visible():
                side.screenshot(path=film / f"{theme}-245-{number}-{name}.png")
        elif part is not None:
            box = part.bounding_box()
            assert box is not None
            page.screenshot(
                path=FOLDER / f"{name}-{theme}.png", clip={**box, "height": min(box["height"], MOST_PX)}
            )

    cells = [
        load.replace("%load_ext taskscope\n", ""),
        slow.partition("\n")[2],
        WHY,
        fast.partition("\n")[2],
        COMPARE,
    ]
    lab.open(*cells)
    page.evaluate(CLOSE_SIDE_BAR)
    use_theme(page, theme)
    if film is not None:
        lab.command("launcher:create")
        page.locator(".jp-LauncherCard", has_text="Dask Side Panel").wait_for()
        shoot(1, "launcher")
        page.locator(".lm-TabBar-tab", has_text=lab.path).click()
    lab.run_cell(0)
    lab.command("taskscope:open-side-panel")
    button = side.get_by_role("button", name="Load taskscope in this kernel")
    button.wait_for()
    _set_width(page, side, 245)
    shoot(2, "not-loaded")
    button.click()
    lab.wait_feed("feed?.state === 'live'")
    cell = page.locator(".jp-CodeCell").nth(1)
    found = cell.locator(".tsk-findings").get_by_text("Short tasks")
    # On a machine that other programs use, the cause may be hidden.
    for n_before in range(0, MOST_TRIES * N_TASKS, N_TASKS):
        lab.start_cell(1)
        lab.wait_feed(f"feed.tasks > {n_before + N_TASKS // 4}")
        shoot(3, "running", side)
        is_live = side.get_by_role("button", name="Stop", exact=True).is_visible()
        lab.wait_cell(1)
        cell.locator(".tsk-cell-badge > button").click()
        cell.locator(".tsk-progress-count", has_text=f"{N_TASKS:,} of {N_TASKS:,} tasks").wait_for()
        page.wait_for_timeout(SETTLE_MS)
        if is_live and found.count():
            break
        cell.locator(".tsk-cell-badge > button").click()
    shoot(4, "slow-cell", cell)
    lab.run_cell(2)
    shoot(5, "explained")
    cell.locator(".tsk-cell-badge > button").click()
    lab.run_cell(3)
    page.locator(".jp-CodeCell").nth(3).locator(".tsk-cell-badge > button").click()
    shoot(6, "faster-cell")
    lab.run_cell(4)
    page.locator(".jp-CodeCell").nth(4).scroll_into_view_if_needed()
    shoot(7, "compared", page.locator(".jp-CodeCell").nth(4))
    page.close()
    server.shut_down_kernels()


def _set_width(page: Page, panel: Locator, width: int) -> None:
    """Drag the left edge of the side panel."""
    box = panel.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] - 1, box["y"] + 300)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - width, box["y"] + 300, steps=5)
    page.mouse.up()


def take_causes(server: Server, browser: Browser) -> None:
    """Take a picture of each cause: what the block below its heading shows when it is profiled."""
    folder = FOLDER / "causes"
    folder.mkdir(exist_ok=True)
    titles = dict(re.findall(r"'?([a-z-]+)'?: trans\.__\('(.+)'\)", TITLES.read_text(encoding="utf-8")))
    lab = LabPage(browser.new_page(viewport={"width": 1000, "height": 1000}), server, "causes")
    _, *sections = re.split(r"^(?=#)", CAUSES.read_text(encoding="utf-8"), flags=re.MULTILINE)
    cells: list[str] = []
    cause_of: dict[int, str] = {}
    for section in sections:
        blocks = [source for kind, source in FENCED.findall(section) if kind == "python"]
        # Some have none: a plain cell is not sampled, so it does not show what its tasks wait for.
        if section.startswith("## ") and "(pictures/causes/" in section:
            cause_of[len(cells)] = section.split("`", 2)[1]
        cells += blocks
    lab.open(*cells)
    lab.page.evaluate(CLOSE_SIDE_BAR)
    # The session before it was in the dark.
    use_theme(lab.page, "light")
    for number in range(len(cells)):
        lab.run_cell(number)
        if number in cause_of:
            cell = lab.page.locator(".jp-CodeCell").nth(number)
            cell.locator(".tsk-cell-badge > button").click()
            shown = cell.locator(".tsk-cell-view")
            try:
                shown.get_by_role("button", name="Why?").click(timeout=FOUND_MS)
                card = shown.locator(".tsk-findings li > button", has_text=titles[cause_of[number]])
                card.click(timeout=FOUND_MS)
            except Error:
                # On a machine that other programs use, the cause may be hidden.
                sys.stderr.write(f"not found, so its picture stays as it was: {cause_of[number]}\n")
                continue
            shown.screenshot(path=folder / f"{cause_of[number]}.png")


def main() -> None:
    """Take all pictures."""
    FOLDER.mkdir(exist_ok=True)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with (
        tempfile.TemporaryDirectory() as folder,
        running_server(Path(folder)) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for theme in THEMES:
            take_session(server, browser, theme)
        take_causes(server, browser)
        browser.close()


if __name__ == "__main__":
    main()
