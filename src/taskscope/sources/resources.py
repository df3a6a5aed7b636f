"""Sample CPU and resident memory of this process and its children."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import psutil

from taskscope.errors import OptionError
from taskscope.recorder import Recorder

__all__ = ["DEFAULT_DT", "ProcessReading", "ResourceSampler", "checked_dt", "read_processes"]

DEFAULT_DT = 0.25
_GAP = 5.0
_MIN_CPU_S = 0.05
_NAN = float("nan")


@dataclass(frozen=True, slots=True)
class ProcessReading:
    """What the operating system says at one moment.

    Parameters
    ----------
    cpu_s
        CPU seconds used so far, by process id.
    rss_bytes
        Resident bytes of all of them together; memory they share is counted in each.
    """

    cpu_s: dict[int, float]
    rss_bytes: int


def checked_dt(dt: object) -> float:
    """Return a sampling interval, or say what is wrong with it.

    Raises
    ------
    OptionError
        If it is not a positive number of seconds.
    """
    if isinstance(dt, bool) or not isinstance(dt, (int, float)) or not 0 < dt < float("inf"):
        raise OptionError(f"dt must be a positive number of seconds, got {dt!r}")
    return float(dt)


def read_processes() -> ProcessReading:
    """Read this process and all its children, found anew each time."""
    own = psutil.Process()
    processes = [own]
    if _has_children():
        with contextlib.suppress(psutil.Error):
            processes += own.children(recursive=True)
    cpu_s: dict[int, float] = {}
    rss_bytes = 0
    for process in processes:
        # A child may end between being listed and being read.
        with contextlib.suppress(psutil.Error), process.oneshot():
            rss_bytes += process.memory_info().rss
            if process is own:
                # To the nanosecond; what the kernel tells of other processes comes in steps of 10 ms.
                cpu_s[process.pid] = time.process_time()
            else:
                times = process.cpu_times()
                cpu_s[process.pid] = times.user + times.system
    return ProcessReading(cpu_s, rss_bytes)


def _has_children() -> bool:
    """Ask the kernel in a microsecond what listing all processes would tell in a millisecond."""
    if not hasattr(os, "waitid"):
        return True
    try:
        # WNOWAIT: nothing is reaped, so nobody's subprocess loses its exit status.
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


class ResourceSampler:
    """Samples from the start of a compute to its end; a thread takes part in those that last.

    Parameters
    ----------
    recorder
        Where samples go.
    dt
        Seconds between samples.
    read
        Reads the processes.

    Notes
    -----
    CPU percent is the mean since the previous sample, 100 per core. The first sample has none, nor has one
    that comes less than 50 ms after another while there are children, whose counters move in steps of
    10 ms. CPU counters are cumulative, so that mean is right however late a sample is; a memory peak in a
    gap is not seen. A sample later than 5 `dt` is marked as coming after a gap.
    """

    def __init__(
        self,
        recorder: Recorder,
        dt: float = DEFAULT_DT,
        read: Callable[[], ProcessReading] = read_processes,
    ) -> None:
        self.dt = checked_dt(dt)
        self._recorder = recorder
        self._read = read
        self._lock = threading.Lock()
        self._n_active = 0
        self._last: tuple[float, dict[int, float]] | None = None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def compute_started(self) -> None:
        """Take the first sample of a compute."""
        with self._lock:
            self._n_active += 1
            if self._n_active == 1:
                self._last = None
                self._sample()

    def compute_stopped(self) -> None:
        """Take the last sample of a compute."""
        with self._lock:
            self._n_active -= 1
            self._sample()
            if self._n_active <= 0:
                self._n_active = 0
                self._stop.set()

    def ensure_thread(self) -> None:
        """Have a thread take samples while a compute runs; called for computes that outlive a tick."""
        with self._lock:
            if self._n_active and (self._thread is None or self._stop.is_set()):
                self._stop = threading.Event()
                self._thread = threading.Thread(
                    target=self._run, args=(self._stop,), name="taskscope-sampler", daemon=True
                )
                self._thread.start()

    def stop(self) -> None:
        """End the thread and wait for it."""
        self._stop.set()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()
        self._thread = None

    def forget_thread(self) -> None:
        """Start over in a child process, where the thread does not exist."""
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = None
        self._n_active = 0

    def _run(self, stop: threading.Event) -> None:
        while not stop.wait(self.dt):
            with self._lock:
                if not stop.is_set():
                    self._sample()

    def _sample(self) -> None:
        try:
            now = self._recorder.now_s()
            reading = self._read()
            percent, gap = _NAN, False
            if self._last is not None:
                then, before = self._last
                used = sum(s - before.get(pid, 0.0) for pid, s in reading.cpu_s.items())
                exact = now - then >= _MIN_CPU_S or len(reading.cpu_s) == 1
                percent = 100 * max(used, 0.0) / (now - then) if now > then and exact else _NAN
                gap = now - then > _GAP * self.dt
            self._last = (now, reading.cpu_s)
            self._recorder.resources.append(now, percent, reading.rss_bytes, len(reading.cpu_s), gap=gap)
        except Exception as error:  # noqa: BLE001 - sampling must not end the user's compute
            self._recorder.fault("the resource sampler", error)
