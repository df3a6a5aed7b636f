"""Sample CPU and resident memory from the start of a compute to its end."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from taskscope.model.tables.process import ResourceRows
from taskscope.options import DEFAULT_DT, checked_dt
from taskscope.record import Recorder
from taskscope.sources.resources.processes import ProcessReading, read_processes, take_peak
from taskscope.sources.resources.watcher import ProcessWatcher

__all__ = ["ResourceSampler"]

_GAP = 5.0
_SHORTEST_S = 0.02
"""Over less a rate says little: between looking at the clock and at the counters the interpreter may let
another thread run, for 5 ms at a time (`sys.getswitchinterval`)."""
_NAN = float("nan")


class ResourceSampler:
    """Samples while computes run.

    The computing thread takes the first and the last sample itself. A compute that lasts is sampled by a
    helper process, which keeps its pace while a C call holds the interpreter's lock; where none can be
    started a thread does it. Between computes the helper waits.

    Parameters
    ----------
    recorder
        Where samples go.
    dt
        Seconds between samples.
    read
        Reads the processes.
    start_watcher
        Starts the helper process, waiting, or raises `OSError` where that cannot be.
    take_peak
        Reads and resets the kernel's mark of the most memory of this process.

    Notes
    -----
    CPU percent is the mean since the previous sample, 100 per core; the first sample has none. CPU counters
    are cumulative, so the mean is right however late a sample is. The most memory between two samples is what
    the kernel saw; the first has none, for what was before is not of its compute. A sample later than 5 `dt`
    is marked as coming after a gap. Where the previous sample is less than 20 ms ago, as at the end of a
    compute, the mean is since the one before that, if the compute has one.
    """

    def __init__(
        self,
        recorder: Recorder,
        dt: float = DEFAULT_DT,
        read: Callable[[], ProcessReading] = read_processes,
        start_watcher: Callable[[], ProcessWatcher] = ProcessWatcher.start,
        take_peak: Callable[[], float] = take_peak,
    ) -> None:
        self.dt = checked_dt(dt)
        self.with_peaks = True
        """Whether the kernel's mark of the most memory is read and reset at each sample."""
        self._recorder = recorder
        self._read = read
        self._start_watcher = start_watcher
        self._take_peak = take_peak
        self._lock = threading.Lock()
        self._active: set[object] = set()
        self._latest_s: float | None = None
        """When the latest sample of these computes was taken."""
        self._peak_bytes = _NAN
        """The most since then that a reading saw of which no sample was made, for it came too late."""
        self._base: tuple[float, dict[int, float]] | None = None
        """When and at which counters the next rate begins."""
        self._base_before: tuple[float, dict[int, float]] | None = None
        self._watcher: ProcessWatcher | None = None
        self._helpers_last = True
        """Whether a helper that was started answered before it ended."""
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()

    def prepare(self) -> None:
        """Start the helper already, so that it samples computes from their first moment."""
        with self._lock:
            if self._watcher is None:
                with contextlib.suppress(OSError):  # the first compute that lasts starts a thread instead
                    self._watcher = self._start_watcher()

    def compute_started(self, compute: object) -> None:
        """Take the first sample of a compute, or of what else is to be sampled as long as it lasts."""
        with self._lock:
            first = not self._active
            self._active.add(compute)
            if first:
                self._latest_s = self._base = self._base_before = None
                self._peak_bytes = _NAN
                self._sample()
                if self._watcher is not None:
                    self._watcher.run(self.dt, with_peaks=self.with_peaks)

    def compute_stopped(self, compute: object) -> None:
        """Take the last sample of a compute; it need not have started."""
        with self._lock:
            self._active.discard(compute)
            self._read_watcher()
            self._sample()
            if not self._active:
                self._pause()

    def sample(self) -> None:
        """Take a sample now."""
        with self._lock:
            self._sample()

    def tick(self) -> None:
        """See to it that a compute that lasts is sampled, and take over what the helper has."""
        with self._lock:
            if self._active and self._watcher is None and self._thread is None:
                # The helper needs some 30 ms before its first sample.
                self._sample()
                self._begin()
            self._read_watcher()

    def stop(self) -> None:
        """End the helper or the thread, and wait for the latter."""
        with self._lock:
            # A tick that is under way must not begin again.
            self._active.clear()
            self._end()
            thread, self._thread = self._thread, None
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def forget_thread(self) -> None:
        """Start over in a child process, to which neither the thread nor the helper belongs."""
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = None
        if self._watcher is not None:
            self._watcher.stop()  # closes the child's ends only
        self._watcher = None
        self._active.clear()

    def _begin(self) -> None:
        if self._helpers_last:
            with contextlib.suppress(OSError):  # a thread does it then
                self._watcher = self._start_watcher()
                self._watcher.run(self.dt, with_peaks=self.with_peaks)
                return
        self._stop = threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=(self._stop,), name="taskscope-sampler", daemon=True
        )
        self._thread.start()

    def _end(self) -> None:
        if self._watcher is not None:
            self._watcher.stop()
            self._watcher = None
        self._pause()

    def _pause(self) -> None:
        if self._watcher is not None:
            self._watcher.pause()
        self._stop.set()
        if self._thread is not None and not self._active:
            self._thread = None

    def _run(self, stop: threading.Event) -> None:
        while not stop.wait(self.dt):
            with self._lock:
                if not stop.is_set():
                    self._sample()

    def _read_watcher(self) -> None:
        watcher = self._watcher
        if watcher is None:
            return
        try:
            for time_s, reading in watcher.read():
                self._add(self._recorder.seconds(time_s), reading)
            if watcher.ended:
                # Killed, for one. The next tick starts another, if that promises more.
                self._helpers_last = watcher.has_answered
                self._watcher = None
                watcher.stop()
        except Exception as error:  # noqa: BLE001 - sampling must not end the user's compute
            self._recorder.fault("reading the sampling process", error)

    def _sample(self) -> None:
        try:
            now_s, reading = self._recorder.now_s(), self._read()
            # Peaks of several processes are not at the same moment: they do not add up.
            if self.with_peaks and len(reading.cpu_s) == 1:
                reading = replace(reading, peak_bytes=self._take_peak())
            self._add(now_s, reading)
        except Exception as error:  # noqa: BLE001 - sampling must not end the user's compute
            self._recorder.fault("the resource sampler", error)

    def _add(self, now_s: float, reading: ProcessReading) -> None:
        gap, peak_bytes = False, _NAN
        if self._latest_s is not None:
            peak_bytes = float(np.fmax(reading.peak_bytes, self._peak_bytes))
            if now_s <= self._latest_s:
                self._peak_bytes = peak_bytes
                return
            gap = now_s - self._latest_s > _GAP * self.dt
        self._peak_bytes = _NAN
        self._latest_s = now_s
        percent = self._percent(now_s, reading)
        threads = (reading.ready_threads, reading.active_share)
        sample = (now_s, percent, reading.rss_bytes, len(reading.cpu_s), gap, *threads, peak_bytes)
        self._recorder.resources.append(ResourceRows.of([sample]))

    def _percent(self, now_s: float, reading: ProcessReading) -> float:
        """Return the rate since the base, which moves here unless it is too near: no CPU time is lost."""
        base = self._base
        if base is not None and now_s - base[0] < min(_SHORTEST_S, self.dt / 2):
            base = self._base_before or base
        else:
            self._base, self._base_before = (now_s, reading.cpu_s), base
        if base is None:
            return _NAN
        then_s, before = base
        used = sum(s - before.get(pid, 0.0) for pid, s in reading.cpu_s.items())
        return 100 * max(used, 0.0) / (now_s - then_s)
