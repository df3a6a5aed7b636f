"""The helper that keeps sampling while a C call in the watched process holds the interpreter's lock.

Run as a script with ``python -I -S``, it imports only what starts in milliseconds. It forks once, so that it
is no child of the watched process: that process's own waiting for children is not disturbed, and it does
not count itself. A line of its input is the seconds between samples, an empty one means none. It writes
one line per sample: time, resident bytes, the most of them since the sample before (``nan`` where unknown),
how many threads were ready to run and in which part of its counts any was (``nan`` where unknown), then
``pid=cpu_seconds`` for each process. The most is the kernel's own mark, which is reset with each sample: it
is known of one process without children only, and where ``1`` follows the seconds in the input. It ends when
its input closes or when the watched process is gone.
"""

from __future__ import annotations

import contextlib
import math
import os
import select
import sys
import time

_CPUCLOCK_SCHED = 2
_ATTEMPTS = 3
_PROMPT_S = 0.001
_PAGE = os.sysconf("SC_PAGE_SIZE")
_IDLE_S = 5.0
_COUNT_S = 0.02
_COUNT_REST = 200
"""To count takes about a tenth of a millisecond: half a percent of a core at most goes into it."""
_LEAST_COUNTS = 2


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


def cpu_seconds(members: list[int]) -> tuple[float, list[str]]:
    """Return when the CPU clocks of these processes were read, and ``pid=cpu_seconds`` of each."""
    found: list[str] = []
    start = stop = 0.0
    for _ in range(_ATTEMPTS):
        found = []
        start = time.perf_counter()
        for member in members:
            with contextlib.suppress(OSError):  # it has ended
                found.append(f"{member}={time.clock_gettime(~member << 3 | _CPUCLOCK_SCHED)!r}")
        stop = time.perf_counter()
        # Who is interrupted here reads clocks that are later than the time it says they were read at.
        if stop - start < _PROMPT_S:
            break
    return (start + stop) / 2, found


def threads_of(members: list[int]) -> list[str]:
    """Return the folders of all threads of these processes."""
    found = []
    for member in members:
        with contextlib.suppress(OSError):  # it has ended
            found += [f"/proc/{member}/task/{thread}" for thread in os.listdir(f"/proc/{member}/task")]
    return found


def ready(members: list[int]) -> int:
    """Return how many threads of these processes run, or would if a core were free."""
    return sum(read(f"{thread}/stat").rpartition(b")")[2][:2] == b" R" for thread in threads_of(members))


class ReadyTime:
    """For how long threads ran or were kept waiting for a core, by the kernel's account of each of them.

    Of a thread that ends what is after the sample before is lost. Some kernels keep no such account.
    """

    def __init__(self) -> None:
        self._last: dict[str, int] = {}
        self._taken_at = 0.0

    def taken(self, members: list[int], now: float) -> float:
        """Return how many threads were ready on average since this was asked for last; nan if unknown."""
        read_now = {thread: read(f"{thread}/schedstat").split() for thread in threads_of(members)}
        known = {thread: int(one[0]) + int(one[1]) for thread, one in read_now.items() if one}
        last, self._last = self._last, known
        since, self._taken_at = self._taken_at, now
        if not known or not last or now <= since:
            return float("nan")
        return sum(ns - last.get(thread, 0) for thread, ns in known.items()) / 1e9 / (now - since)

    def forget(self) -> None:
        """Begin anew: what is until the next sample is nobody's."""
        self._last = {}


class ReadyCounts:
    """Counts the threads that are ready, at moments that no rhythm of theirs meets, and at little cost."""

    def __init__(self) -> None:
        self.due = 0.0
        self._counts: list[int] = []

    def count(self, members: list[int]) -> None:
        """Count now."""
        start = time.process_time()
        self._counts.append(ready(members))
        now = time.perf_counter()
        pause = max(_COUNT_S, _COUNT_REST * (time.process_time() - start))
        # From half of it to half as much again: the last digits of the clock are as good as a die.
        self.due = now + pause * (0.5 + now * 1e6 % 1)

    def taken(self) -> tuple[float, float]:
        """Return mean and part of the counts since this was asked for last; a single one says nothing."""
        counts, self._counts = self._counts, []
        if len(counts) < _LEAST_COUNTS:
            return float("nan"), float("nan")
        return sum(counts) / len(counts), sum(map(bool, counts)) / len(counts)


def take_peak(pid: int) -> float:
    """Return the most resident bytes since the kernel's mark was reset, and reset it."""
    status = read(f"/proc/{pid}/status")
    try:
        with open(f"/proc/{pid}/clear_refs", "wb") as file:
            file.write(b"5")
        return int(status.partition(b"VmHWM:")[2].split(None, 1)[0]) * 1024.0
    except (OSError, IndexError):
        return float("nan")


def sample(members: list[int], counts: ReadyCounts, times: ReadyTime, *, with_peak: bool) -> bytes:
    """Return one line about these processes."""
    now, cpu = cpu_seconds(members)
    rss_bytes = 0
    for member in members:
        with contextlib.suppress(IndexError):  # it has ended
            rss_bytes += int(read(f"/proc/{member}/statm").split()[1]) * _PAGE
    peak = take_peak(members[0]) if with_peak and len(members) == 1 else float("nan")
    mean, share = counts.taken()
    exact = times.taken(members, now)
    mean = mean if math.isnan(exact) else exact
    return f"{now!r} {rss_bytes} {peak!r} {mean!r} {share!r} {' '.join(cpu)}\n".encode()


def watch(pid: int, launcher: int) -> None:
    """Write a line as often as the input says."""
    dt, due, counts, times, members = None, 0.0, ReadyCounts(), ReadyTime(), [pid]
    with_peak = False
    while os.path.exists(f"/proc/{pid}"):
        wait = _IDLE_S
        if dt is not None:
            if time.perf_counter() >= counts.due:
                counts.count(members)
            if time.perf_counter() >= due:
                members = family(pid, (launcher, os.getpid()))
                os.write(1, sample(members, counts, times, with_peak=with_peak))
                due = max(due + dt, time.perf_counter())
            wait = max(min(due, counts.due) - time.perf_counter(), 0)
        if select.select([0], [], [], wait)[0]:
            commands = os.read(0, 4096)
            if not commands:
                return
            newest = commands.split(b"\n")[-2].split()
            dt, due = float(newest[0]) if newest else None, time.perf_counter()
            with_peak = newest[1:] == [b"1"]
            times.forget()


if __name__ == "__main__":
    launcher = os.getpid()
    if os.fork():
        os._exit(0)
    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        watch(int(sys.argv[1]), launcher)
