"""Lets the kernel handle pages' messages while a cell runs, without the cell being shown as idle.

For every message on its shell channel ipykernel sends all clients the states busy and idle, and makes the
message the parent of later output of threads. Pages send messages every few seconds, also while a cell runs:
the cell would be shown as idle, and its threads' output would be lost. So messages with the mark of a page
are handled without either.

JupyterLab requests a subshell for any widget of a cell, and the kernel sends idle after that, too. Front ends
wait for this idle, so it is sent, and busy again for the running cell.

This is the only module that knows these private names of ipykernel;
``tests/unit/jupyter/feed/test_quiet.py`` fails when it changes them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any, Protocol, TypeAlias

from taskscope.jupyter.adapter.kernel import this_kernel
from taskscope.model.forklock import ForkLock

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
        # The control channel has a thread of its own: a cell's end must not come between idle and busy.
        self._saying = ForkLock()

    def begin(self) -> Callable[[], None]:
        if threading.current_thread() is threading.main_thread():
            self._note_cell(self._kernel.get_parent("shell"))
        for name, method in self._mine.items():
            setattr(self._kernel, name, method)
        return self._end

    def _end(self) -> None:
        for name, method in self._mine.items():
            # Another tool may have wrapped it since; that still works.
            if vars(self._kernel).get(name) is method:
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
