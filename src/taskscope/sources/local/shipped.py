"""Time a task in another process, by a file beside its result.

The worker runs the task, appends one line with its times to a file that this process made, and returns the
task's result or raises its error unchanged. The line is written before the result is sent. Workers open the
file by its path, so it does not matter how they were started; lines of a run that is over are not written. On
Linux the file is in memory and in no folder, and gone with this process however that ends.

This module is imported in worker processes, so it imports little.

While this process runs tasks for another one, a thread samples them: it begins with the first task and ends
half a second after the last one, or when the process forks.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from io import FileIO
from pathlib import Path
from threading import get_ident
from types import CodeType
from typing import Any, Protocol, TypeAlias

from taskscope.model.errortext import describe
from taskscope.sources.line_meter import LineMeter, Sought
from taskscope.sources.local.calls import task_stack
from taskscope.sources.local.sizes import result_size
from taskscope.sources.stacks import (
    Running,
    SamplingThread,
    StackCounts,
    TaskStacks,
    Wake,
    has_interpreter_lock,
)

_LINGER_S = 0.5
_MAX_STACKS = 2_000

Sampled: TypeAlias = dict[str, Any]
"""Samples of a task as JSON: what `StackCounts.take` returns."""


class ProcessSampler:
    """Samples tasks of this process, which taskscope's code `task` runs."""

    def __init__(self, task: CodeType) -> None:
        self._task = task
        self._interval_s = 0.0
        self._forget()
        self._follows_forks = False

    def _forget(self) -> None:
        self._running: dict[int, Running] = {}
        self._stacks = TaskStacks(self._running.copy, lambda frame: task_stack(frame, self._task))
        self._thread = SamplingThread(
            "taskscope-sampler",
            self._look,
            lambda: bool(self._running),
            lambda _error: self._running.clear(),
            _LINGER_S,
            ended=lambda: self._stacks.switch(is_on=False),
        )

    def begin(self, interval_s: float) -> None:
        """Sample the task that this thread begins."""
        if not has_interpreter_lock():
            return
        if not self._follows_forks and hasattr(os, "register_at_fork"):
            self._follows_forks = True
            # A process with threads cannot fork safely, and Python 3.12 and later warn of it.
            os.register_at_fork(before=self._end_thread, after_in_child=self._forget)
        self._interval_s = interval_s
        self._running[get_ident()] = Running(time.perf_counter(), StackCounts(_MAX_STACKS))
        self._stacks.switch(is_on=True)
        self._thread.begin(interval_s)

    def _end_thread(self) -> None:
        self._thread.stop()
        self._stacks.switch(is_on=False)

    def end(self) -> Sampled | None:
        """Return the samples of this thread's task, which is over; None if there are none."""
        running = self._running.pop(get_ident(), None)
        return (running.task.take() or None) if running is not None else None

    def _look(self, wake: Wake) -> float:
        for sample in self._stacks.look(wake):
            sample.task.add(None, wake.now, sample)
        return wake.paced_s(self._interval_s)


_MAX_TASKS = 4_096
"""How many tasks share a file, so that a long compute leaves none of any size."""
_MAX_SKEW_S = 1.0
"""Clocks of one machine agree to well under this; beyond it the worker has a monotonic axis of its own."""
_quietly = contextlib.suppress(Exception)
"""The guard in processes without a recorder: a task runs, and is timed by the scheduler, without us."""
_NO_WAITING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)


TakeSamples: TypeAlias = Callable[[object, int, float, Sampled], None]


class Receiver(Protocol):
    """The part of a `RunLog` that takes times."""

    run: int
    lines: Any
    remote: list[object]
    submitted: dict[object, float]
    start: float
    before: dict[str, float | None]

    def land_failure(
        self,
        key: object,
        worker: tuple[int, int],
        times: tuple[float, float, float],
        text: str,
        *,
        interrupted: bool,
    ) -> None:
        """Record a task that raised in another process."""


def wall_offset() -> float:
    """Return the wall clock's lead over the monotonic clock, in seconds; it differs between machines."""
    # Where other processes run between the two readings, it seems less.
    return max(time.time() - time.perf_counter(), time.time() - time.perf_counter())


class ShippedTask:
    """A task in the process that runs it.

    Its times are written to the file at `path`, if that still has this `identity`, as those of task `number`;
    calls are sampled every `interval_s` seconds, or not for None.
    """

    __slots__ = ("identity", "inner", "interval_s", "number", "path")

    def __init__(
        self, inner: Any, path: str, identity: tuple[int, int], number: int, interval_s: float | None
    ) -> None:
        self.inner = inner
        self.path = path
        self.identity = identity
        self.number = number
        self.interval_s = interval_s

    def __call__(self, values: Any = ()) -> Any:
        """Run the task, and return its result."""
        self._begin_recording()
        cpu = time.thread_time()
        start = time.perf_counter()
        try:
            result = self.inner(values)
        except BaseException as error:
            self._leave(start, time.perf_counter(), time.thread_time() - cpu, error=error)
            raise
        self._leave(start, time.perf_counter(), time.thread_time() - cpu, result=result)
        return result

    def _leave(
        self, start: float, stop: float, cpu: float, result: object = None, error: BaseException | None = None
    ) -> None:
        with _quietly:
            failure = None if error is None else (describe(error), isinstance(error, KeyboardInterrupt))
            size = result_size(result) if error is None else None
            self._leave_samples()
            self._write(
                (self.number, wall_offset(), os.getpid(), get_ident(), failure, start, stop, cpu, size)
            )

    def _begin_recording(self) -> None:
        with _quietly:
            if self.interval_s is not None:
                _SAMPLER.begin(self.interval_s)
        with _quietly:
            if _LAST[0] != self.identity:
                # Once per process, so that a pool whose first tasks are long is seen to have started.
                _LAST[0] = self.identity
                self._write({"begun": time.perf_counter(), "offset": wall_offset()})

    def _leave_samples(self) -> None:
        sampled = None if self.interval_s is None else _SAMPLER.end()
        if sampled is not None:
            self._write(
                {"number": self.number, "offset": wall_offset(), "worker": os.getpid(), "sampled": sampled}
            )

    def _write(self, row: object) -> None:
        # Not created: there is none where the run is over. Nor waited for, as another file might have it.
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | _NO_WAITING)
        try:
            if _identity(file) == self.identity:
                # One call, so that lines of workers do not mix.
                os.write(file, json.dumps(row).encode() + b"\n")
        finally:
            os.close(file)


_LAST: list[tuple[int, int] | None] = [None]
"""The file that this process wrote to last."""
_SAMPLER = ProcessSampler(ShippedTask.__call__.__code__)
"""The sampler of tasks that this process runs for another."""


class MeteredShippedTask(ShippedTask):
    """A task in the process that runs it, in which lines of the functions `sought` are measured."""

    __slots__ = ("_measuring", "sought")

    def __init__(
        self,
        inner: Any,
        path: str,
        identity: tuple[int, int],
        number: int,
        interval_s: float | None,
        sought: Sought,
    ) -> None:
        super().__init__(inner, path, identity, number, interval_s)
        self.sought = sought
        self._measuring: tuple[LineMeter, Any] | None = None

    def __call__(self, values: Any = ()) -> Any:
        """Run the task, and return its result."""
        meter = LineMeter()
        try:
            self._begin(meter)
            return ShippedTask.__call__(self, values)
        finally:
            meter.close()

    def _begin(self, meter: LineMeter) -> None:
        with _quietly:
            refusal = meter.open()
            if refusal is not None:
                self._write({"number": self.number, "refusal": refusal})
                return
            meter.seek(self.sought)
            self._measuring = meter, meter.begin()

    def _leave(self, *times: Any, **end: Any) -> None:
        with _quietly:
            if self._measuring is not None:
                meter, before = self._measuring
                self._write({"number": self.number, "worker": os.getpid(), "lines": meter.end(before)})
        super()._leave(*times, **end)


def _identity(file: int) -> tuple[int, int]:
    found = os.fstat(file)
    return found.st_dev, found.st_ino


def _in_memory() -> int | None:
    """Return a new file that is in no folder, None where there are none that others can open."""
    if sys.platform != "linux":
        return None
    try:
        file = os.memfd_create("taskscope-times")
    except OSError:
        return None
    if Path(_path_of(file)).exists():
        return file
    os.close(file)
    return None


def _path_of(file: int) -> str:
    return f"/proc/{os.getpid()}/fd/{file}"


class _TimesFile:
    """A file that workers append to, and how far it was read."""

    def __init__(self) -> None:
        file, name = _in_memory(), None
        if file is None:
            file, name = tempfile.mkstemp(prefix="taskscope-times-", suffix=".jsonl")
        self.path = _path_of(file) if name is None else name
        self.identity = _identity(file)
        self._file = FileIO(file)
        self._removed = (self._file, name, os.getpid())
        self.keys: list[object] = []
        self.n_read = 0
        self._rest = b""
        self._dropped = weakref.finalize(self, _remove, *self._removed)

    def rows(self) -> Iterator[list[Any] | dict[str, Any]]:
        """Yield the new rows: a list of a task's times, a mapping of anything else."""
        data = self._rest
        while part := os.read(self._file.fileno(), 1 << 20):
            data += part
        *lines, self._rest = data.split(b"\n")
        for line in lines:
            try:
                row = json.loads(line)
            except ValueError:
                # A full disk has cut a line short.
                row = None
            self.n_read += not isinstance(row, dict)
            if row is not None:
                yield row

    def begun(self) -> dict[str, Any] | None:
        """Return the first process's row of its begin; None while there is none, or it cannot be read."""
        if sys.platform == "win32":
            return None
        # The place up to where it was read is another thread's.
        line, ended, _ = os.pread(self._file.fileno(), 256, 0).partition(b"\n")
        row = json.loads(line) if ended and line.startswith(b'{"begun"') else None
        return row if isinstance(row, dict) else None

    def close(self) -> None:
        """Remove the file; idempotent."""
        _remove(*self._removed)
        self._dropped.detach()


def _remove(file: FileIO, name: str | None, pid: int) -> None:
    file.close()
    # A forked child has the descriptor, too, but the file is its parent's.
    if name is not None and os.getpid() == pid:
        with contextlib.suppress(OSError):
            Path(name).unlink()


class ShippedTimes:
    """The times of the tasks that other processes run.

    `take` is called with a task's key, its process, the seconds to add to that one's clock, and its samples,
    one every `interval_s` seconds; lines of the functions `sought` are measured. None: none are.
    """

    def __init__(
        self,
        log: Receiver,
        interval_s: float | None = None,
        take: TakeSamples | None = None,
        sought: Sought | None = None,
    ) -> None:
        self._interval_s = None if take is None else interval_s
        self._take = take
        self._sought = sought
        self._log: Receiver = weakref.proxy(log)
        self._files: list[_TimesFile] = []
        self._answered: dict[object, tuple[int, int, float, float, float, float]] = {}
        self._lock = threading.Lock()

    def ship(self, inner: object, key: object) -> tuple[Callable[..., object], tuple[object, ...]]:
        with self._lock:
            if not self._files or len(self._files[-1].keys) >= _MAX_TASKS:
                self._files.append(_TimesFile())
            file = self._files[-1]
            file.keys.append(key)
            place = file.path, file.identity, len(file.keys) - 1, self._interval_s
            if self._sought is None:
                return ShippedTask, (inner, *place)
            return MeteredShippedTask, (inner, *place, self._sought)

    def read(self) -> None:
        """Read new rows: failures are recorded at once, times of results once these have landed."""
        for file in list(self._files):
            for row in file.rows():
                if isinstance(row, dict):
                    self._take_more(file.keys, row)
                    continue
                number, offset, pid, thread, failure, start, stop, *measured = row
                key = file.keys[number]
                shift = _shift(offset)
                times = (start + shift, stop + shift)
                if key not in self._log.submitted:
                    continue
                if failure is None:
                    self._answered[key] = (pid, thread, *times, *measured)
                else:
                    text, interrupted = failure
                    self._log.submitted.pop(key, None)
                    self._log.land_failure(
                        key, (pid, thread), (*times, measured[0]), text, interrupted=interrupted
                    )
            if file is not self._files[-1] and file.n_read >= len(file.keys):
                file.close()
                self._files.remove(file)

    def look(self) -> None:
        """See whether the first process has begun; on any thread."""
        if self._log.before.get("pool_start_s") is None:
            with self._lock, contextlib.suppress(OSError, ValueError):
                row = self._files[0].begun() if self._files else None
                if row is not None:
                    self._note_begun(row)

    def _note_begun(self, row: dict[str, Any]) -> None:
        if self._log.before.get("pool_start_s") is None:
            begun = row["begun"] + _shift(row["offset"])
            self._log.before["pool_start_s"] = max(begun - self._log.start, 0.0)

    def _take_more(self, keys: Sequence[object], row: dict[str, Any]) -> None:
        if "begun" in row:
            self._note_begun(row)
            return
        key, lines = keys[row["number"]], self._log.lines
        if "sampled" in row:
            if self._take is not None:
                self._take(key, row["worker"], _shift(row["offset"]), row["sampled"])
        elif lines is not None and "refusal" in row:
            lines.refuse(row["refusal"])
        elif lines is not None:
            lines.add(self._log.run, key, row["worker"], row["lines"])

    def landed(self, key: object) -> None:
        if key not in self._answered:
            self.read()
        # The pool has started, even where its processes could not write that.
        self._log.before.setdefault("pool_start_s", None)
        row = self._answered.pop(key, None)
        if row is not None and self._log.submitted.pop(key, None) is not None:
            self._log.remote.extend((key, *row))

    def failed(self, key: object, text: str) -> None:
        row = self._answered.pop(key, None)
        if row is not None and self._log.submitted.pop(key, None) is not None:
            pid, thread, start, stop, cpu, *_ = row
            self._log.land_failure(key, (pid, thread), (start, stop, cpu), text, interrupted=False)

    def close(self) -> None:
        """Remove the files; running workers are not waited for."""
        self.look()
        with self._lock:
            for file in self._files:
                file.close()
            self._files.clear()


def _shift(offset: float) -> float:
    """Return the seconds to add to a worker's times; 0 on one machine, which has one clock."""
    skew = offset - wall_offset()
    return skew if abs(skew) > _MAX_SKEW_S else 0.0
