"""Somebody floods the way from kernel to page while a compute is profiled: nobody loses anything by it."""

from __future__ import annotations

import ast
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.support.kernel import Kernel, running_kernel
from tests.support.waiting import PATIENCE_S
from tests.support.wire_decoder import PageReader

N_TASKS = 1_000
N_LINES = 400
N_MESSAGES = 4_000
SETUP = f"""
%load_ext taskscope
import comm, threading, time
import dask.threaded, taskscope
from dask._task_spec import Task
from taskscope.jupyter.feed import pages
# One page renews once, the other never: on a busy machine the flood lasts longer than a lease.
pages.LEASE_S = {PATIENCE_S}
somebody = comm.create_comm(target_name="somebody.else")
over = threading.Event()

def flood(seconds=2, steps=200):
    '''Print 2 MB a second and send 2,000 messages a second, evenly, or as fast as this machine can.'''
    start_s = time.perf_counter()
    for step in range(steps):
        for number in range(step * {N_MESSAGES} // steps, (step + 1) * {N_MESSAGES} // steps):
            somebody.send({{"number": number}})
        for number in range(step * {N_LINES} // steps, (step + 1) * {N_LINES} // steps):
            print(f"{{number:03}}", "x" * 9_995)
        time.sleep(max(0, start_s + (step + 1) * seconds / steps - time.perf_counter()))

def flood_once():
    try:
        flood()
    finally:
        over.set()

def double(number):
    time.sleep(0.002)
    return 2 * number

graph = {{("double", i): Task(("double", i), double, i) for i in range({N_TASKS})}}
graph["flooded"] = Task("flooded", over.wait)
somebody.comm_id
"""
PROFILED = """
flooding = threading.Thread(target=flood_once)
with taskscope.profile(display=False) as run:
    flooding.start()
    result = dask.threaded.get(graph, list(graph), num_workers=4)
flooding.join()
"""
RECORDED = """
recording = run.recording
tasks = recording.to_pandas("tasks")
(
    sum(result[:-1]),
    [(one.status, one.n_tasks) for one in recording.runs],
    sorted(tasks["key"]) == sorted(map(str, graph)),
    set(tasks["status"]),
    recording.dropped,
    [message.text for message in recording.messages],
)
"""


@dataclass
class Page:
    """Attaches to a kernel's feed as a page does, on a subshell, and keeps the batches it is sent."""

    kernel: Kernel
    control: str = field(default_factory=lambda: uuid.uuid4().hex)
    data: str = field(default_factory=lambda: uuid.uuid4().hex)
    batches: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    _reader: PageReader = field(default_factory=PageReader)

    def attach(self) -> None:
        self._subshell = self.kernel.ask_control("create_subshell_request")["subshell_id"]
        page = {"protocol": 1, "page": uuid.uuid4().hex}
        for comm_id, target in ((self.control, "taskscope.control"), (self.data, "taskscope.data")):
            self._send("comm_open", {"comm_id": comm_id, "target_name": target, "data": page})
        self.ask("hello")
        self.kernel.until(lambda message: self.hears(message) and self.batches != [])

    def ask(self, verb: str) -> None:
        self._send("comm_msg", {"comm_id": self.control, "data": {"verb": verb}})

    def hears(self, message: dict[str, Any]) -> bool:
        """Keep a message if it is for this page; return whether it is."""
        content = message["content"]
        if content.get("comm_id") == self.control:
            self.answers.append(content["data"]["re"])
        elif content.get("comm_id") == self.data:
            batch = self._reader.read([bytes(b) for b in message["buffers"]])
            self.keys += [row.key for row in batch["rows"]]
            self.batches.append(batch)
        else:
            return False
        return True

    def is_whole(self) -> bool:
        """Return whether the last batch is the one after the end."""
        return bool(self.batches[-1]["final"] and self.batches[-1]["cursor"] == N_TASKS + 1)

    def _send(self, kind: str, content: dict[str, Any]) -> None:
        self.kernel.send(kind, content, metadata={"taskscope": True}, subshell=self._subshell)


@dataclass
class Listener:
    """Sorts what a kernel publishes while a cell floods it."""

    cell: str
    somebody: str
    pages: list[Page]
    numbers: list[int] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)
    is_idle: bool = False

    def is_last(self, message: dict[str, Any]) -> bool:
        """Take a message; return whether the cell and both pictures are complete."""
        content = message["content"]
        if content.get("comm_id") == self.somebody:
            self.numbers.append(content["data"]["number"])
            if self.numbers == [0]:
                self.pages[0].ask("renew")
        elif not any(page.hears(message) for page in self.pages):
            self._hears_cell(message)
        return self.is_idle and all(p.is_whole() for p in self.pages) and "renew" in self.pages[0].answers

    def _hears_cell(self, message: dict[str, Any]) -> None:
        if message["parent_header"].get("msg_id") == self.cell:
            if message["msg_type"] == "stream":
                self.printed.append(message["content"]["text"])
            self.is_idle |= message["content"].get("execution_state") == "idle"


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    with running_kernel() as kernel:
        yield kernel


def test_a_flood_of_prints_and_messages_costs_neither_tasks_nor_output_nor_the_picture(
    kernel: Kernel,
) -> None:
    somebody = ast.literal_eval(kernel.run(SETUP).text())
    pages = [Page(kernel), Page(kernel)]
    for page in pages:
        page.attach()
    heard = Listener(kernel.start(PROFILED), somebody, pages)
    kernel.until(heard.is_last)
    assert ast.literal_eval(kernel.run(RECORDED).text()) == (
        N_TASKS * (N_TASKS - 1),
        [("finished", N_TASKS + 1)],
        True,
        {"finished"},
        0,
        [],
    )
    assert "".join(heard.printed) == "".join(f"{number:03} {'x' * 9_995}\n" for number in range(N_LINES))
    assert heard.numbers == list(range(N_MESSAGES))
    for page in pages:
        assert_whole(page)
    sent_s = sorted(batch["now_s"] for page in pages for batch in page.batches)
    # Ten in any second, of all pages: each is a second after the one ten before it, but for rounding.
    assert [b - a for a, b in zip(sent_s, sent_s[10:], strict=False) if b - a < 1 - 1e-5] == []


def assert_whole(page: Page) -> None:
    """Assert that the page's picture is what was computed."""
    batches = page.batches
    assert [batch["seq"] for batch in batches] == list(range(len(batches)))
    counts = [batch["count"] for batch in batches]
    assert [batch["first"] for batch in batches] == [sum(counts[:i]) for i in range(len(counts))]
    assert sorted(page.keys) == sorted(["flooded", *(str(("double", i)) for i in range(N_TASKS))])
    last_run = [run for batch in batches for run in batch["runs"]][-1]
    assert (last_run["status"], last_run["n_tasks"], batches[-1]["running"]) == ("finished", N_TASKS + 1, [])
    progress = {row[1]: row[2:7] for batch in batches for row in batch["progress"]}
    assert progress == {"double": (N_TASKS, N_TASKS, 0, 0, 0), "flooded": (1, 1, 0, 0, 0)}
