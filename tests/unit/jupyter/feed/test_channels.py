"""What we use of the comm package and of ipykernel; these tests fail when either changes it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from taskscope.jupyter.adapter.channels import KernelChannels
from tests.support.kernel import Kernel

SETUP = """
import threading
from comm import get_comm_manager
from taskscope.jupyter.adapter.channels import KernelChannels
channels = KernelChannels()
log, events, opened = [], [], []
got = threading.Event()
def on_open(channel, data):
    opened.append(channel)
    log.append(("opened", data, threading.current_thread() is threading.main_thread()))
    channel.listen(on_message, lambda: log.append("closed"))
def on_message(data):
    log.append(("message", data, threading.current_thread() is threading.main_thread()))
    opened[-1].send({"echo": data}, [b"bytes", b""])
    got.set()
channels.register("probe", on_open)
get_comm_manager().register_target("ordinary", lambda comm, _: comm.on_msg(lambda _: None))
def noted(name):
    return lambda *_: events.append(name)
hooks = {name: noted(name) for name in ("pre_execute", "post_execute")}
for name, hook in hooks.items():
    get_ipython().events.register(name, hook)
"""
TEARDOWN = """
channels.unregister("probe")
for name, hook in hooks.items():
    get_ipython().events.unregister(name, hook)
"""
ids = (f"comm{n}" for n in count())


@pytest.fixture
def target(kernel: Kernel) -> Iterator[Kernel]:
    """Return a kernel where pages can open comms of the target ``probe``."""
    kernel.run(SETUP)
    yield kernel
    kernel.run(TEARDOWN)


def open_comm(kernel: Kernel, name: str = "probe", subshell: str | None = None) -> str:
    comm_id = next(ids)
    content = {"comm_id": comm_id, "target_name": name, "data": {"page": "p"}}
    kernel.send("comm_open", content, subshell=subshell)
    return comm_id


def value(kernel: Kernel, expression: str) -> object:
    return ast.literal_eval(kernel.run(expression).text())


def on_comm(messages: list[dict[str, Any]], comm_id: str) -> list[tuple[str, object, list[bytes]]]:
    """Return what the kernel sent on a comm: type, data, buffers."""
    return [
        (m["msg_type"], m["content"]["data"], [bytes(b) for b in m["buffers"]])
        for m in messages
        if m["content"].get("comm_id") == comm_id
    ]


def test_a_page_opens_a_channel_asks_is_answered_with_buffers_and_closes(target: Kernel) -> None:
    comm_id = open_comm(target)
    target.send("comm_msg", {"comm_id": comm_id, "data": {"verb": "hello"}})
    target.send("comm_close", {"comm_id": comm_id, "data": {}})
    said = on_comm(target.until_quiet(), comm_id)
    assert said == [("comm_msg", {"echo": {"verb": "hello"}}, [b"bytes", b""])]
    assert value(target, "log") == [
        ("opened", {"page": "p"}, True),
        ("message", {"verb": "hello"}, True),
        "closed",
    ]


def events_of(kernel: Kernel, comm_id: str | None) -> object:
    """Return which of IPython's events a message on a comm fires, and those of the cells around it."""
    kernel.run("events.clear()")
    if comm_id is not None:
        kernel.send("comm_msg", {"comm_id": comm_id, "data": {}})
    kernel.until_quiet()
    return value(kernel, "events")


def test_a_message_fires_none_of_the_events_that_delimit_cells(target: Kernel) -> None:
    ours, others = open_comm(target), open_comm(target, "ordinary")
    target.until_quiet()
    of_none = events_of(target, None)
    assert events_of(target, ours) == of_none
    # Or this would not have been seen.
    assert events_of(target, others) != of_none


def test_the_kernel_closes_a_channel_and_the_page_is_told(target: Kernel) -> None:
    comm_id = open_comm(target)
    target.until_quiet()
    said = target.run("opened[-1].close()").messages
    assert on_comm(said, comm_id) == [("comm_close", {}, [])]


def test_a_target_that_is_no_longer_registered_is_closed_at_once(target: Kernel) -> None:
    target.run("channels.unregister('probe'); channels.unregister('probe')")
    comm_id = open_comm(target)
    assert on_comm(target.until_quiet(), comm_id) == [("comm_close", {}, [])]
    assert value(target, "log") == []


def test_an_announcement_is_one_message_that_opens_nothing_and_closes_nothing(target: Kernel) -> None:
    said = target.run("channels.announce('news', {'epoch': 'e'}); import gc; gc.collect();").messages
    about_comms = [(m["msg_type"], m["content"]) for m in said if m["msg_type"].startswith("comm_")]
    assert about_comms == [("comm_msg", {"comm_id": "news", "data": {"epoch": "e"}})]


def test_on_a_subshell_a_channel_is_answered_while_a_cell_runs(target: Kernel) -> None:
    subshell = target.ask_control("create_subshell_request")["subshell_id"]
    comm_id = open_comm(target, subshell=subshell)
    target.send("comm_msg", {"comm_id": comm_id, "data": {"verb": "renew"}}, subshell=subshell)
    # The cell goes on only once the message has been handled.
    said = target.run("got.wait(30)")
    assert said.text() == "True"
    assert value(target, "log") == [
        ("opened", {"page": "p"}, False),
        ("message", {"verb": "renew"}, False),
    ]


def test_without_a_kernel_channels_lead_nowhere() -> None:
    channels = KernelChannels()
    channels.register("probe", lambda *_: None)
    channels.announce("news", {"epoch": "e"})
    channels.unregister("probe")
    channels.unregister("probe")
