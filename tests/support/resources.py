"""What a process holds and must give back, as plain sets that can be compared."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cache
from multiprocessing import forkserver, resource_tracker
from pathlib import Path
from socket import socket
from typing import Any
from weakref import ref

import psutil

OPEN_FILES = Path("/proc/self/fd")
_KNOWS_CHILDREN = Path(f"/proc/self/task/{threading.main_thread().native_id}/children").exists()

DISTRIBUTED_THREADS = ("Dask-Offload", "Dask-Default-Threads", "Profile", "IO loop", "TCP-Executor")
"""Threads that distributed starts when it first needs them, and ends when it pleases; none is ours."""

OUR_THREADS = "taskscope"
"""What the names of our threads begin with."""

_our_sockets: list[ref[socket]] = []


@cache
def watch_sockets() -> None:
    """Know the sockets that our threads make from now on, among all those that distributed makes."""

    def heard(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "socket.__new__" and threading.current_thread().name.startswith(OUR_THREADS):
            _our_sockets.append(ref(arguments[0]))

    sys.addaudithook(heard)


@dataclass(frozen=True, slots=True)
class Held:
    """Everything a test may leave behind, each described as the person who reads it needs it."""

    threads: frozenset[str]
    child_processes: frozenset[str]
    file_descriptors: frozenset[str]
    dask_callbacks: frozenset[str]
    session_holds: frozenset[str]
    our_sockets: frozenset[str]

    def beyond(self, earlier: Held) -> list[str]:
        """Return one line per thing held now that was not held earlier."""
        return [
            f"{field.name.replace('_', ' ')}: {thing}"
            for field in fields(self)
            for thing in sorted(getattr(self, field.name) - getattr(earlier, field.name))
        ]


def held_now() -> Held:
    return Held(
        threads=frozenset(f"{t.name} (ident {t.ident})" for t in unpooled_threads()),
        child_processes=frozenset(_child_processes()),
        file_descriptors=frozenset(_file_descriptors()),
        dask_callbacks=frozenset(_dask_callbacks()),
        session_holds=frozenset(_session_holds()),
        our_sockets=frozenset(_open_sockets()),
    )


def unpooled_threads() -> list[threading.Thread]:
    """Return the live threads, without those that Dask and Playwright keep for their next use."""
    pooled = _dask_pool_threads()
    kept = ("asyncio_", *DISTRIBUTED_THREADS)
    return [t for t in threading.enumerate() if t not in pooled and not t.name.startswith(kept)]


def _dask_pool_threads() -> set[threading.Thread]:
    threaded: Any = sys.modules.get("dask.threaded")
    if threaded is None:
        return set()
    pools = [threaded.default_pool, *(p for sizes in threaded.pools.values() for p in sizes.values())]
    return {thread for pool in pools for thread in getattr(pool, "_threads", ())}


def _child_processes() -> list[str]:
    # multiprocessing starts these two once per process and never ends them; the second starts workers for us.
    tracker = getattr(resource_tracker._resource_tracker, "_pid", None)
    server = getattr(forkserver._forkserver, "_forkserver_pid", None)
    found = [*_children(os.getpid()), *(() if server is None else _children(server))]
    return [_described(child) for child in found if child not in {tracker, server}]


def _children(process: int) -> list[int]:
    if not _KNOWS_CHILDREN:
        return [child.pid for child in psutil.Process(process).children()]
    # As psutil, which reads of every process of the machine whose child it is: 3 ms, twice a test.
    found: list[int] = []
    for thread in Path(f"/proc/{process}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread that has ended
            found += map(int, (thread / "children").read_text().split())
    return found


def _described(child: int) -> str:
    try:
        return f"pid {child} ({' '.join(psutil.Process(child).cmdline())[:80]})"
    except psutil.Error:
        return f"pid {child} (ended)"


def _file_descriptors() -> list[str]:
    kept = {
        getattr(resource_tracker._resource_tracker, "_fd", None),
        getattr(forkserver._forkserver, "_forkserver_alive_fd", None),
    }
    found = []
    for descriptor in OPEN_FILES.iterdir() if OPEN_FILES.is_dir() else ():
        try:
            target = descriptor.readlink()
        except FileNotFoundError:
            continue  # the descriptor that was listing the directory
        # Clients and clusters of distributed open connections as they need them; `_open_sockets` has ours.
        is_distributed = "distributed" in sys.modules and str(target).startswith(("socket:", "anon_inode:"))
        if int(descriptor.name) not in kept and not is_distributed:
            found.append(f"{descriptor.name} -> {target}")
    return found


def _open_sockets() -> list[str]:
    made = [known() for known in tuple(_our_sockets)]
    return [repr(found) for found in made if found is not None and found.fileno() != -1]


def _dask_callbacks() -> list[str]:
    callbacks: Any = sys.modules.get("dask.callbacks")
    registration: Any = sys.modules.get("taskscope.sources.local.adapter.registration")
    active = [] if callbacks is None else list(callbacks.Callback.active)
    always = [] if registration is None else list(registration._in_all)
    return [repr(entry) for entry in (*active, *always)]


def _session_holds() -> list[str]:
    module: Any = sys.modules.get("taskscope.session")
    session = None if module is None else module._current.made
    return [] if session is None else [repr(owner) for owner, _ in list(session._holders.values())]
