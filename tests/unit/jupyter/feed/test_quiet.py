"""The private names of ipykernel that keep our messages quiet; these tests fail when it changes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.kernel import Kernel

OURS = {"taskscope": True}
SETUP = """
import threading
from comm import get_comm_manager
from IPython.display import display
from taskscope.jupyter.adapter.kernel import suppress_status
go, done = threading.Event(), threading.Event()
def say():
    go.wait(30)
    print("from a thread")
    display("shown by a thread")
    done.set()
def opened(comm, message):
    go.set()
    done.wait(30)
    comm.send({"parent": get_ipython().kernel.get_parent()["header"]["msg_id"]})
get_comm_manager().register_target("probe", opened)
"""
START_THREAD = "go.clear(); done.clear(); threading.Thread(target=say).start()"


@pytest.fixture
def quiet_kernel(kernel: Kernel) -> Iterator[Kernel]:
    kernel.run(SETUP + "undo = suppress_status()")
    yield kernel
    kernel.run("undo()")


def open_probe(kernel: Kernel, comm_id: str, metadata: dict[str, Any]) -> str:
    content = {"comm_id": comm_id, "target_name": "probe", "data": {}}
    return kernel.send("comm_open", content, metadata=metadata)


def said_about(messages: list[dict[str, Any]], request: str) -> list[str]:
    """Return the types of the messages that belong to a request."""
    return [m["msg_type"] for m in messages if m["parent_header"].get("msg_id") == request]


def test_our_message_makes_the_kernel_neither_busy_nor_idle(quiet_kernel: Kernel) -> None:
    quiet_kernel.run("go.set(); done.set()")
    opening = open_probe(quiet_kernel, "first", OURS)
    closing = quiet_kernel.send("comm_close", {"comm_id": "first", "data": {}}, metadata=OURS)
    messages = quiet_kernel.until_quiet()
    assert (said_about(messages, opening), said_about(messages, closing)) == (["comm_msg"], [])
    # The answer names the request, so the handler itself had the right parent.
    (answer,) = [m["content"]["data"] for m in messages if m["msg_type"] == "comm_msg"]
    assert answer == {"parent": opening}


def test_messages_of_others_are_handled_as_ever(quiet_kernel: Kernel) -> None:
    quiet_kernel.run("go.set(); done.set()")
    opening = open_probe(quiet_kernel, "unmarked", {})
    assert said_about(quiet_kernel.until_quiet(), opening) == ["status", "comm_msg", "status"]


def test_what_a_thread_prints_and_shows_still_goes_to_its_cell(quiet_kernel: Kernel) -> None:
    cell = quiet_kernel.run(START_THREAD).request
    opening = open_probe(quiet_kernel, "quiet", OURS)
    messages = quiet_kernel.until_quiet()
    assert (said_about(messages, cell), said_about(messages, opening)) == (
        ["stream", "display_data"],
        ["comm_msg"],
    )


def test_a_request_that_is_no_message_of_a_page_is_never_quiet(quiet_kernel: Kernel) -> None:
    request = quiet_kernel.send("comm_info_request", {}, metadata=OURS)
    assert said_about(quiet_kernel.until_quiet(), request) == ["status", "status"]


def test_what_is_asked_while_a_cell_runs_leaves_it_busy(quiet_kernel: Kernel) -> None:
    states = []

    def ask_then_stop(message: dict[str, Any]) -> None:
        states.append(message["content"].get("execution_state"))
        if message["msg_type"] == "display_data":
            quiet_kernel.ask_control("create_subshell_request")
        elif states.count("busy") == 2 and states[-1] == "busy":
            quiet_kernel.interrupt()

    said = quiet_kernel.run("display('runs')\nthreading.Event().wait(60)", ask_then_stop)
    assert said.reply["ename"] == "KeyboardInterrupt"
    # The second time after the kernel had said that it is idle about the subshell.
    assert [s["execution_state"] for s in said.of("status")] == ["busy", "busy"]


def test_the_kernel_is_as_it_was_afterwards(kernel: Kernel) -> None:
    names = "[n for n in ('set_parent', '_publish_status') if n in vars(get_ipython().kernel)]"
    kernel.run(SETUP + "undo = suppress_status()")
    assert kernel.run(names).text() == "['set_parent', '_publish_status']"
    kernel.run("undo()")
    assert kernel.run(names).text() == "[]"
