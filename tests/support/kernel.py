"""A real kernel, and everything it says while it runs a cell."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import nbformat
import zmq
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient
from traitlets.config import Config

TIMEOUT_S = 60.0
SRC = Path(__file__).parents[2] / "src"


def without_ports() -> Config:
    """Return what makes a kernel's sockets files: a port may be taken before the kernel opens it."""
    return Config(KernelManager={"transport": "ipc", "ip": f"{tempfile.mkdtemp()}/kernel"})


def executed(*cells: str) -> list[list[dict[str, Any]]]:
    """Return the outputs of the cells as a notebook that a program runs would keep them."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, timeout=120, kernel_name="python3", config=without_ports()).execute()
    return [cell.outputs for cell in notebook.cells]


@dataclass(frozen=True, slots=True)
class Said:
    """What a kernel sent for one cell."""

    request: str
    reply: dict[str, Any]
    messages: list[dict[str, Any]]

    def of(self, *kinds: str) -> list[dict[str, Any]]:
        """Return the contents of the messages of these types."""
        return [m["content"] for m in self.messages if m["msg_type"] in kinds]

    def text(self) -> str:
        """Return the plain text of the cell's value."""
        (result,) = self.of("execute_result")
        return str(result["data"]["text/plain"])


class Kernel:
    """A kernel with one client."""

    def __init__(self, manager: KernelManager, client: BlockingKernelClient) -> None:
        self._manager = manager
        self._client = client

    def run(self, code: str, on_message: Callable[[dict[str, Any]], None] = lambda _: None) -> Said:
        """Run a cell and return what was said until it was over."""
        request = self._client.execute(code)
        messages = []
        while True:
            message = self._client.get_iopub_msg(timeout=TIMEOUT_S)
            if message["parent_header"].get("msg_id") != request:
                continue
            if message["content"].get("execution_state") == "idle":
                break
            messages.append(message)
            on_message(message)
        while True:
            reply = self._client.get_shell_msg(timeout=TIMEOUT_S)
            if reply["parent_header"].get("msg_id") == request:
                return Said(request, reply["content"], messages)

    def start(self, code: str) -> str:
        """Run a cell and return its request's id at once; `until` has what it says."""
        return str(self._client.execute(code))

    def ask_control(self, kind: str) -> dict[str, Any]:
        """Send a request on the control channel and return the answer's content."""
        request = self._send(self._client.control_channel, kind, {}, {})
        while True:
            message = self._client.get_control_msg(timeout=TIMEOUT_S)
            if message["parent_header"].get("msg_id") == request:
                content: dict[str, Any] = message["content"]
                return content

    def send(
        self,
        kind: str,
        content: Mapping[str, Any],
        *,
        metadata: Mapping[str, Any] = MappingProxyType({}),
        subshell: str | None = None,
    ) -> str:
        """Send a message on the shell channel, as a page does, and return its id."""
        return self._send(self._client.shell_channel, kind, content, metadata, subshell)

    def until(self, is_last: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
        """Return what the kernel publishes up to a message."""
        messages = []
        while True:
            messages.append(self._client.get_iopub_msg(timeout=TIMEOUT_S))
            if is_last(messages[-1]):
                return messages

    def until_quiet(self) -> list[dict[str, Any]]:
        """Return what the kernel has published in answer to all that it was sent."""
        request = self._client.execute("", silent=True)

        def is_of_request(message: dict[str, Any]) -> bool:
            return bool(message["parent_header"].get("msg_id") == request)

        def is_end(message: dict[str, Any]) -> bool:
            return is_of_request(message) and message["content"].get("execution_state") == "idle"

        return [message for message in self.until(is_end) if not is_of_request(message)]

    def _send(
        self,
        channel: Any,
        kind: str,
        content: Mapping[str, Any],
        metadata: Mapping[str, Any],
        subshell: str | None = None,
    ) -> str:
        message = self._client.session.msg(kind, dict(content), metadata=dict(metadata))
        if subshell is not None:
            message["header"]["subshell_id"] = subshell
        channel.send(message)
        return str(message["header"]["msg_id"])

    def interrupt(self) -> None:
        """Do what the Stop button does."""
        self._manager.interrupt_kernel()


@contextmanager
def running_kernel() -> Iterator[Kernel]:
    """Start a kernel of this interpreter, and end it."""
    manager = KernelManager(kernel_name="python3", config=without_ports())
    assert manager.kernel_spec is not None
    manager.kernel_spec.argv[0] = sys.executable
    manager.start_kernel(env={**os.environ, "PYTHONPATH": str(SRC)})
    client = manager.client()
    # Messages wait for a test that is slow to read them; by default ZeroMQ drops what is beyond a thousand.
    client.context.setsockopt(zmq.RCVHWM, 0)
    # No heartbeat: it opens another socket whenever a kernel was silent for a second, as on a busy machine.
    client.start_channels(hb=False)
    try:
        client.wait_for_ready(timeout=TIMEOUT_S)
        kernel = Kernel(manager, client)
        kernel.until_quiet()
        yield kernel
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.cleanup_resources()
        client.context.destroy(linger=0)
