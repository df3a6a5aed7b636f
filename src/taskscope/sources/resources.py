"""CPU and memory of this process and its children: the operating system's figures, and the limits."""

from __future__ import annotations

import contextlib
import math
import mmap
import os
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from dask.system import CPU_COUNT

from taskscope.sources import kernel_files
from taskscope.sources.stacks import thread_cpu_s

OWN_THREADS = "taskscope"
"""The names of taskscope's threads begin with this."""
_CPUCLOCK_SCHED = 2
_LISTS_CHILDREN = Path("/proc/thread-self/children").exists()
"""Whether the kernel lists the children of a thread: psutil reads the files of all processes for that, each
of which gives the interpreter's lock away."""
_MAX_THREADS = 200
_MEMORY_FILES = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


def cpu_limit() -> int:
    """Return how many cores this process may use: Dask's own count, which includes cgroups and affinity."""
    return int(CPU_COUNT)


def memory_limit_bytes(files: tuple[Path, ...] = _MEMORY_FILES) -> int:
    """Return how many bytes of memory this process may use: the machine's, or its control group's if less."""
    limit = int(psutil.virtual_memory().total)
    for file in files:
        try:
            text = file.read_text(encoding="ascii").strip()
        except OSError:
            continue
        if text.isdigit() and int(text) > 0:
            limit = min(limit, int(text))
    return limit


@dataclass(frozen=True, slots=True)
class ProcessReading:
    """Counters of the operating system at one moment."""

    cpu_s: Mapping[int, float]
    """CPU seconds used up to now, by process id."""
    rss_bytes: int
    """Resident bytes of this process."""
    children_bytes: int
    """The same of its children together; memory they share is counted in each."""
    threads_s: Mapping[int, float] = field(default_factory=dict)
    """CPU seconds of the Python threads of this process, by thread identifier; empty where unknown."""
    own_s: Mapping[int, float] = field(default_factory=dict)
    """The same of taskscope's threads, which are not in `threads_s`."""
    ready_s: Mapping[str, float] = field(default_factory=dict)
    """Seconds that their threads but taskscope's ran or waited for a core, by thread; empty if unknown."""


def read_processes(own_natives: Collection[int] = (), *, with_ready: bool = False) -> ProcessReading:
    """Read this process and all its children; `own_natives` are kernel ids of more threads of taskscope."""
    # First of all: a busy thread that gets the interpreter's lock in between would be counted into a time
    # that is over.
    own_process_s = _clock_s(os.getpid())
    threads = threading.enumerate()
    threads_s, own_s = _threads(threads, own_natives)
    cpu_s: dict[int, float] = {}
    rss_bytes = _rss_bytes(os.getpid())
    if own_process_s is not None:
        cpu_s[os.getpid()] = own_process_s
    else:
        cpu_s[os.getpid()] = _cpu_s(os.getpid())
    children_bytes = 0
    for child in _descendants():
        # A child may end between being listed and being read.
        with contextlib.suppress(psutil.Error, OSError):
            children_bytes += _rss_bytes(child)
            cpu_s[child] = _cpu_s(child)
    own_ids = (*own_natives, *(thread.native_id for thread in threads if _is_own(thread)))
    ready_s = _ready_s(cpu_s, {str(native) for native in own_ids}) if with_ready else {}
    return ProcessReading(cpu_s, rss_bytes, children_bytes, threads_s, own_s, ready_s)


def _is_own(thread: threading.Thread) -> bool:
    return thread.name.startswith(OWN_THREADS)


def _threads(
    threads: Iterable[threading.Thread], own_natives: Iterable[int]
) -> tuple[dict[int, float], dict[int, float]]:
    """Return the CPU seconds of these Python threads, and of taskscope's among them and beside them."""
    threads_s: dict[int, float] = {}
    own_s: dict[int, float] = {}
    for thread in threads:
        seconds = None if thread.ident is None else thread_cpu_s(thread.ident)
        if seconds is not None and thread.ident is not None:
            (own_s if _is_own(thread) else threads_s)[thread.ident] = seconds
    for native in own_natives:
        native_s = _clock_s(native, of_thread=True)
        if native_s is not None:
            own_s[-native] = native_s
    return threads_s, own_s


def high_water_bytes() -> float:
    """Return the most resident bytes that this process ever had; NaN where the system does not count that."""
    try:
        status = kernel_files.read("/proc/self/status")
        return int(status.partition(b"VmHWM:")[2].split(None, 1)[0]) * 1024.0
    except (OSError, IndexError):
        return math.nan


def _descendants() -> Iterator[int]:
    """Yield the children of this process, and theirs."""
    if not kernel_files.has_children():
        return
    if not _LISTS_CHILDREN:
        with contextlib.suppress(psutil.Error):
            yield from (child.pid for child in psutil.Process().children(recursive=True))
        return
    waiting = [os.getpid()]
    while waiting:
        pid = waiting.pop()
        with contextlib.suppress(OSError):  # it has ended
            for thread in kernel_files.names(f"/proc/{pid}/task"):
                with contextlib.suppress(OSError):
                    text = kernel_files.read(f"/proc/{pid}/task/{thread}/children")
                    # Each number ends with a space; a very long list is cut off.
                    children = [*map(int, text.rpartition(b" ")[0].split())]
                    waiting += children
                    yield from children


def _rss_bytes(pid: int) -> int:
    try:
        return int(kernel_files.read(f"/proc/{pid}/statm").split()[1]) * mmap.PAGESIZE
    except (OSError, IndexError):
        return int(psutil.Process(pid).memory_info().rss)


def _cpu_s(pid: int) -> float:
    seconds = _clock_s(pid)
    if seconds is not None:
        return seconds
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def _clock_s(pid: int, *, of_thread: bool = False) -> float | None:
    try:
        # Linux: the CPU clock, to the nanosecond (clock_getcpuclockid(3)); /proc steps by 10 ms.
        return time.clock_gettime(~pid << 3 | _CPUCLOCK_SCHED | (4 if of_thread else 0))
    except (OSError, AttributeError):
        return None


def _ready_s(pids: Iterable[int], own: Collection[str]) -> dict[str, float]:
    """Return for how long threads ran or waited for a core, by the kernel's account; `own` are left out."""
    found: dict[str, float] = {}
    for pid in pids:
        with contextlib.suppress(OSError):  # it has ended
            for thread in kernel_files.names(f"/proc/{pid}/task"):
                if thread in own:
                    continue
                if len(found) >= _MAX_THREADS:
                    return {}
                with contextlib.suppress(OSError, IndexError):  # some kernels keep no such account
                    known = kernel_files.read(f"/proc/{pid}/task/{thread}/schedstat").split()
                    found[thread] = (int(known[0]) + int(known[1])) / 1e9
    return found
