"""The check that every test runs under sees what it is there for."""

from __future__ import annotations

import socket
import threading
from dataclasses import replace

import pytest

from tests.support import leak_check
from tests.support.resources import Held, held_now


def test_an_open_socket_counts_where_a_thread_of_ours_made_it() -> None:
    made: list[socket.socket] = []
    before = held_now()
    for name in ("taskscope-cluster", "IO loop"):
        thread = threading.Thread(target=lambda: made.append(socket.socket()), name=name)
        thread.start()
        thread.join()
    ours, theirs = made
    try:
        assert held_now().our_sockets - before.our_sockets == {repr(ours)}
    finally:
        ours.close()
        theirs.close()
    assert held_now().our_sockets == before.our_sockets


def test_what_comes_and_goes_is_not_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = Held(*[frozenset[str]()] * 6)
    reading = replace(nothing, file_descriptors=frozenset({"12 -> /proc/99/stat"}))
    looks = iter([reading, nothing, reading, reading])
    monkeypatch.setattr(leak_check, "held_now", lambda: next(looks))
    assert leak_check._left_after_settling(nothing) == []
    assert list(looks) == [reading, reading]
