"""One page of JupyterLab that tests use one after another; between two tests it is as after loading.

To load JupyterLab costs more than most tests: two seconds of processor time for the page, and half a second
for its server.
"""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, ViewportSize

from tests.browser.harness.contexts import Contexts
from tests.browser.harness.lab_page import PLUGINS, LabPage, use_theme
from tests.browser.harness.server import FORKED, TOKEN, Server

VIEWPORT: ViewportSize = {"width": 1200, "height": 900}
OPTIONS: dict[str, Any] = {"viewport": VIEWPORT, "color_scheme": "null"}
"""Options of the page. Without the last, Playwright has every frame take light for the preferred scheme."""

_BEGIN = """async () => {
  await window.jupyterapp.restored;
  window.endOfTest = new AbortController();
  window.sizesAtStart = window.jupyterapp.shell._hsplitPanel.relativeSizes();
}"""
# A dialog that is still open belongs to a test that failed.
_IS_USABLE = "document.querySelector('.jp-Dialog') === null"
_RESET = f"""async () => {{
  const {{ shell }} = window.jupyterapp;
  const plugins = {PLUGINS};
  window.endOfTest.abort();
  window.endOfTest = new AbortController();
  // Hidden ones first: a document that is shown when another one ends uses its toolbar a moment later.
  const documents = [...shell.widgets('main')];
  for (const one of documents.filter(one => !one.isVisible)) one.dispose();
  for (const one of documents.filter(one => !one.isDisposed)) one.dispose();
  shell.collapseRight();
  shell.activateById('filebrowser');
  shell._hsplitPanel.setRelativeSizes(window.sizesAtStart);
  plugins.get('taskscope:panels').service._side.begin({{ pin: null, views: new Map() }});
  const registry = plugins.get('@jupyterlab/apputils-extension:settings').service;
  const settings = await registry.load('taskscope:plugin');
  for (const name of Object.keys(settings.user)) await settings.remove(name);
}}"""


class KeptPage:
    """The page of JupyterLab that the tests of a process share.

    Parameters
    ----------
    server
        The server that the page is of.
    contexts
        Where the page is opened.
    """

    def __init__(self, server: Server, contexts: Contexts) -> None:
        self._server = server
        self._contexts = contexts
        self._page: Page | None = None

    def take(self, test: str) -> LabPage:
        """Return the page for a test, without any document."""
        page = self._page = self._page or self._open()
        return LabPage(page, self._server, test, is_loaded=True, kernel=FORKED)

    def give_back(self, lab: LabPage, *, failed: bool) -> None:
        """Reset the page and end all kernels; close the page after a test that failed."""
        page, self._page = lab.page, None
        if failed or page.is_closed() or not page.evaluate(_IS_USABLE):
            self._contexts.give_back(page.context, self._server, **OPTIONS)
        else:
            page.evaluate(_RESET)
            use_theme(page, "light")
            page.set_viewport_size(VIEWPORT)
            page.emulate_media(reduced_motion="null")
            page.context.clear_permissions()
            page.mouse.move(0, 0)
            self._page = page
        self._server.forget_theme()
        self._server.shut_down_kernels()
        lab.stop_listening()

    def _open(self) -> Page:
        page = self._contexts.new_page(self._server, **OPTIONS)
        page.goto(f"{self._server.url}lab/workspaces/kept?token={TOKEN}")
        page.wait_for_function("window.jupyterapp?.shell !== undefined")
        page.evaluate(_BEGIN)
        return page
