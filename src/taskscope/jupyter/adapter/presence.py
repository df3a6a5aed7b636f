"""Adds to the kernel's ``supported_features`` that pages can open the feed.

A page requests these on the control channel, which answers while a cell runs. So it need not try to open
comms in a kernel without taskscope, which would log a warning there, and an error in JupyterLab.

This is the only module that knows how ipykernel answers ``kernel_info_request`` on its control channel;
``tests/unit/jupyter/feed/test_presence.py`` fails when it changes that.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from taskscope.jupyter.adapter.kernel import this_kernel

FEATURE = "taskscope"
"""Added to the kernel's ``supported_features``."""

_REQUEST = "kernel_info_request"


def show_presence() -> Callable[[], None] | None:
    """Name `FEATURE` among the kernel's features; return what ends that, None without a kernel."""
    kernel = this_kernel()
    if kernel is None:
        return None
    handlers = kernel.control_handlers
    theirs, ours = handlers[_REQUEST], _answer(kernel)
    handlers[_REQUEST] = ours

    def end() -> None:
        # Another tool may have wrapped it since; that still works.
        if handlers.get(_REQUEST) is ours:
            handlers[_REQUEST] = theirs

    return end


def _answer(kernel: Any) -> Callable[[Any, Any, Any], Awaitable[None]]:  # noqa: ANN401 - ipykernel's own, or a subclass of anyone's
    async def kernel_info_request(stream: object, ident: object, parent: object) -> None:
        info = kernel.kernel_info
        features = [*info.get("supported_features", []), FEATURE]
        content = {"status": "ok", **info, "supported_features": features}
        kernel.session.send(stream, "kernel_info_reply", content, parent, ident)

    return kernel_info_request
