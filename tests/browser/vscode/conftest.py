"""VS Code's side of a notebook in a page: its widget manager from npm, and a kernel of a real server.

The scripts of widgets are read where VS Code reads them: in ``share/jupyter/nbextensions`` of this Python.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route

from tests.browser.harness.lab_page import DONE_MS
from tests.browser.harness.server import FORKED, TOKEN, Server

ROOT = Path(__file__).parents[3]
HERE = Path(__file__).parent
TO_NO_VIEW = "Cannot read properties of null (reading 'processLuminoMessage')"
"""What the widget manager says where a message was on its way to a view that it has removed."""


class Notebook:
    """A notebook in VS Code, with a kernel of its own."""

    def __init__(self, page: Page, server: Server, errors: list[str]) -> None:
        self.page = page
        self.errors = errors
        self.kernel: dict[str, Any] = server.request("POST", "kernels", {"name": FORKED})

    def open(self, *, theme: str = "light", drops_buffers: bool = False) -> None:
        """Show it in a theme of VS Code, by a manager that may drop the binary part of messages."""
        self.page.evaluate(f"document.body.className = 'vscode-{theme}'")
        self.page.wait_for_function("window.notebook && window.vscIPyWidgets8")
        options = {"kernel": self.kernel, "token": TOKEN, "dropsBuffers": drops_buffers}
        self.page.evaluate("options => window.notebook.open(options)", options)

    def run(self, code: str, cell: int) -> None:
        """Run a cell to its end."""
        self.start(code, cell)
        self.wait()

    def start(self, code: str, cell: int) -> None:
        """Run a cell and do not wait for its end."""
        start = "([code, cell]) => { window.ran = window.notebook.run(code, cell); }"
        self.page.evaluate(start, [code, cell])

    def wait(self) -> None:
        """Wait for the end of the cell that was started."""
        self.page.evaluate("window.ran")

    def seen(self, what: str) -> Any:
        return self.page.evaluate(f"window.notebook.seen.{what}")


@pytest.fixture(scope="session")
def vscode_scripts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the files of the page, by the ends of their addresses."""
    bundled = tmp_path_factory.mktemp("vscode") / "notebook.js"
    modules = ROOT / "node_modules"
    command = [str(modules / ".bin/esbuild"), str(HERE / "notebook.js"), "--bundle", "--format=esm"]
    subprocess.run([*command, f"--outfile={bundled}", "--log-level=warning"], check=True, cwd=ROOT)
    return {
        "vscode/page.html": HERE / "page.html",
        "vscode/notebook.js": bundled,
        "vscode/require.js": modules / "requirejs/require.js",
        "vscode/ipywidgets.js": modules / "@vscode/jupyter-ipywidgets8/dist/ipywidgets.js",
    }


@pytest.fixture
def open_notebook(
    server: Server, chromium: Browser, vscode_scripts: dict[str, Path]
) -> Iterator[Callable[..., Notebook]]:
    share = Path(sys.prefix, "share/jupyter")
    opened: list[Notebook] = []

    def serve(route: Route) -> None:
        url = urlsplit(route.request.url)
        path = url.path.removeprefix("/")
        file = vscode_scripts.get(path) or share / path.removeprefix("vscode/jupyter/")
        if url.netloc == server.host and path.startswith("api/kernels/"):
            route.continue_()
        elif url.netloc == server.host and path.startswith("vscode") and file.is_file():
            route.fulfill(path=file)
        else:
            opened[-1].errors.append(f"{route.request.url} was requested")
            route.abort()

    def open_one(**options: Any) -> Notebook:
        # Playwright would have frames of a dark page prefer light.
        page = chromium.new_page(viewport={"width": 1000, "height": 800}, color_scheme="null")
        page.set_default_timeout(DONE_MS)
        errors: list[str] = []
        notebook = Notebook(page, server, errors)
        opened.append(notebook)
        page.on("pageerror", lambda error: errors.append(f"page error: {error}"))
        page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
        page.route("**/*", serve)
        page.goto(f"{server.url}vscode/page.html")
        notebook.open(**options)
        return notebook

    yield open_one
    for notebook in opened:
        notebook.page.close()
        server.request("DELETE", f"kernels/{notebook.kernel['id']}")
    errors = [error for notebook in opened for error in notebook.errors if TO_NO_VIEW not in error]
    assert errors == []
