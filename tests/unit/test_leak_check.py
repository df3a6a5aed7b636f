"""The check that every test runs under sees what it is there for."""

from __future__ import annotations

import socket
import threading

from tests.support.resources import held_now


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
