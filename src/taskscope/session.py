"""The session of this process: one recorder, its sources, and the thread that serves them.

Everything that wants Dask to be watched holds the session: the extension, a profile block, a widget on
screen. The first holder attaches the sources, the last one detaches them.
"""

from __future__ import annotations

import atexit
import os
import platform
import sys
import threading
import weakref
from collections.abc import Callable

import dask
import numpy as np

from taskscope.model.clock import SYSTEM_CLOCK, Clock
from taskscope.model.forklock import Single
from taskscope.model.tables.process import ResourceLimits
from taskscope.model.version import __version__
from taskscope.options import DEFAULT_DT, MetricOption, Options, TaskFacts, functions_named
from taskscope.record import Recorder
from taskscope.record.pump import Pump, Tick
from taskscope.record.tables.cache_usage import metric_name
from taskscope.sources.cluster import ClusterSource, clear_clients
from taskscope.sources.local.adapter import registration
from taskscope.sources.local.source import LocalSource
from taskscope.sources.resources import cpu_limit, memory_limit_bytes
from taskscope.sources.sampler import Sampler

_THREAD_LIMITS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
"""Environment variables that limit the threads that a task's libraries start."""


class Session:
    """One recorder with its sources."""

    def __init__(self, clock: Clock = SYSTEM_CLOCK) -> None:
        self.recorder = Recorder(clock=clock)
        self.recorder.limits = ResourceLimits(cpu_limit(), memory_limit_bytes())
        self.pump = Pump(self.recorder)
        self.source = LocalSource(self.recorder, self._compute_started, self._compute_stopped)
        self.sampler = Sampler(
            self.recorder,
            self.source.lanes,
            self.pump.wake,
            own_natives=lambda: self.source.memory.natives,
        )
        self.cluster = ClusterSource(
            self.recorder, self._cluster_compute_started, self._cluster_compute_stopped, self._wake_pump
        )
        self._holders: dict[int, tuple[object, Options]] = {}
        self._is_attached = False
        """Whether all sources are attached; while that changes they are not."""
        self._is_released = True
        """Whether all that a holder began has ended."""
        self._unread: weakref.WeakMethod[Callable[[], None]] | None = None
        """Makes the recording of a block that was left unread, whose rows the recorder keeps."""
        self._at_ends: dict[Callable[[], None], None] = {}
        self._lock = threading.Lock()
        self.pump.subscribe(self._tick, reads=False)
        _sessions.add(self)

    def hold(self, owner: object, options: Options | None = None) -> None:
        """Watch Dask until `owner` releases; holding twice only changes the options."""
        self.source.end_abandoned()
        self.recorder.compare_clocks()
        with self._lock:
            self._read_unread()
            self._is_released = False
            self._holders.pop(id(owner), None)
            self._holders[id(owner)] = (owner, options or Options())
            self._apply()
            if self._is_attached:
                self.cluster.forget_refused()
            else:
                self.source.attach()
                self.cluster.attach()
                self._is_attached = True
            # Work that is submitted later is not part of computes of earlier holders.
            self.cluster.computes.part()
        if options is not None and functions_named(options.lines):
            self.cluster.begin_counting()

    def release(self, owner: object, read: Callable[[], None] | None = None) -> None:
        """Stop watching for `owner`; with the last one, sources are detached and threads end.

        Idempotent; a second call completes one that was interrupted. `read`, a method that makes the owner's
        recording, is called before its rows are dropped, which waits until the session is used again.
        """
        with self._lock:
            if self._is_released:
                return
            self._holders.pop(id(owner), None)
            if self._holders:
                if read is not None:
                    read()
                self._apply()
                return
            # No other thread can hold it before all of this is over.
            self._is_attached = False
            self.source.detach()
            self.source.lines.want(())
            self.source.memory.want(0)
            self.cluster.wanted.sought = None
            self.cluster.detach()
            pumping = self.pump.tell_to_stop()
            self.sampler.stop()
            if read is None:
                self.recorder.clear()
            else:
                self._unread = weakref.WeakMethod(read)
            self._is_released = True
        # Not before: a callback on its thread may release, too.
        self.pump.wait_for(pumping)

    def read_unread(self) -> None:
        """Make the recording of a block that was left unread, and drop its rows; idempotent."""
        if self._unread is not None:
            with self._lock:
                self._read_unread()

    def _read_unread(self) -> None:
        unread, self._unread = self._unread, None
        if unread is not None:
            with self.recorder.guard("making a recording"):
                read = unread()
                if read is not None:
                    read()
            self.recorder.clear()

    def end_memory(self, owner: object, options: Options) -> None:
        """End recording allocations for a holder, which goes on with these options."""
        with self._lock:
            if id(owner) in self._holders:
                self._holders[id(owner)] = (owner, options)
                self._apply()

    def at_compute_end(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call `callback` whenever a compute ends, on its thread, until the returned function is called.

        The recorder counts an error in it as a fault.
        """
        self._at_ends[callback] = None

        def forget() -> None:
            self._at_ends.pop(callback, None)

        return forget

    @property
    def holders(self) -> list[object]:
        """All that Dask is watched for."""
        return [owner for owner, _ in list(self._holders.values())]

    @property
    def held(self) -> bool:
        """Whether the session has a holder."""
        return bool(self._holders)

    @property
    def metric_name(self) -> str:
        """The name of the metric of the cache."""
        metric = self._metric()
        return metric_name(metric) if callable(metric) else metric

    def metadata(self) -> dict[str, object]:
        """Return facts about this process that belong into a recording."""
        # Another thread may be importing it.
        distributed = getattr(sys.modules.get("distributed"), "__version__", None)
        limits = self.recorder.limits
        return {
            "taskscope": __version__,
            "dask": dask.__version__,
            **({} if distributed is None else {"distributed": distributed}),
            "numpy": np.__version__,
            "python": platform.python_version(),
            "platform": sys.platform,
            "host": platform.node(),
            "pid": os.getpid(),
            "n_cores": limits.n_cores,
            "memory_limit_bytes": limits.memory_bytes,
            "thread_limits": {name: os.environ[name] for name in _THREAD_LIMITS if name in os.environ},
            "metric": self.metric_name,
            "dt_s": self.sampler.dt,
            "max_tasks": self.recorder.max_tasks,
        }

    def _options(self) -> list[Options]:
        # A copy: the metric's name is read on other threads.
        return [options for _, options in list(self._holders.values())]

    def _metric(self) -> MetricOption:
        metrics = [o.metric for o in self._options() if o.metric != "any"]
        return metrics[-1] if metrics else "nbytes"

    def _apply(self) -> None:
        options = self._options()
        metric = self._metric()
        self.source.metric = metric if callable(metric) else None
        facts = max(o.facts for o in options)
        self.source.want(facts)
        self.sampler.probes_lock = facts is TaskFacts.ALL
        self.sampler.dt = min((o.dt for o in options if o.dt != "any"), default=DEFAULT_DT)
        self.recorder.max_tasks = max(o.max_tasks for o in options)
        sampled = [o for o in options if o.stacks]
        self.sampler.interval_s = min((o.profile_interval for o in sampled), default=None)
        self.source.interval_s = self.sampler.interval_s
        wants_lines = [o.profile_interval for o in sampled if o.samples_at_once]
        self.cluster.wanted.interval_s = min(wants_lines, default=self.sampler.interval_s)
        self.cluster.wanted.has_lines = bool(wants_lines)
        self.sampler.is_at_once = any(o.samples_at_once for o in sampled)
        named = [each for o in options for each in functions_named(o.lines) or ()]
        self.source.lines.want(named)
        self.source.memory.want(sum(o.memory for o in options))
        self.cluster.wanted.sought = self.source.lines.sought if named else None
        self.cluster.options_changed()

    def _compute_started(self, run: object) -> None:
        self.sampler.compute_started(run)
        self.pump.wake()

    def _cluster_compute_started(self, run: object) -> None:
        if self.source.memory.is_recording:
            self.source.memory.refuse("tasks of a cluster allocate it on its workers")
        self._compute_started(run)

    def _cluster_compute_stopped(self, run: object) -> None:
        self._compute_stopped(run, is_here=False)

    def _compute_stopped(self, run: object, *, is_here: bool = True) -> None:
        for callback in list(self._at_ends):
            with self.recorder.guard("a callback at the end of a compute"):
                callback()
        self.sampler.compute_stopped(run, is_here=is_here)
        if self.held:
            self.pump.wake()
        else:
            # It outlived the last holder, so no release clears up after it.
            self.read_unread()
            self.recorder.clear()

    def _wake_pump(self) -> None:
        if self.held:
            self.pump.wake()

    def _tick(self, _tick: Tick) -> None:
        self.sampler.tick()


_current = Single(Session)


def current() -> Session:
    """Return the session of this process, made on the first call."""
    session = _current.get()
    session.read_unread()
    return session


_sessions: weakref.WeakSet[Session] = weakref.WeakSet()


@atexit.register
def _end_threads() -> None:
    """End all threads before Python does: one that is inside of C++ code then may abort the process."""
    for session in list(_sessions):
        session.cluster.detach()
        session.sampler.stop()
        session.pump.stop()


def _start_over() -> None:
    """Reset the session in a forked child, which has neither its parent's threads nor its holders."""
    registration.clear()
    clear_clients()
    for session in list(_sessions):
        session.source.memory.forget()
        session.__init__(session.recorder.clock)  # type: ignore[misc]  # references to it must see the new one


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_over)
