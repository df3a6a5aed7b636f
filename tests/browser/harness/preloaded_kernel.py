"""Kernels that are forked from a process which has imported what they need.

A kernel that imports ipykernel, Dask and taskscope takes two seconds and a half of processor time, more than
most tests take for all else. ``serve`` is the process from which kernels are forked. ``connect`` is the one
that Jupyter starts: it has a kernel forked, forwards signals to it, and ends with it.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import os
import select
import signal
import socket
import sys
from pathlib import Path
from typing import Any

IMPORTED = (
    "dask.array",
    "dask.threaded",
    "distributed",
    "ipykernel.debugger",
    "ipykernel.kernelapp",
    "ipykernel.subshell_manager",
    "taskscope.jupyter.feed",
    "taskscope.profiling",
    "taskscope.session",
)
"""Not ipywidgets, which registers its comm targets with the kernel that imports it."""


def connect(path: str, arguments: list[str]) -> int:
    """Have a kernel forked, forward signals to it, and return its exit status."""
    request = repr((arguments, dict(os.environ), str(Path.cwd()))).encode()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        socket.send_fds(connection, [len(request).to_bytes(4, "big")], [0, 1, 2])
        connection.sendall(request)
        pid = int.from_bytes(_received(connection, 4), "big")
        # Jupyter interrupts the process group of what it has started; the kernel has a group of its own.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda number, _: os.killpg(pid, number))
        return int.from_bytes(_received(connection, 1), "big")


def serve(listener: socket.socket) -> list[str]:
    """Import the modules, then fork a kernel for each connection; return its arguments in each kernel."""
    del sys.path[0]
    for name in IMPORTED:
        importlib.import_module(name)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    kernels: dict[int, socket.socket] = {}
    while True:
        sources: list[Any] = [listener, woken, *kernels.values()]
        readable, _, _ = select.select(sources, [], [])
        # The process that Jupyter started was killed.
        for pid in [pid for pid, connection in kernels.items() if connection in readable]:
            os.killpg(pid, signal.SIGKILL)
        if woken in readable:
            os.read(woken, 512)
            _send_statuses(kernels)
        if listener in readable:
            connection, _ = listener.accept()
            pid, arguments = _fork(connection)
            if pid == 0:
                for one in (listener, connection, *kernels.values()):
                    one.close()
                os.close(woken)
                os.close(wake)
                return arguments
            kernels[pid] = connection


def _fork(connection: socket.socket) -> tuple[int, list[str]]:
    """Fork a kernel; return its process id, or 0 in the kernel, and its arguments."""
    head, descriptors, _, _ = socket.recv_fds(connection, 4, 3)
    request = _received(connection, int.from_bytes(head, "big"))
    arguments, environment, folder = ast.literal_eval(request.decode())
    pid = os.fork()
    if pid == 0:
        os.setsid()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for number, descriptor in enumerate(descriptors):
            os.dup2(descriptor, number)
        os.chdir(folder)
        os.environ.clear()
        # ipykernel ends with its parent, which Jupyter has not started.
        os.environ.update(environment | {"JPY_PARENT_PID": str(os.getppid())})
    else:
        connection.sendall(pid.to_bytes(4, "big"))
    for descriptor in descriptors:
        os.close(descriptor)
    return pid, arguments


def _send_statuses(kernels: dict[int, socket.socket]) -> None:
    """Send the exit statuses of the kernels that have ended, and forget these."""
    for pid in list(kernels):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            with kernels.pop(pid) as connection, contextlib.suppress(BrokenPipeError):
                connection.sendall(bytes([os.waitstatus_to_exitcode(status) & 0xFF]))


def _received(connection: socket.socket, n_bytes: int) -> bytes:
    received = b""
    while len(received) < n_bytes:
        part = connection.recv(n_bytes - len(received))
        if not part:
            raise ConnectionError("the other process has ended")
        received += part
    return received


if __name__ == "__main__":
    what, address, *rest = sys.argv[1:]
    if what == "connect":
        sys.exit(connect(address, rest))
    sys.argv = ["ipykernel_launcher", *serve(socket.socket(fileno=int(address)))]
    importlib.import_module("ipykernel.kernelapp").launch_new_instance()
