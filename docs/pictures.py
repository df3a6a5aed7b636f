"""Makes the pictures of the documentation, of real computes in a real JupyterLab: ``make pictures``."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from docs.check import FENCED
from tests.browser.harness.lab_page import LabPage, use_theme
from tests.browser.harness.server import Server, running_server

FOLDER = Path(__file__).parent / "pictures"
CAUSES = Path(__file__).parent / "causes.md"
TITLES = Path(__file__).parent.parent / "labextension/src/charts/tasks/why/findings.tsx"
LOAD = """
import numpy as np, dask, dask.array as da
from taskscope import Dashboard, ProgressWidget
%load_ext taskscope
"""
SHOW = "d = Dashboard(); display(d)"
COMPUTE = """
x = da.random.random((6000, 6000), chunks=(750, 750))
q = (x @ x.T - x.mean(axis=0)).std(axis=1)
_ = dask.compute(q, scheduler="threads", num_workers=4)
"""
CLOSE_SIDE_BAR = "() => window.jupyterapp.shell.collapseLeft()"
THEMES = ("light", "dark")
SIZES = {"wide": (1280, 1800), "narrow": (480, 2600)}


def take(server: Server, browser: Browser, theme: str, size: str) -> None:
    """Take the picture of the dashboard in one theme and one width: live where it is wide, else finished."""
    width, height = SIZES[size]
    context = browser.new_context(viewport={"width": width, "height": height})
    lab = LabPage(context.new_page(), server, f"{theme}-{size}")
    lab.open(LOAD, SHOW, COMPUTE)
    lab.page.evaluate(CLOSE_SIDE_BAR)
    use_theme(lab.page, theme)
    lab.run_cell(0)
    lab.wait_feed("feed?.state === 'live'")
    lab.run_cell(1)
    lab.start_cell(2)
    dashboard = lab.page.locator(".tsk-dashboard")
    if size == "wide":
        lab.wait_feed("feed.active && feed.tasks > 300")
    else:
        lab.wait_cell(2)
        lab.page.locator(".tsk-progress-state", has_text="Finished").wait_for()
    dashboard.screenshot(path=FOLDER / f"dashboard-{size}-{theme}.png")
    context.close()
    server.shut_down_kernels()


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
        if section.startswith("## "):
            cause_of[len(cells)] = section.split("`", 2)[1]
        cells += blocks
    lab.open(*cells)
    lab.page.evaluate(CLOSE_SIDE_BAR)
    for number in range(len(cells)):
        lab.run_cell(number)
        if number in cause_of:
            cell = lab.page.locator(".jp-CodeCell").nth(number)
            cell.locator(".tsk-cell-badge > button").click()
            shown = cell.locator(".tsk-cell-view")
            shown.get_by_role("button", name="Why?").click()
            shown.locator(".tsk-findings li > button", has_text=titles[cause_of[number]]).click()
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
            for size in SIZES:
                take(server, browser, theme, size)
        take_causes(server, browser)
        browser.close()


if __name__ == "__main__":
    main()
