"""What does a browser that stopped reading cost the Jupyter server?

A real JupyterLab server and kernel. A client attaches to the feed as a page does, and then reads nothing more
of its websocket for a minute, while a cell computes without pause. What the server cannot deliver it keeps,
without a limit of its own, so what bounds it is what we send. A page whose script stands still does not renew
its lease either, and is sent nothing more after half a minute; "renews" is the worst case, a client that goes
on asking and never reads. Each figure is of a server of its own; "reads" is a client that takes everything.
"""

from __future__ import annotations

import json
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
import websocket

from benchmarks.harness import Table, main
from tests.browser.harness.server import TOKEN, Server, running_server

LOAD = """
import time, dask.threaded
from dask._task_spec import Task
%load_ext taskscope
def work(seconds):
    graph = {("nap", i): Task(("nap", i), time.sleep, 0.0002) for i in range(20_000)}
    end_s = time.perf_counter() + seconds
    while time.perf_counter() < end_s:
        dask.threaded.get(graph, list(graph), num_workers=4)
"""
RENEWAL_S = 10.0
SETTLE_S = 3.0


class Client:
    """A websocket to a kernel, which is read only when asked to."""

    def __init__(self, server: Server, kernel: str) -> None:
        self.session = uuid.uuid4().hex
        url = f"ws://{server.host}/api/kernels/{kernel}/channels?session_id={self.session}"
        self.socket = websocket.create_connection(url, header={"Authorization": f"token {TOKEN}"})

    def send(self, channel: str, kind: str, content: dict[str, Any], subshell: str | None = None) -> None:
        header = {"msg_id": uuid.uuid4().hex, "msg_type": kind, "session": self.session, "username": ""}
        header |= {"version": "5.4", "date": datetime.now(UTC).isoformat()}
        whole = {"header": header | {"subshell_id": subshell}, "parent_header": {}, "content": content}
        self.socket.send(json.dumps(whole | {"channel": channel, "metadata": {"taskscope": True}}))

    def wait_for(self, text: bytes) -> bytes:
        """Read until a message that contains `text`."""
        while text not in (message := self.read()):
            pass
        return message

    def read(self) -> bytes:
        message = self.socket.recv()
        return message.encode() if isinstance(message, str) else message


class Page(Client):
    """What a page of ours does to attach."""

    def attach(self) -> None:
        self.send("control", "create_subshell_request", {})
        reply = json.loads(self.wait_for(b"create_subshell_reply"))
        self._subshell = reply["content"]["subshell_id"]
        self._control, self.data = uuid.uuid4().hex, uuid.uuid4().hex
        page = {"protocol": 1, "page": uuid.uuid4().hex}
        for comm_id, target in ((self._control, "taskscope.control"), (self.data, "taskscope.data")):
            self._say("comm_open", {"comm_id": comm_id, "target_name": target, "data": page})
        self.ask("hello")
        self.wait_for(self.data.encode())

    def ask(self, verb: str) -> None:
        self._say("comm_msg", {"comm_id": self._control, "data": {"verb": verb}})

    def _say(self, kind: str, content: dict[str, Any]) -> None:
        self.send("shell", kind, content, self._subshell)


class Reader(threading.Thread):
    """Takes all that comes, and counts what is meant for a page."""

    def __init__(self, client: Client, comm_id: str) -> None:
        super().__init__(daemon=True)
        self._client, self._comm_id = client, comm_id.encode()
        self.sizes: list[int] = []

    def run(self) -> None:
        while True:
            try:
                message = self._client.read()
            except (websocket.WebSocketException, OSError):
                return
            if self._comm_id in message:
                self.sizes.append(len(message))


@contextmanager
def kernel_of(server: Server) -> Iterator[str]:
    kernel: str = server.request("POST", "kernels", {"name": "python3"})["id"]
    yield kernel
    server.request("DELETE", f"kernels/{kernel}")


def run(server: Server, kind: str, seconds: float) -> list[str]:
    (process,) = (p for p in psutil.Process().children() if "jupyterlab" in p.cmdline())
    with kernel_of(server) as kernel:
        cell = Client(server, kernel)
        cell.send("shell", "execute_request", {"code": LOAD, "silent": False})
        cell.wait_for(b'"execute_reply"')
        page = Page(server, kernel)
        page.attach()
        taken = Reader(cell, page.data)
        taken.start()
        if kind == "reads":
            Reader(page, page.data).start()
        before = process.memory_info().rss
        cell.send("shell", "execute_request", {"code": f"work({seconds})", "silent": False})
        end_s = time.perf_counter() + seconds + SETTLE_S
        while time.perf_counter() < end_s:
            time.sleep(min(RENEWAL_S, max(end_s - time.perf_counter(), 0)))
            if kind != "stops":
                page.ask("renew")
        after = process.memory_info().rss
        page.socket.close()
        cell.socket.close()
    sent = f"{sum(taken.sizes) / 1e6:.1f}"
    return [kind, str(len(taken.sizes)), sent, f"{before / 1e6:.1f}", f"{(after - before) / 1e6:+.1f}"]


def measure(*, quick: bool) -> list[Table]:
    seconds = 12.0 if quick else 60.0

    def rows() -> Iterator[list[str]]:
        for kind in ("reads", "stops", "renews"):
            with tempfile.TemporaryDirectory() as folder, running_server(Path(folder)) as server:
                yield run(server, kind, seconds)

    columns = ("the client", "messages sent", "MB sent", "server before, MB", "growth, MB")
    return [Table(f"A client that stops reading for {seconds:.0f} s", columns, rows())]


if __name__ == "__main__":
    main(__doc__, measure)
