"""Read CPU time and resident memory of this process and its children."""

from __future__ import annotations

import contextlib
import math
import os
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

__all__ = ["ProcessReading", "read_processes", "take_peak"]

_CPUCLOCK_SCHED = 2


@dataclass(frozen=True, slots=True)
class ProcessReading:
    """What the operating system says at one moment.

    Parameters
    ----------
    cpu_s
        CPU seconds used so far, by process id.
    rss_bytes
        Resident bytes of all of them together; memory they share is counted in each.
    ready_threads, active_share
        How many threads ran or waited for a core, in the mean of several counts, and in which part of these
        there were any; NaN where nobody counted.
    peak_bytes
        The most resident bytes since the reading before; NaN where that was not asked for or is not known.
    """

    cpu_s: dict[int, float]
    rss_bytes: int
    ready_threads: float = math.nan
    active_share: float = math.nan
    peak_bytes: float = math.nan


def read_processes() -> ProcessReading:
    """Read this process and all its children, found anew each time; no peak."""
    # Before anything that may wait: the caller has just looked at the clock, and a busy thread that gets the
    # interpreter's lock meanwhile would be counted into a time that is over.
    own_s = _clock_s(os.getpid())
    own = psutil.Process()
    processes = [own]
    if _has_children():
        with contextlib.suppress(psutil.Error):
            processes += own.children(recursive=True)
    cpu_s: dict[int, float] = {}
    rss_bytes = 0
    for process in processes:
        # A child may end between being listed and being read.
        with contextlib.suppress(psutil.Error, OSError):
            rss_bytes += process.memory_info().rss
            cpu_s[process.pid] = own_s if process is own and own_s is not None else _cpu_s(process)
    return ProcessReading(cpu_s, rss_bytes)


def take_peak() -> float:
    """Return the kernel's mark of the most resident bytes, and reset it; NaN: there is none."""
    try:
        status = Path("/proc/self/status").read_bytes()
        Path("/proc/self/clear_refs").write_bytes(b"5")
        return int(status.partition(b"VmHWM:")[2].split(None, 1)[0]) * 1024.0
    except (OSError, IndexError):
        return math.nan


def _cpu_s(process: psutil.Process) -> float:
    seconds = _clock_s(process.pid)
    if seconds is not None:
        return seconds
    times = process.cpu_times()
    return float(times.user + times.system)


def _clock_s(pid: int) -> float | None:
    try:
        # Linux: the process CPU clock, to the nanosecond (clock_getcpuclockid(3)); /proc steps by 10 ms.
        return time.clock_gettime(~pid << 3 | _CPUCLOCK_SCHED)
    except (OSError, AttributeError):
        return None


def _has_children() -> bool:
    """Ask the kernel in a microsecond what listing all processes takes a millisecond for."""
    if not hasattr(os, "waitid"):
        return True
    try:
        # WNOWAIT: nothing is reaped, so nobody's subprocess loses its exit status.
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True
