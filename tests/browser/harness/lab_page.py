"""A page of JupyterLab or Notebook 7 with one notebook, as a test drives it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from playwright.sync_api import ConsoleMessage, Error, Page, expect

from tests.browser.harness.server import PYTHON3, Server

READY_MS = 120_000
DONE_MS = 120_000

_PANEL = "window.jupyterapp.shell.currentWidget"
_PANEL_OR_NONE = "window.jupyterapp?.shell?.currentWidget"
_READY = """(path) => {
  const panel = window.jupyterapp?.shell?.currentWidget;
  const session = panel?.context?.sessionContext;
  return panel?.context?.path === path && session?.isReady && session.session?.kernel?.status === 'idle';
}"""
_RUN = f"""(index) => {{
  {_PANEL}.content.activeCellIndex = index;
  void window.jupyterapp.commands.execute('notebook:run-cell');
}}"""
# JupyterLab has a launcher where there is no document, and leaves it beside one that is opened by a command.
_OPEN_ALONE = f"""async path => {{
  const {{ commands, shell }} = window.jupyterapp;
  void commands.execute('docmanager:open', {{ path }});
  while ({_PANEL_OR_NONE}?.context?.path !== path) await new Promise(requestAnimationFrame);
  for (const widget of [...shell.widgets('main')].filter(one => one.context?.path !== path)) widget.dispose();
}}"""
_CELL_MS = 240_000
"""A cell computes: on a machine that is busy otherwise, it takes many times as long."""
# Before JupyterLab 4.3 only the prompt says whether a cell runs, and plugins are elsewhere.
_DONE = f"""(index) => {{
  const cell = {_PANEL}.content.widgets[index];
  const state = cell.model.executionState ?? (cell.promptNode.textContent.includes('*') ? 'running' : 'idle');
  return cell.model.executionCount !== null && state === 'idle';
}}"""
# The plugin's service is nowhere public on the page; views get it by injection.
PLUGINS = "(window.jupyterapp.pluginRegistry ?? window.jupyterapp)._plugins"
_FEEDS = f"{PLUGINS}.get('taskscope:plugin').service"
# Until a layout is restored, another widget may be the current one.
_KERNEL = f"{_PANEL_OR_NONE}?.context?.sessionContext?.session?.kernel"
_FEED = f"""(() => {{
  const kernel = {_KERNEL};
  const feed = kernel && {_FEEDS}?.get(kernel.id);
  if (!feed) return null;
  const stores = [...feed._stores._stores.values()];
  return {{
    state: feed.state.kind,
    subshell: feed.state.subshell ?? null,
    active: feed.active,
    nBatches: feed.nBatches,
    nStores: stores.length,
    tasks: stores.at(-1)?.nTasks ?? 0,
    nListeners: stores.reduce((n, store) => n + store.listenerCount, 0)
  }};
}})()"""
_ASK_FOR_FEED = f"{_FEEDS}.ready().then(() => void {_FEEDS}.use({_KERNEL}.model))"
_DROP = f"{_FEEDS}.get({_KERNEL}.id)._comms._connection._ws.close()"
# The page asks on its own, too: of the answers, the one to this verb.
_RECORD = f"""(() => {{
  const stream = {_FEEDS}.get({_KERNEL}.id)._stream;
  const take = stream.take.bind(stream);
  window.taskscopeMessages ??= [];
  stream.take = (...message) => {{
    const batches = take(...message);
    window.taskscopeMessages.push({{ count: (batches ?? []).reduce((sum, batch) => sum + batch.count, 0) }});
    return batches;
  }};
}})()"""

# A second or more after it has restored its tabs, JupyterLab brings the notebook in the address to the front.
_NOTE_OPENED = """Object.defineProperty(window, 'jupyterapp', { configurable: true, set(app) {
  Object.defineProperty(window, 'jupyterapp', { value: app });
  app.commands.commandExecuted.connect((_, { id, result }) => {
    if (id === 'filebrowser:open-path') void result.then(() => { window.taskscopeOpened = true; });
  });
} })"""


_OFFLINE = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}

# Races of others, in which nothing of ours runs. ipywidgets' own class hands a message that comes after it
# was disposed to the view that it has let go of (processMessage in @jupyter-widgets/base 6). JupyterLab's
# debugger may be asking a kernel when that is restarted or shut down.
_OF_OTHERS = (
    "TypeError: Cannot read properties of null (reading 'processLuminoMessage')",
    "Could not restore the debugger state",
)


class LabPage:
    """One notebook open in JupyterLab or Notebook 7.

    Parameters
    ----------
    page
        The Chromium page.
    server
        The server it is of.
    workspace
        Name of the layout that a reload restores; one per test, so that tests do not see each other.
    is_loaded
        Whether the page has loaded JupyterLab already. Notebooks then open as documents of it; the layout has
        another name, and a reload restores documents of other tests.
    kernel
        Name of the kernel that its notebooks have unless another one is named.
    """

    def __init__(
        self, page: Page, server: Server, workspace: str, *, is_loaded: bool = False, kernel: str = PYTHON3
    ) -> None:
        self.page = page
        self.errors: list[str] = []
        self._forgiven: tuple[str, ...] = ()
        self._server = server
        self.workspace = workspace
        self._path = ""
        self._is_loaded = is_loaded
        self._kernel = kernel
        page.set_default_timeout(DONE_MS)
        page.on("pageerror", self._page_error)
        page.on("console", self._console)

    def stop_listening(self) -> None:
        """Note no more errors: another test uses the page."""
        self.page.remove_listener("pageerror", self._page_error)
        self.page.remove_listener("console", self._console)

    def _page_error(self, error: Error) -> None:
        self._note(f"page error: {error.message} in {_file(error)}")

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not message.text.startswith(_OF_OTHERS):
            self._note(f"console: {message.text}")

    def _note(self, error: str) -> None:
        if not error.startswith(self._forgiven):
            self.errors.append(error)

    @property
    def path(self) -> str:
        """The notebook's path on the server."""
        return self._path

    def open(self, *cells: str, path: str | None = None, kernel: str | None = None) -> None:
        """Make a notebook with these cells, open it, and wait until its kernel is idle."""
        self.go(*cells, path=path, kernel=kernel)
        self.wait_ready()

    def go(self, *cells: str, path: str | None = None, kernel: str | None = None) -> None:
        """Make a notebook with these cells and open it, without waiting for anything."""
        path = path or f"{self.workspace}.ipynb"
        self._server.write_notebook(path, cells, kernel or self._kernel)
        self._go(path)

    def open_content(self, content: Mapping[str, Any]) -> None:
        """Make a notebook of exactly this content, open it, and wait until its kernel is idle."""
        path = f"{self.workspace}.ipynb"
        self._server.write_content(path, content)
        self._go(path)
        self.wait_ready()

    def wait_ready(self) -> None:
        """Wait until the notebook is there and its kernel is idle."""
        self.page.wait_for_function(_READY, arg=self._path, timeout=READY_MS)

    def _go(self, path: str) -> None:
        self._path = path
        if self._is_loaded:
            self.page.evaluate(_OPEN_ALONE, path)
        else:
            self.page.goto(self._server.page_url(path, self.workspace))

    def open_also(self, *cells: str, path: str, kernel: str | None = None) -> None:
        """Make one more notebook and open it in a tab of the same page; it is the one in use then."""
        self._server.write_notebook(path, cells, kernel or self._kernel)
        self.switch_to(path)

    def switch_to(self, path: str, *, busy: bool = False) -> None:
        """Go to another notebook of this page, opened if need be, or to one that is busy."""
        self._path = path
        self.command("docmanager:open", path=path)
        if not busy:
            self.wait_ready()

    def join(self, other: LabPage) -> None:
        """Open the notebook that another page has open, on its kernel."""
        self._go(other._path)
        self.wait_ready()

    def save(self) -> None:
        """Save the notebook."""
        self.page.evaluate(f"{_PANEL}.context.save()")

    def reload(self) -> None:
        """Reload the page; the kernel may be busy meanwhile."""
        self.page.add_init_script(_NOTE_OPENED)
        self.page.reload()
        self.page.wait_for_function(
            f"(path) => window.taskscopeOpened && {_PANEL_OR_NONE}?.context?.path === path"
            f" && {_PANEL}.context.sessionContext.session?.kernel?.connectionStatus === 'connected'",
            arg=self._path,
            timeout=READY_MS,
        )

    def command(self, name: str, **arguments: Any) -> None:
        """Execute a command of JupyterLab and wait for its end."""
        self.page.evaluate(
            "([name, arguments]) => window.jupyterapp.commands.execute(name, arguments).then(() => null)",
            [name, arguments],
        )

    def start_cell(self, index: int) -> None:
        """Run a cell without waiting for its end."""
        self.page.evaluate(_RUN, index)

    def run_cell(self, index: int) -> None:
        """Run a cell, wait for its end, and fail if it raised."""
        self.start_cell(index)
        self.wait_cell(index)
        errors = [f"{o['ename']}: {o['evalue']}" for o in self.outputs(index) if o["output_type"] == "error"]
        assert errors == [], f"cell {index} raised {errors}"

    def release(self, stage: int = 1) -> None:
        """Let tasks go on that wait with ``until(stage)``, which `tests.browser.workloads.LOAD` has."""
        name = f"{self._path.removesuffix('.ipynb')}.stage{stage}"
        self._server.request("PUT", f"contents/{name}", {"type": "file", "format": "text", "content": ""})

    def wait_cell(self, index: int) -> None:
        """Wait until a cell has ended."""
        self.page.wait_for_function(_DONE, arg=index, timeout=_CELL_MS)

    def is_done(self, index: int) -> bool:
        """Return whether a cell has ended."""
        return bool(self.page.evaluate(_DONE, index))

    def outputs(self, index: int) -> list[dict[str, Any]]:
        """Return a cell's outputs as the notebook would save them."""
        found: list[dict[str, Any]] = self.page.evaluate(
            f"(index) => {_PANEL}.content.widgets[index].model.outputs.toJSON()", index
        )
        return found

    def forgive(self, text: str, *, also_later: bool = False) -> None:
        """Forget errors that begin with this, or later ones, too; the caller says why they are not ours."""
        self.errors = [error for error in self.errors if not error.startswith(text)]
        if also_later:
            self._forgiven += (text,)

    def feed(self) -> dict[str, Any] | None:
        """Return what the kernel's feed is doing; None without a feed.

        Its fields are ``state subshell active nBatches nStores tasks nListeners``; one listener is the badges
        of the notebook, and one the status bar's item.
        """
        found: dict[str, Any] | None = self.page.evaluate(_FEED)
        return found

    def wait_feed(self, condition: str) -> None:
        """Wait for a feed, and a JavaScript condition on it, such as ``feed.state === 'live'``."""
        holds = f"feed !== null && ({condition})"
        self.page.wait_for_function(f"(() => {{ const feed = {_FEED}; return {holds}; }})()")

    def ask_for_feed(self) -> None:
        """Have a feed of this kernel, as a view that is shown does."""
        self.page.evaluate(_ASK_FOR_FEED)

    def on_feed_value(self, function: str) -> Any:
        """Call a JavaScript function with the kernel's feed, and return what it returns."""
        return self.page.evaluate(f"({function})({_FEEDS}.get({_KERNEL}.id))")

    def on_feeds(self, function: str) -> Any:
        """Call a JavaScript function with all feeds of the page, and return what it returns."""
        return self.page.evaluate(f"({function})({_FEEDS})")

    def drop_websocket(self) -> None:
        """Cut the feed's connection, as a network does."""
        self.page.evaluate(_DROP)

    def crash(self) -> None:
        """Go away without a word, as a killed browser does; the page is gone afterwards."""
        self.page.context.new_cdp_session(self.page).send("Network.emulateNetworkConditions", _OFFLINE)
        self.page.close()

    def record_messages(self) -> None:
        """Keep the data messages that come from now on, for `data_messages`."""
        self.page.evaluate(_RECORD)

    def data_messages(self) -> list[dict[str, Any]]:
        """Return how many tasks each data message since `record_messages` has."""
        found: list[dict[str, Any]] = self.page.evaluate("window.taskscopeMessages")
        return found

    def restart_kernel(self) -> None:
        """Restart the kernel and wait until it is idle."""
        # One that is restarted before it has begun may stay at "starting" for good.
        self.page.wait_for_function(f"() => ['idle', 'busy'].includes({_KERNEL}?.status)", timeout=READY_MS)
        self.page.evaluate(f"{_KERNEL}.restart()")
        self.wait_ready()

    def stop(self) -> None:
        """Do what the Stop button of a view does with the only compute that runs, if any does."""
        self.on_feed_value(
            "feed => Promise.all([...feed.store.tables.stops].map(asked => feed.stop(...asked)))"
        )


def use_theme(page: Page, theme: str) -> None:
    """Have JupyterLab look ``light`` or ``dark``.

    Two changes that overlap make it take its splash away twice, which is an error of its own.
    """
    page.evaluate(
        "theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })",
        f"JupyterLab {theme.title()}",
    )
    page.wait_for_function(f"document.body.dataset.jpThemeLight === '{str(theme == 'light').lower()}'")
    expect(page.locator("#jupyterlab-splash")).to_have_count(0)


def _file(error: Error) -> str:
    """Return the script that an error comes from, without the hash in its name."""
    frame = re.search(r"https?://[^/]+/(?:[^/?:]+/)*([^/?:.]+)", error.stack or "")
    return frame[1] if frame else "an unknown script"
