"""Deletes a page's subshell once it has handled all requests of the page.

ipykernel's own ``delete_subshell_request`` is handled on the control channel, which does not wait for pending
requests of the subshell: after a C call has held up all threads, asyncio would print "Task was destroyed but
it is pending!" into the user's cell. So pages send this request on the subshell itself, after all others.

This is the only module that knows how ipykernel deletes subshells;
``tests/unit/jupyter/feed/test_subshells.py`` fails when it changes that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from taskscope.jupyter.adapter.kernel import this_kernel

_REQUEST = "delete_subshell_request"
_STEP_S = 0.01


def delete_in_turn() -> Callable[[], None] | None:
    """Take pages' requests; return the function that ends this, None without a kernel that has subshells."""
    kernel = this_kernel()
    if kernel is None or getattr(kernel, "shell_channel_thread", None) is None:
        return None
    handlers = kernel.shell_handlers
    ours = handlers[_REQUEST] = _handler(kernel)

    def end() -> None:
        if handlers.get(_REQUEST) is ours:
            del handlers[_REQUEST]

    return end


def _handler(kernel: Any) -> Callable[[object, object, Mapping[str, Any]], None]:  # noqa: ANN401 - ipykernel's own, or a subclass of anyone's
    def delete_subshell_request(_stream: object, _ident: object, parent: Mapping[str, Any]) -> None:
        subshell_id = parent["header"].get("subshell_id")
        loop = asyncio.get_running_loop()

        def delete() -> None:
            # As the control channel's own handler, on its thread.
            socket = kernel.shell_channel_thread.manager.control_to_shell_channel.from_socket
            socket.send_json({"type": "delete", "subshell_id": subshell_id})
            socket.recv_json()

        def delete_when_idle() -> None:
            # This request, too, is handled in tasks of this loop, which have to end.
            if asyncio.all_tasks(loop):
                loop.call_later(_STEP_S, delete_when_idle)
            else:
                kernel.control_thread.io_loop.add_callback(delete)

        if subshell_id is not None:
            loop.call_soon(delete_when_idle)

    return delete_subshell_request
