"""The helper that keeps sampling while a C call in the watched process holds the interpreter's lock.

Run as a script with ``python -I -S``, it imports only what starts in milliseconds. It forks once, so that it
is no child of the watched process: that process's own waiting for children is not disturbed, and it does
not count itself. It writes one line per sample: time, resident bytes, then ``pid=cpu_seconds`` for each
process. It ends when told to, when its input closes, or when the watched process is gone.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
import time

_CPUCLOCK_SCHED = 2
_PAGE = os.sysconf("SC_PAGE_SIZE")


def family(pid: int, ignored: tuple[int, ...]) -> list[int]:
    """Return the ids of a process and of all its descendants but the ignored."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) not in ignored:
            stat = read(f"/proc/{name}/stat")
            if stat:
                children.setdefault(int(stat.rpartition(b")")[2].split()[1]), []).append(int(name))
    found = [pid]
    for member in found:
        found.extend(children.get(member, ()))
    return found


def read(path: str) -> bytes:
    """Return what a file of ``/proc`` says, nothing if its process is gone."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def sample(pid: int, ignored: tuple[int, ...]) -> bytes:
    """Return one line about a process and its descendants."""
    rss_bytes, cpu = 0, []
    now = time.perf_counter()
    for member in family(pid, ignored):
        try:
            rss_bytes += int(read(f"/proc/{member}/statm").split()[1]) * _PAGE
            cpu.append(f"{member}={time.clock_gettime(~member << 3 | _CPUCLOCK_SCHED)!r}")
        except (OSError, IndexError):
            continue
    return f"{now!r} {rss_bytes} {' '.join(cpu)}\n".encode()


def watch(pid: int, dt: float, launcher: int) -> None:
    """Write a line every `dt` seconds until the input says anything or closes."""
    due = time.perf_counter()
    while os.path.exists(f"/proc/{pid}"):
        os.write(1, sample(pid, (launcher, os.getpid())))
        due = max(due + dt, time.perf_counter())
        if select.select([0], [], [], max(due - time.perf_counter(), 0))[0]:
            return


if __name__ == "__main__":
    launcher = os.getpid()
    if os.fork():
        os._exit(0)
    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        watch(int(sys.argv[1]), float(sys.argv[2]), launcher)
