"""Tasks that ended on workers: read, put on the axis of the recorder's clock, and written as rows of runs.

A worker corrects its times by its clock's difference to the scheduler's: one unfiltered measurement per
heartbeat, which on a busy machine is off by tens of milliseconds. The worker's plugin sends the correction
with each task; it is taken out, and the measured one (`taskscope.sources.cluster.workers`) put in.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from taskscope.model.errortext import MAX_ERROR_TEXT
from taskscope.model.keys import key_text, split_key
from taskscope.model.tables.activities import ACTIVITIES, FAILED_ATTEMPT
from taskscope.record import LaneActivity, LaneKey
from taskscope.record.writers.runlog import FailedTask, ReportedTasks
from taskscope.sources.cluster.plugin import unpack_plain
from taskscope.sources.cluster.runs import TrackedRun
from taskscope.sources.cluster.workers import Worker, Workers, amount, is_amount, thread_id

_COMPUTE = len(ACTIVITIES)
"""The code of computing among the kinds of steps; the others are codes of activities."""
_KINDS = {name: code for code, name in enumerate((*ACTIVITIES, "compute"))}
_OTHER = _KINDS["other"]
_UNCORRECTED = (_KINDS["disk-read"], _KINDS["disk-write"])
"""The kinds of steps to which workers add nothing."""
_MAX_METRICS = 50
_MAX_TEXT = 300
_MAX_SHOWN = 100_000
_DAY_S = 86_400.0
"""No task begins so long before its compute, or ends so long after its record has come."""
_MAX_AT_ONCE = 10_000
"""As many rows as the recorder folds at once."""
_Entries: TypeAlias = Sequence[tuple[str, str, float]]
"""Activity, unit and amount of what a task was metered."""


class Step(NamedTuple):
    """Something that a worker did for a task."""

    kind: int
    start: float
    stop: float
    source: str = ""
    nbytes: float = math.nan


@dataclass(slots=True, eq=False)
class Execution:
    """A task that ended on a worker; times are on the axis of the recorder's clock."""

    key: Hashable
    worker: Worker
    thread: int
    nbytes: float
    error: str | None
    cpu_s: float
    metered: _Entries
    """Empty where that is not known."""
    is_coroutine: bool
    """Whether its worker ran it in the event loop."""
    steps: Sequence[Step]
    computed: Step
    """The step that computed, the last one where none did."""


def _read_measured(packed: bytes | None) -> tuple[float, Mapping[int, float], float, _Entries]:
    """Return a task's correction, the bytes that each step moved, its whole time, and its metered amounts."""
    if packed is None:
        return math.nan, {}, math.nan, ()
    delay_s, total_s, sizes, entries = unpack_plain(packed)
    moved = {int(place): amount(size) for place, size in zip(sizes[::2], sizes[1::2], strict=True)}
    return math.nan if delay_s is None else float(delay_s), moved, amount(total_s), _summed(entries)


def _step(step: Mapping[str, Any], nbytes: float, shifts_s: tuple[float, float]) -> Step:
    kind = _KINDS.get(step["action"], _OTHER)
    return _placed(kind, step["start"], step["stop"], shifts_s, str(step.get("source") or ""), nbytes)


def _placed(
    kind: int,
    start: float,
    stop: float,
    shifts_s: tuple[float, float],
    source: str = "",
    nbytes: float = math.nan,
) -> Step:
    if not math.isfinite(start + stop):
        raise ValueError("times must be finite")
    shift_s = shifts_s[kind in _UNCORRECTED]
    return Step(kind, start + shift_s, max(start, stop) + shift_s, source, nbytes)


def _summed(entries: Sequence[Sequence[Any]]) -> _Entries:
    sums: dict[tuple[str, str], float] = {}
    for label, value, unit in entries:
        name = name_text(label), name_text(unit)
        if len(sums) < _MAX_METRICS or name in sums:
            sums[name] = sums.get(name, 0.0) + amount(float(value))
    return [(*name, value) for name, value in sums.items()]


def name_text(name: Any) -> str:
    """Return a name that a task may have given to what it metered."""
    return name if type(name) is str and len(name) <= _MAX_TEXT else key_text(name)[:_MAX_TEXT]


def _cpu_s(entries: _Entries) -> float:
    """Return the CPU time of a task in a thread; NaN where it ran elsewhere, or nothing was metered."""
    seconds = {name: value for name, unit, value in entries if unit == "seconds"}
    if "thread-cpu" not in seconds:
        return math.nan
    return sum(value for name, value in seconds.items() if name.endswith("-cpu"))


def _metered(total_s: float, entries: _Entries, *, is_failed: bool) -> _Entries:
    """Return the entries as distributed books them: with the rest, or with all of a failed task's time."""
    if math.isnan(total_s):
        return ()
    if is_failed:
        return [*(entry for entry in entries if entry[1] != "seconds"), ("failed", "seconds", total_s)]
    rest_s = total_s - sum(value for _, unit, value in entries if unit == "seconds")
    return [*entries, ("other", "seconds", max(rest_s, 0.0))]


def error_text(shown: str) -> str:
    """Return the ``repr`` of an exception as its type and message, bounded; the type is not always in it.

    Examples
    --------
    >>> error_text("OSError('no room')"), error_text("OSError(28, b'x')"), error_text("no room")
    ('OSError: no room', "OSError: (28, b'x')", 'Exception: no room')
    """
    shown = shown[:_MAX_SHOWN].encode("utf-8", "backslashreplace").decode("utf-8")
    name, is_call, arguments = shown.partition("(")
    if is_call and name.isidentifier():
        message = arguments.removesuffix(")").removesuffix(",")
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            message = str(ast.literal_eval(message))
    else:
        name, message = "Exception", shown
    text = f"{name}: {message}" if message else name
    return text if len(text) <= MAX_ERROR_TEXT else f"{text[:MAX_ERROR_TEXT]}…"


class ExecutionWriter:
    """Writes executions as rows of runs."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._recorder = workers.recorder
        self._rows: dict[TrackedRun, list[tuple[Hashable, LaneKey, float, float, float, float]]] = {}
        """Key, lane, start, stop, CPU time and bytes of finished tasks that are no rows yet."""
        self._n_rows = 0
        self._metered: dict[tuple[int, str, str, str, str], float] = {}
        self._shift_s: float | None = None

    def read(self, record: Sequence[Any]) -> Execution:
        """Return the execution that an event ``end`` or ``attempt`` of `plugin` describes."""
        key, address, thread, nbytes, error, steps, packed = record
        worker = self._workers.get(str(address))
        correction_s, sizes, total_s, entries = _read_measured(packed)
        shifts_s = self._shifts_s(worker, correction_s)
        if type(steps[0]) is dict:
            read = [_step(step, sizes.get(place, math.nan), shifts_s) for place, step in enumerate(steps)]
            computed = next((step for step in reversed(read) if step.kind == _COMPUTE), read[-1])
        else:
            # Start and stop of a task that only computed.
            start, stop = steps
            computed = _placed(_COMPUTE, start, stop, shifts_s)
            read = [computed]
        return Execution(
            key=key,
            worker=worker,
            thread=thread_id(thread or 0),
            nbytes=float(nbytes) if error is None and nbytes is not None and is_amount(nbytes) else math.nan,
            error=None if error is None else error_text(str(error or "unknown error")),
            cpu_s=min(_cpu_s(entries), computed.stop - computed.start),
            metered=_metered(total_s, entries, is_failed=error is not None),
            # Workers meter the time of all others in an executor.
            is_coroutine=packed is not None and all(label != "executor" for label, *_ in entries),
            steps=read,
            computed=computed,
        )

    def _shifts_s(self, worker: Worker, correction_s: float) -> tuple[float, float]:
        """Return what to add to times that workers correct, and to times that they do not."""
        if self._shift_s is None:
            self._shift_s = self._recorder.clock.shift_s()
        ahead_s = worker.clock.ahead_s
        # Else the worker's own correction is the best there is.
        is_known = worker.clock.is_known and not math.isnan(correction_s)
        corrected_s = ahead_s - correction_s if is_known else -self._workers.clocks.scheduler_ahead_s
        return self._shift_s + corrected_s, self._shift_s + ahead_s

    def write(self, execution: Execution, run: TrackedRun) -> None:
        """Register that a task ended, and record it; what finished is among its run's rows after `flush`."""
        key, worker, error, log = execution.key, execution.worker, execution.error, run.log
        _, start, stop, *_ = execution.computed
        if not log.start - _DAY_S < start <= stop < self._recorder.clock.perf_counter() + _DAY_S:
            self._write_without_times(execution, run)
            return
        if execution.is_coroutine:
            lane = worker.coroutine_lane(execution.thread, start, stop)
        else:
            lane = worker.lane(execution.thread, stop)
        self._meter(execution, run)
        if run.end_task(key, execution.nbytes, error):
            log.landed.extend((key, stop))
        log.submitted.pop(key, None)
        log.sent_to.pop(key, None)
        run.last_stop = max(run.last_stop, stop)
        _record_activities(execution, lane, run)
        if error is not None:
            log.failed.append(FailedTask(key, lane, start, stop, execution.cpu_s, False, error))
            return
        self._rows.setdefault(run, []).append((key, lane, start, stop, execution.cpu_s, execution.nbytes))
        self._n_rows += 1
        if self._n_rows >= _MAX_AT_ONCE:
            self.flush()

    def _write_without_times(self, execution: Execution, run: TrackedRun) -> None:
        """Record a task by the scheduler's times, as its worker's clock is off by more than a day."""
        self._recorder.warn(
            "the clock of %s is off by days: of tasks that ended before clocks were "
            "compared only the scheduler's times are known",
            execution.worker.label,
        )
        key, error, now = execution.key, execution.error, self._recorder.clock.perf_counter()
        run.log.submitted.setdefault(key, now)
        if run.end_task(key, execution.nbytes, error):
            run.log.landed.extend((key, now))
        run.log.end_unreported(key, now, "finished" if error is None else "erred", error)

    def write_attempt(self, execution: Execution, run: TrackedRun) -> None:
        """Record a failed attempt that is followed by another, and its activities."""
        key, computed = execution.key, execution.computed
        lane = execution.worker.lane(execution.thread, computed.stop)
        _record_activities(execution, lane, run)
        run.n_attempts[key] += 1
        text = f"{execution.error} (attempt {run.n_attempts[key]})"
        if computed.kind == _COMPUTE:
            times = computed.start, computed.stop
            run.log.activities.append(LaneActivity(key, lane, FAILED_ATTEMPT, *times, text))

    def flush(self) -> None:
        """Record the rows that wait."""
        rows, self._rows, self._n_rows, self._shift_s = self._rows, {}, 0, None
        for run, ended in rows.items():
            keys, lanes, *numbers = map(list, zip(*ended, strict=True))
            start, stop, cpu_s, nbytes = (np.array(column, np.float64) for column in numbers)
            measured = {"cpu_s": cpu_s, "nbytes": nbytes}
            run.log.reported.append(ReportedTasks(keys, lanes, start, stop, measured))
        metered, self._metered = self._metered, {}
        for name, value in metered.items():
            self._recorder.metered.add(*name, value)

    def _meter(self, execution: Execution, run: TrackedRun) -> None:
        name = run.log.run, execution.worker.address, split_key(execution.key)[1]
        for activity, unit, value in execution.metered:
            entry = *name, activity, unit
            self._metered[entry] = self._metered.get(entry, 0.0) + value


def _record_activities(execution: Execution, lane: LaneKey, run: TrackedRun) -> None:
    for step in execution.steps:
        if step.kind != _COMPUTE:
            run.log.activities.append(LaneActivity(execution.key, lane, *step))
