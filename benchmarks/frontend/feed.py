"""What goes over the wire while a cell computes ten thousand tasks a second?

A real kernel and a real client that does what the browser does: it opens both comms on a subshell, says hello
and renews its lease. Counted are the messages that leave the kernel, their bytes, and how long after it was
sent each one arrived. The way from there into pixels is measured by the browser tests.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from queue import Empty
from typing import Any

import numpy as np
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

from benchmarks.harness import Table, main
from taskscope.codec import HEADER, CutOffError, Decoder, budget_for, read_frames
from taskscope.model.streams import PAGE

PROTOCOL = 1
SETTLE_S = 2.5

PROGRAM = """
import time, dask.threaded
from dask._task_spec import Task
graph = {{("nap", i): Task(("nap", i), time.sleep, 0.0002) for i in range({n_tasks})}}
start_s = time.perf_counter()
_ = dask.threaded.get(graph, list(graph), num_workers=4)
print(time.perf_counter() - start_s)
"""


@dataclass(frozen=True, slots=True)
class Arrived:
    """One message of ours, as the client got it."""

    at_s: float
    latency_s: float
    frames: bytes


class Page:
    """The client side of the feed, as a browser page would be."""

    def __init__(self, client: BlockingKernelClient) -> None:
        self._client = client
        self._control, self.data = uuid.uuid4().hex, uuid.uuid4().hex
        self._subshell = self._make_subshell()

    def attach(self) -> None:
        page = uuid.uuid4().hex
        for comm_id, target in ((self._control, "taskscope.control"), (self.data, "taskscope.data")):
            opening = {"protocol": PROTOCOL, "page": page}
            self._send("comm_open", {"comm_id": comm_id, "target_name": target, "data": opening})
        self.say("hello")

    def say(self, verb: str) -> None:
        self._send("comm_msg", {"comm_id": self._control, "data": {"verb": verb}})

    def _make_subshell(self) -> str | None:
        if "kernel subshells" not in self._client.kernel_info(reply=True)["content"]["supported_features"]:
            return None
        request = self._client.session.msg("create_subshell_request", {})
        self._client.control_channel.send(request)
        subshell: str = self._client.control_channel.get_msg(timeout=10)["content"]["subshell_id"]
        return subshell

    def _send(self, kind: str, content: dict[str, Any]) -> None:
        message = self._client.session.msg(kind, content)
        if self._subshell is not None:
            message["header"]["subshell_id"] = self._subshell
        self._client.shell_channel.send(message)


@contextmanager
def kernel() -> Iterator[BlockingKernelClient]:
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel()
    client = manager.blocking_client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def received(client: BlockingKernelClient, page: Page, request: str) -> tuple[list[Arrived], float]:
    """Collect our messages until some time after the cell has ended; return them and its seconds."""
    arrived: list[Arrived] = []
    cell_s = float("nan")
    until_s = time.perf_counter() + 120
    renewed_s = time.perf_counter()
    while time.perf_counter() < until_s:
        if time.perf_counter() - renewed_s > 1:
            page.say("renew")
            renewed_s = time.perf_counter()
        with suppress(Empty):
            message = client.get_iopub_msg(timeout=0.1)
            content, mine = message["content"], message["parent_header"].get("msg_id") == request
            if message["msg_type"] == "comm_msg" and content["comm_id"] == page.data:
                arrived.append(measured(message))
            elif mine and message["msg_type"] == "stream":
                cell_s = float(content["text"])
            elif mine and content.get("execution_state") == "idle":
                until_s = time.perf_counter() + SETTLE_S
    return arrived, cell_s


def measured(message: dict[str, Any]) -> Arrived:
    return Arrived(
        at_s=time.perf_counter(),
        latency_s=(datetime.now(UTC) - message["header"]["date"]).total_seconds(),
        frames=b"".join(map(bytes, message["buffers"])),
    )


def n_tasks_in(stream: bytes) -> int:
    """Return how many tasks the frames of a stream tell of."""
    budget = budget_for(len(stream))
    decoder, n_tasks = Decoder(PAGE, budget), 0
    with suppress(CutOffError):
        for kind, content in read_frames(BytesIO(stream), budget):
            if kind == HEADER:
                decoder.header(content)
            elif "tasks" in (batch := decoder.batch(content)):
                n_tasks += len(batch["tasks"].columns["key"])
    return n_tasks


def most_in_one_second(arrived: list[Arrived]) -> int:
    times_s = [message.at_s for message in arrived]
    return max(sum(start <= t < start + 1 for t in times_s) for start in times_s)


def measure(*, quick: bool) -> list[Table]:
    n_tasks = 20_000 if quick else 100_000
    with kernel() as client:
        client.execute("%load_ext taskscope")
        reply = client.get_shell_msg(timeout=60)["content"]
        if reply["status"] != "ok":
            raise RuntimeError(f"%load_ext taskscope failed: {reply['ename']}: {reply['evalue']}")
        page = Page(client)
        page.attach()
        request = client.execute(PROGRAM.format(n_tasks=n_tasks))
        arrived, cell_s = received(client, page, request)
    stream = b"".join(message.frames for message in arrived)
    sent = n_tasks_in(stream)
    p50_ms, p95_ms = np.quantile([message.latency_s for message in arrived], [0.5, 0.95]) * 1000
    rows = [
        ["tasks per second", f"{n_tasks / cell_s:,.0f}"],
        ["tasks computed / tasks sent", f"{n_tasks:,} / {sent:,}"],
        ["messages in all", str(len(arrived))],
        ["messages per second, most in any second", str(most_in_one_second(arrived))],
        ["bytes per task, its key and all else included", f"{len(stream) / sent:.1f}"],
        ["sent to received, p50 and p95, ms", f"{p50_ms:.1f} and {p95_ms:.1f}"],
    ]
    return [Table("The feed during one cell", ["what", "value"], rows)]


if __name__ == "__main__":
    main(__doc__, measure)
