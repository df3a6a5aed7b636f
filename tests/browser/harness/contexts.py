"""Browser contexts that tests use one after another, so that Chromium starts and compiles only once.

A page of its own for each test would be a process of its own, and starting and warming that up is a third of
what opening JupyterLab costs. A page that another one of its site opens shares its process; so each context
keeps one that shows an icon.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page

from tests.browser.harness.server import Server

_STORED = "file_systems,indexeddb,local_storage,service_workers"


class Contexts:
    """The contexts of one browser.

    Parameters
    ----------
    browser
        Where pages are opened.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._free: defaultdict[str, list[BrowserContext]] = defaultdict(list)
        self._openers: dict[BrowserContext, Page] = {}

    def new_page(self, server: Server, **options: Any) -> Page:
        """Return a page in a context of its own that remembers nothing of `server`."""
        free = self._free[_kind(server, options)]
        context = free.pop() if free else self._begin(server, options)
        with context.expect_page() as opened:
            self._openers[context].evaluate("void window.open('about:blank')")
        page = opened.value
        forget = {"origin": f"http://{server.host}", "storageTypes": _STORED}
        context.new_cdp_session(page).send("Storage.clearDataForOrigin", forget)
        return page

    def give_back(self, context: BrowserContext, server: Server, **options: Any) -> None:
        """Close its pages, and keep it for the next one who wants these options."""
        for page in context.pages:
            if page is not self._openers[context]:
                page.close()
        context.unroute_all()
        context.clear_permissions()
        context.clear_cookies()
        self._free[_kind(server, options)].append(context)

    def _begin(self, server: Server, options: dict[str, Any]) -> BrowserContext:
        context = self._browser.new_context(**options)
        opener = self._openers[context] = context.new_page()
        opener.goto(f"{server.url}static/favicons/favicon.ico")
        return context


def _kind(server: Server, options: dict[str, Any]) -> str:
    return repr((server.url, sorted(options.items())))
