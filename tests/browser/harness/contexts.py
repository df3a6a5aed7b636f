"""Browser contexts that tests use one after another, so that Chromium compiles JupyterLab only once."""

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

    def new_page(self, server: Server, **options: Any) -> Page:
        """Return the only page of a context that remembers nothing of `server`."""
        free = self._free[_kind(server, options)]
        context = free.pop() if free else self._browser.new_context(**options)
        page = context.new_page()
        forget = {"origin": f"http://{server.host}", "storageTypes": _STORED}
        context.new_cdp_session(page).send("Storage.clearDataForOrigin", forget)
        return page

    def give_back(self, context: BrowserContext, server: Server, **options: Any) -> None:
        """Close its pages, and keep it for the next one who wants these options."""
        for page in context.pages:
            page.close()
        context.unroute_all()
        context.clear_permissions()
        context.clear_cookies()
        self._free[_kind(server, options)].append(context)


def _kind(server: Server, options: dict[str, Any]) -> str:
    return repr((server.url, sorted(options.items())))
