"""Voila, where a notebook has run to its end before there is a page."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
from playwright.sync_api import Browser, expect

from tests.browser.harness.server import end_process, reserved_port

ROOT = Path(__file__).parents[3]
VOILA = ROOT / "build" / "voila"
EXTENSION = ROOT / "src" / "taskscope" / "labextension"
START_S = 120.0
CELLS = (
    """
import os, threading, time, dask
from taskscope import Dashboard, ProgressWidget
%load_ext taskscope
def held(i):
    while not os.path.exists("go"):
        time.sleep(0.01)
    return i
def compute():
    dask.compute([dask.delayed(held)(i) for i in range(4)], scheduler="threads", num_workers=4)
""",
    "Dashboard(compact=True)",
    "display(ProgressWidget())",
    "thread = threading.Thread(target=compute)\nthread.start()",
)


@contextmanager
def running_voila(folder: Path) -> Iterator[str]:
    """Show the notebook of a folder with Voila until the block ends."""
    with reserved_port() as port, _running_voila(folder, port) as url:
        yield url


@contextmanager
def _running_voila(folder: Path, port: int) -> Iterator[str]:
    # Voila serves no file behind a link, which is how this environment has the extension.
    shutil.copytree(EXTENSION, folder / "share" / "labextensions" / "taskscope")
    command = [sys.executable, "-m", "voila", "notebook.ipynb", "--no-browser", f"--port={port}"]
    environment = os.environ | {
        "PYTHONPATH": str(VOILA),
        "JUPYTER_PATH": os.pathsep.join([str(folder / "share"), str(VOILA / "share" / "jupyter")]),
        **{f"JUPYTER_{name}_DIR": str(folder / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")},
        "IPYTHONDIR": str(folder / "ipython"),
    }
    log = folder / "voila.log"
    with log.open("wb") as file:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=file, stderr=subprocess.STDOUT
        )
    url = f"http://127.0.0.1:{port}/"
    try:
        deadline = time.monotonic() + START_S
        while process.poll() is None and time.monotonic() < deadline:
            # Not asked for a page, which would run the notebook.
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        else:
            raise RuntimeError(f"Voila did not come up:\n{log.read_text()[-4000:]}")
        yield url
    finally:
        end_process(process)


def test_voila_shows_widgets_that_are_live(tmp_path: Path, chromium: Browser, shots: Path) -> None:
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    notebook = nbformat.v4.new_notebook(
        cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "python3"}}
    )
    nbformat.write(notebook, tmp_path / "notebook.ipynb")
    errors: list[str] = []
    with running_voila(tmp_path) as url:
        page = chromium.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        # Voila's own page asks for fonts of other hosts, and fails to load the extension of Notebook 7.
        page.on("console", lambda said: errors.append(said.text) if "taskscope" in said.text else None)
        page.goto(url)
        bars = page.get_by_role("progressbar", name="Finished tasks")
        expect(bars).to_have_count(2)
        for bar in bars.all():
            expect(bar).to_have_attribute("aria-valuenow", "0")
        (tmp_path / "go").touch()
        for bar in bars.all():
            expect(bar).to_have_attribute("aria-valuenow", "4")
        page.screenshot(path=shots / "voila.png", full_page=True)
        page.close()
    assert errors == []
