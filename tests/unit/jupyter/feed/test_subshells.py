"""How pages' subshells are deleted; these tests fail when ipykernel changes how it does that."""

from __future__ import annotations

from typing import Any

from tests.support.kernel import Kernel

OURS = {"taskscope": True}
SETUP = """
import re, time
from comm import get_comm_manager
from taskscope.jupyter.adapter.kernel import suppress_status
from taskscope.jupyter.adapter.kernel import delete_in_turn
handled = []
def opened(comm, message):
    comm.handle_msg = lambda message: handled.append(message["content"]["data"])
get_comm_manager().register_target("probe", opened)
undos = [suppress_status(), delete_in_turn()]
"""
# A regular expression of this kind holds the interpreter's lock from beginning to end.
HOLD = """
from IPython.display import display
n, took_s = 16, 0
while took_s < 0.4:
    n, began_s = n + 1, time.monotonic()
    re.match("(a+)+$", "a" * n + "b")
    took_s = time.monotonic() - began_s
display("holds")
re.match("(a+)+$", "a" * (n + 1) + "b")
"""


def send_all(kernel: Kernel, subshell: str) -> None:
    """Send what a page sends that opens a comm, asks often, and goes."""
    content: dict[str, Any] = {"comm_id": subshell, "target_name": "probe", "data": {}}
    kernel.send("comm_open", content, metadata=OURS, subshell=subshell)
    for i in range(5):
        kernel.send("comm_msg", {"comm_id": subshell, "data": i}, metadata=OURS, subshell=subshell)
    kernel.send("delete_subshell_request", {"subshell_id": subshell}, metadata=OURS, subshell=subshell)


def test_a_subshell_goes_when_all_is_handled_though_a_call_held_the_lock(kernel: Kernel) -> None:
    kernel.run(SETUP)
    subshell = kernel.ask_control("create_subshell_request")["subshell_id"]

    def send_then(message: dict[str, Any]) -> None:
        if message["msg_type"] == "display_data":
            send_all(kernel, subshell)

    said = kernel.run(HOLD, send_then)
    while subshell in kernel.ask_control("list_subshell_request")["subshell_id"]:
        pass
    assert kernel.run("handled").text() == "[0, 1, 2, 3, 4]"
    # Not a word of asyncio's in the cell of the user, nor later.
    assert [said.of("stream"), [m for m in kernel.until_quiet() if m["msg_type"] == "stream"]] == [[], []]
    kernel.run("for undo in undos: undo()")


def test_the_kernel_is_as_it_was_afterwards(kernel: Kernel) -> None:
    kernel.run(SETUP)
    known = "'delete_subshell_request' in get_ipython().kernel.shell_handlers"
    assert kernel.run(known).text() == "True"
    kernel.run("for undo in undos: undo()")
    assert kernel.run(known).text() == "False"
