"""The kernel of this process, and the private names of ipykernel that the feed needs.

`suppress_status` lets the kernel handle pages' messages while a cell runs, without the cell being shown as
idle. For every message on its shell channel ipykernel sends all clients the states busy and idle, and makes
the message the parent of later output of threads. Pages send messages every few seconds, also while a cell
runs: the cell would be shown as idle, and its threads' output would be lost. So messages with the mark of a
page are handled without either. JupyterLab requests a subshell for any widget of a cell, and the kernel sends
idle after that, too. Front ends wait for this idle, so it is sent, and busy again for the running cell.

`delete_in_turn` deletes a page's subshell once it has handled all requests of the page. ipykernel's own
``delete_subshell_request`` is handled on the control channel, which does not wait for pending requests of the
subshell: after a C call has held up all threads, asyncio would print "Task was destroyed but it is pending!"
into the user's cell. So pages send this request on the subshell itself, after all others.

`show_presence` adds to the kernel's ``supported_features`` that pages can open the feed. A page requests
these on the control channel, which answers while a cell runs. So it need not try to open comms in a kernel
without taskscope, which would log a warning there, and an error in JupyterLab.

The tests in ``tests/unit/jupyter/feed`` fail when ipykernel changes one of these names.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import Any, Protocol, TypeAlias

from taskscope.model.forklock import ForkLock
from taskscope.sources.cell import current_execution


def this_kernel() -> Any:  # noqa: ANN401 - ipykernel's own, or a subclass of anyone's
    """Return it, None without one of ipykernel."""
    if "IPython" not in sys.modules or "ipykernel" not in sys.modules:
        return None
    from ipykernel.kernelbase import Kernel
    from IPython import get_ipython

    kernel = getattr(get_ipython(), "kernel", None)
    return kernel if isinstance(kernel, Kernel) else None


class IdleClock:
    """Seconds during which no cell was running."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._idle_s = 0.0
        self._idle_since_s: float | None = clock()
        self.execution: str | None = None
        """The id of the request of the running cell; None while none runs."""

    def __call__(self) -> float:
        """Return the seconds without a running cell."""
        since_s = self._idle_since_s
        return self._idle_s if since_s is None else self._idle_s + self._clock() - since_s

    def watch_cells(self) -> Callable[[], None] | None:
        """Follow the cells of the IPython shell; return the function that ends this, None without a shell."""
        if "IPython" not in sys.modules:
            return None
        from IPython import get_ipython

        shell = get_ipython()
        if shell is None:
            return None
        # post_execute would also fire for every comm message; these fire for cells only.
        shell.events.register("pre_run_cell", self.cell_started)
        shell.events.register("post_run_cell", self.cell_stopped)
        # This is called from a cell, whose end will be seen.
        self.cell_started()

        def unwatch() -> None:
            shell.events.unregister("pre_run_cell", self.cell_started)
            shell.events.unregister("post_run_cell", self.cell_stopped)

        return unwatch

    def cell_started(self, *_: object) -> None:
        """Stop the clock, as a cell begins."""
        self._idle_s, self._idle_since_s = self(), None
        self.execution = current_execution()

    def cell_stopped(self, *_: object) -> None:
        """Continue the clock, as the cell has ended."""
        self._idle_since_s = self._clock()
        self.execution = None


# Where a thread is while a local scheduler computes, or a cluster is waited for.
_WAITING = ("dask.local", "distributed.client", "distributed.utils")


def main_waits_for_dask() -> bool:
    """Return whether the code that the main thread runs waits for a compute, or is part of one."""
    files = {getattr(sys.modules.get(name), "__file__", None) for name in _WAITING}
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    while frame is not None:
        if frame.f_code.co_filename in files:
            return True
        frame = frame.f_back
    return False


def interrupt_main() -> None:
    """Raise ``KeyboardInterrupt`` in the main thread, also out of a wait for a lock."""
    main = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main is not None:
        signal.pthread_kill(main, signal.SIGINT)
    else:
        os.kill(os.getpid(), signal.SIGINT)


FEATURE = "taskscope"
"""Added to the kernel's ``supported_features``."""

_INFO_REQUEST = "kernel_info_request"


def show_presence() -> Callable[[], None] | None:
    """Add `FEATURE` to the kernel's; return the function that removes it, None without a kernel."""
    kernel = this_kernel()
    if kernel is None:
        return None
    handlers = kernel.control_handlers
    original = handlers[_INFO_REQUEST]
    handlers[_INFO_REQUEST] = _answer(kernel)

    def end() -> None:
        handlers[_INFO_REQUEST] = original

    return end


def _answer(kernel: Any) -> Callable[[Any, Any, Any], Awaitable[None]]:  # noqa: ANN401 - ipykernel's own, or a subclass of anyone's
    async def kernel_info_request(stream: object, ident: object, parent: object) -> None:
        info = kernel.kernel_info
        features = [*info.get("supported_features", []), FEATURE]
        content = {"status": "ok", **info, "supported_features": features}
        kernel.session.send(stream, "kernel_info_reply", content, parent, ident)

    return kernel_info_request


MARK = "taskscope"
"""Key in the metadata of a message of a taskscope page."""

_KINDS = {"comm_open", "comm_msg", "comm_close", "create_subshell_request", "delete_subshell_request"}
_Message: TypeAlias = Mapping[str, Any]


class _Kernel(Protocol):
    """The used part of ipykernel's ``Kernel``."""

    set_parent: Callable[[object, _Message, str], None]
    get_parent: Callable[[str], _Message]
    _publish_status: Callable[[str, str, _Message | None], None]
    _shell_parent_ident: ContextVar[object]
    _shell_parent: ContextVar[_Message]
    # In ipykernel 6 instead of the two above.
    _parent_ident: dict[str, object]
    _parents: dict[str, _Message]


def suppress_status() -> Callable[[], None] | None:
    """Handle pages' messages quietly; return the function that ends this, None without an ipykernel."""
    kernel: _Kernel | None = this_kernel()
    return None if kernel is None else _Quiet(kernel).begin()


class _Quiet:
    """Stands before two methods of a kernel."""

    def __init__(self, kernel: _Kernel) -> None:
        self._kernel = kernel
        self._original_set_parent, self._original_status = kernel.set_parent, kernel._publish_status
        self._mine = {"set_parent": self._set_parent, "_publish_status": self._publish_status}
        self._cell: _Message | None = None
        # The control channel has a thread of its own: a cell must not end between idle and busy.
        self._saying = ForkLock()

    def begin(self) -> Callable[[], None]:
        if threading.current_thread() is threading.main_thread():
            self._note_cell(self._kernel.get_parent("shell"))
        for name, method in self._mine.items():
            setattr(self._kernel, name, method)
        return self._end

    def _end(self) -> None:
        for name in self._mine:
            delattr(self._kernel, name)

    def _set_parent(self, ident: object, parent: _Message, channel: str = "shell") -> None:
        if channel != "shell" or not _is_ours(parent):
            self._original_set_parent(ident, parent, channel)
            self._note_cell(parent)
        elif hasattr(self._kernel, "_shell_parent"):
            # The request of this thread; output of other threads has other parents.
            self._kernel._shell_parent_ident.set(ident)
            self._kernel._shell_parent.set(parent)
        else:
            self._kernel._parent_ident[channel] = ident
            self._kernel._parents[channel] = parent

    def _publish_status(self, status: str, channel: str, parent: _Message | None = None) -> None:
        about = parent or self._kernel.get_parent(channel)
        if _is_ours(about):
            return
        with self._saying:
            self._original_status(status, channel, parent)
            if status == "idle" and self._cell is not None:
                if _id(about) == _id(self._cell):
                    self._cell = None
                else:
                    self._original_status("busy", "shell", self._cell)

    def _note_cell(self, message: _Message) -> None:
        header = message.get("header", {})
        # Code on a subshell runs beside the cell.
        if header.get("msg_type") == "execute_request" and not header.get("subshell_id"):
            self._cell = message


def _id(message: _Message) -> object:
    return message.get("header", {}).get("msg_id")


def _is_ours(message: _Message) -> bool:
    header, metadata = message.get("header"), message.get("metadata")
    return (
        isinstance(header, Mapping)
        and isinstance(metadata, Mapping)
        and metadata.get(MARK) is True
        and header.get("msg_type") in _KINDS
    )


_DELETE_REQUEST = "delete_subshell_request"
_STEP_S = 0.01


def delete_in_turn() -> Callable[[], None] | None:
    """Handle pages' requests; return the function that ends this, None without subshells."""
    kernel = this_kernel()
    if kernel is None or getattr(kernel, "shell_channel_thread", None) is None:
        return None
    handlers = kernel.shell_handlers
    handlers[_DELETE_REQUEST] = _handler(kernel)

    def end() -> None:
        handlers.pop(_DELETE_REQUEST, None)

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
