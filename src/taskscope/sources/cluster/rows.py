"""Make rows of runs from ended tasks, many at once, with times on the recorder's axis.

A worker corrects its times by its clock's difference to the scheduler's: one unfiltered measurement per
heartbeat, which on a busy machine is off by tens of milliseconds. The worker's plugin sends the correction
with each task; it is taken out, and the measured one (`taskscope.sources.cluster.workers`) put in.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from taskscope.model.errortext import MAX_ERROR_TEXT
from taskscope.model.guard import Guard
from taskscope.model.keys import key_text, split_key
from taskscope.model.tables.activities import ACTIVITIES, FAILED_ATTEMPT
from taskscope.model.tables.columns import possible_sizes
from taskscope.record import LaneActivity, LaneKey, RunLog
from taskscope.record.writers.runlog import FailedTask, ReportedTasks
from taskscope.sources.cluster.connection import unpacked
from taskscope.sources.cluster.runs import TrackedRun
from taskscope.sources.cluster.workers import DAY_S, Watched, amount, thread_id

_CALL = re.compile(r"([A-Za-z_]\w*)\((.*?),?\)", re.DOTALL)
_Record: TypeAlias = Sequence[Any]
"""Key, worker, thread, bytes, error, steps and measurements of an execution: see `plugin`."""
_Floats: TypeAlias = NDArray[np.float64]

COMPUTE = len(ACTIVITIES)
"""The code of computing among the kinds of steps; the others are codes of activities."""
_KINDS = {name: code for code, name in enumerate((*ACTIVITIES, "compute"))}
_OTHER = _KINDS["other"]
_MAX_STEPS = 1_000
_MAX_METRICS = 50
_MAX_SHOWN = 100_000


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Steps of tasks, in each worker's order, by its clock and with distributed's correction."""

    owner: NDArray[np.int64]
    kind: NDArray[np.uint8]
    start: _Floats
    stop: _Floats
    source: list[str | None]
    nbytes: _Floats
    """The bytes of transfers, NaN where unknown."""


@dataclass(frozen=True, slots=True, eq=False)
class Executions:
    """Tasks that ended on workers."""

    keys: list[Hashable]
    workers: list[str]
    threads: list[int]
    errors: dict[int, str]
    nbytes: _Floats
    correction: _Floats
    """The correction in the times of each task; NaN where it is not known."""
    cpu: _Floats
    metered: list[Sequence[tuple[str, str, float]]]
    """Activity, unit and amount of what each task was metered; empty where that is not known."""
    steps: Steps
    computed: NDArray[np.int64]
    computed_stop: _Floats
    stepped: list[int]
    n_cut: int = 0

    def __len__(self) -> int:
        return len(self.keys)


def read_executions(records: Sequence[_Record]) -> tuple[Executions, list[BaseException]]:
    """Return the executions that records contain, and the errors of records that could not be read."""
    errors: list[BaseException] = []
    guard = Guard("a record", lambda _where, error: errors.append(error))
    with guard:
        return _read(records), []
    errors.clear()
    good = []
    for record in records:
        with guard:
            _read([record])
            good.append(record)
    return _read(good), errors


def _read(records: Sequence[_Record]) -> Executions:
    columns = zip(*records, strict=True) if records else ((),) * 7
    keys, workers, threads, sizes, errors, all_steps, packed = map(list, columns)
    failed = {place: error for place, error in enumerate(errors) if error is not None}
    nbytes = np.array([math.nan if size is None else size for size in sizes], np.float64)
    nbytes[list(failed)] = math.nan
    # A key that cannot be hashed would raise for all of them later.
    dict.fromkeys(keys)
    steps, stepped = _read_steps([_bounded(steps) for steps in all_steps])
    computed, computed_stop = _computing(steps, len(records))
    measured = list(map(_read_measured, packed))
    for place, (first, (_, moved, _)) in enumerate(zip(_firsts(steps, len(records)), measured, strict=True)):
        for step, size in moved:
            if steps.owner[min(first + step, len(steps.owner) - 1)] == place:
                steps.nbytes[first + step] = size
    metered = [
        _metered(total_s, entries, is_failed=place in failed)
        for place, (_, _, (total_s, entries)) in enumerate(measured)
    ]
    return Executions(
        keys=keys,
        workers=list(map(str, workers)),
        threads=[thread_id(thread or 0) for thread in threads],
        errors={place: error_text(str(error or "unknown error")) for place, error in failed.items()},
        nbytes=possible_sizes(nbytes),
        correction=np.array([correction for correction, _, _ in measured], np.float64),
        cpu=np.minimum(
            np.array([_cpu_s(entries) for _, _, (_, entries) in measured], np.float64),
            steps.stop[computed] - steps.start[computed],
        ),
        metered=metered,
        steps=steps,
        computed=computed,
        computed_stop=computed_stop,
        stepped=sorted(set(steps.owner[stepped].tolist())),
        n_cut=sum(len(steps) > _MAX_STEPS for steps in all_steps),
    )


_Entries: TypeAlias = Sequence[tuple[str, str, float]]


def _read_measured(packed: bytes | None) -> tuple[float, list[tuple[int, float]], tuple[float, _Entries]]:
    """Return a task's correction, bytes of its transfers by step, and what it was metered."""
    if packed is None:
        return math.nan, [], (math.nan, ())
    delay_s, total_s, sizes, entries = unpacked(packed)
    correction = math.nan if delay_s is None or not abs(delay_s) < DAY_S else float(delay_s)
    moved = [(int(place), amount(size)) for place, size in zip(sizes[::2], sizes[1::2], strict=True)]
    return (
        correction,
        moved,
        (amount(total_s), [(*name, value) for name, value in _summed(entries).items()]),
    )


def _summed(entries: Sequence[Sequence[Any]]) -> dict[tuple[str, str], float]:
    sums: dict[tuple[str, str], float] = {}
    for label, value, unit in entries:
        name = name_text(label), name_text(unit)
        if len(sums) < _MAX_METRICS or name in sums:
            sums[name] = sums.get(name, 0.0) + amount(float(value))
    return sums


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


def _firsts(steps: Steps, n: int) -> list[int]:
    """Return the place of the first step of each execution."""
    return list(map(int, np.searchsorted(steps.owner, np.arange(n))))


def _read_steps(all_steps: Sequence[Sequence[Mapping[str, Any]]]) -> tuple[Steps, NDArray[np.intp]]:
    counts = np.array([len(steps) for steps in all_steps], np.int64)
    if not counts.all():
        raise ValueError("a record without a step")
    flat = list(chain.from_iterable(all_steps))
    start = np.array([step["start"] for step in flat], np.float64)
    stop = np.array([step["stop"] for step in flat], np.float64)
    if not (np.isfinite(start).all() and np.isfinite(stop).all()):
        raise ValueError("times must be finite")
    kind = np.array([_KINDS.get(step["action"], _OTHER) for step in flat], np.uint8)
    sources = [step.get("source") for step in flat]
    steps = Steps(
        np.repeat(np.arange(len(all_steps)), counts),
        kind,
        start,
        np.maximum(start, stop),
        [None if source is None else str(source) for source in sources],
        np.full(len(flat), np.nan),
    )
    return steps, np.flatnonzero(stop < start)


def _bounded(steps: Sequence[Any]) -> Sequence[Mapping[str, Any]]:
    """Return the first steps of a task, and the computing that was last; start and stop are computing."""
    if steps and type(steps[0]) is not dict:
        start, stop = steps
        return ({"action": "compute", "start": start, "stop": stop},)
    if len(steps) <= _MAX_STEPS:
        return steps
    computed = [step for step in steps[_MAX_STEPS - 1 :] if step["action"] == "compute"]
    return [*steps[: _MAX_STEPS - 1], *computed[-1:]]


def _computing(steps: Steps, n: int) -> tuple[NDArray[np.int64], _Floats]:
    """Return the last computing step of each execution, or its last step, and when computing stopped."""
    last = np.searchsorted(steps.owner, np.arange(n), side="right") - 1
    is_computing = np.flatnonzero(steps.kind == COMPUTE)
    latest = np.full(n, -1)
    np.maximum.at(latest, steps.owner[is_computing], is_computing)
    stop = np.full(n, np.nan)
    np.fmax.at(stop, steps.owner[is_computing], steps.stop[is_computing])
    return np.where(latest < 0, last, latest), stop


def error_text(shown: str) -> str:
    """Return the ``repr`` of an exception as its type and message, bounded.

    Examples
    --------
    >>> error_text("ZeroDivisionError('division by zero')")
    'ZeroDivisionError: division by zero'
    """
    shown = shown[:_MAX_SHOWN].encode("utf-8", "backslashreplace").decode("utf-8")
    call = _CALL.fullmatch(shown)
    try:
        message = ast.literal_eval(call[2]) if call and call[2] else None
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        message = None
    text = f"{call[1]}: {message}" if call and isinstance(message, str) else shown
    return text if len(text) <= MAX_ERROR_TEXT else f"{text[:MAX_ERROR_TEXT]}…"


UNCORRECTED = (ACTIVITIES.index("disk-read"), ACTIVITIES.index("disk-write"))
"""The kinds of steps to which workers add nothing."""

_STEP_S = 0.1
_LATEST = 9
_MAX_AT_ONCE = 10_000
"""As many rows as the recorder folds at once."""
_MAX_TEXT = 300
_MAX_TEXTS = 1_000


@dataclass(frozen=True, slots=True, eq=False)
class TimedExecutions:
    """Executions, their lanes, and when each of their steps was, on the axis of the recorder's clock."""

    executions: Executions
    lanes: list[LaneKey]
    start: _Floats
    stop: _Floats


class Rows:
    """Turns records of ended tasks into rows of runs."""

    def __init__(self, watched: Watched) -> None:
        self._workers = watched.workers
        self._recorder = watched.recorder
        self._shift_s = math.nan
        self._texts: set[str] = set()

    def record(
        self,
        records: Sequence[_Record],
        runs_of: Callable[[Sequence[Hashable], Collection[int]], list[TrackedRun | None]],
    ) -> bool:
        """Record tasks that ended; False if some of the records could not be read."""
        are_read = True
        for first in range(0, len(records), _MAX_AT_ONCE):
            executions, errors = read_executions(records[first : first + _MAX_AT_ONCE])
            are_read &= not errors
            if executions.n_cut:
                n_cut = f"{executions.n_cut:,}"
                self._recorder.warn(f"of {n_cut} tasks with very many transfers only the first are kept")
            for error in errors:
                self._recorder.fault("reading a record of the task stream", error)
            if len(executions):
                self._record(executions, runs_of(executions.keys, executions.errors.keys()))
        return are_read

    def _record(self, executions: Executions, runs: Sequence[TrackedRun | None]) -> None:
        places: dict[TrackedRun | None, list[int]] = {}
        for place, run in enumerate(runs):
            places.setdefault(run, []).append(place)
        coroutines = _coroutines(executions, places)
        timed = self.timed(executions, coroutines)
        impossible = self._record_impossible(timed, runs)
        runs = [None if place in impossible else run for place, run in enumerate(runs)]
        self._meter(executions, runs)
        for run, all_places in places.items():
            mine = [place for place in all_places if place not in impossible]
            if run is not None and mine:
                self._warn_of_clocks(timed, mine)
                record_executions(run, timed, mine)

    def _record_impossible(self, timed: TimedExecutions, runs: Sequence[TrackedRun | None]) -> set[int]:
        """Record tasks with impossible times by the scheduler's own events; return their places."""
        executions, now = timed.executions, self._recorder.clock.perf_counter()
        start, stop = timed.start[executions.computed], timed.stop[executions.computed]
        begins = np.array([math.nan if run is None else run.log.start for run in runs])
        found = np.flatnonzero((start < begins - DAY_S) | (stop > now + DAY_S)).tolist()
        for place in found:
            run, key = runs[place], executions.keys[place]
            error = executions.errors.get(place)
            if run is None:
                continue
            label = self._workers.get(executions.workers[place]).label
            self._recorder.warn(
                f"{label} reported impossible times of tasks: when these ran is known from the scheduler only"
            )
            run.rows.end([key], {0} if error is not None else ())
            run.need([key])
            run.log.submitted.setdefault(key, now)
            run.log.end_unreported(key, now, "finished" if error is None else "erred", error)
            run.given_back.pop(key, None)
            if error is None:
                run.landed[key] = float(executions.nbytes[place])
            else:
                run.failed[key] = error
        return set(found)

    def _meter(self, executions: Executions, runs: Sequence[TrackedRun | None]) -> None:
        sums: dict[tuple[int, str, str, str, str], float] = {}
        for key, worker, run, metered in zip(
            executions.keys, executions.workers, runs, executions.metered, strict=True
        ):
            if run is None or not metered:
                continue
            prefix = split_key(key)[1]
            for activity, unit, value in metered:
                name = run.log.run, worker, prefix, activity, unit
                sums[name] = sums.get(name, 0.0) + value
        for name, value in sums.items():
            self._recorder.metered.add(*name, value)

    def _warn_of_clocks(self, timed: TimedExecutions, places: Sequence[int]) -> None:
        for place in set(timed.executions.stepped).intersection(places):
            worker = timed.lanes[place].label.rpartition(", thread ")[0]
            self._recorder.warn(f"the clock of {worker} was set back: times of its tasks are uncertain")

    def record_attempts(
        self, records: Sequence[_Record], run_of: Callable[[Hashable], TrackedRun | None]
    ) -> None:
        """Record failed attempts that are followed by others, and their activities."""
        executions, errors = read_executions(records)
        for error in errors:
            self._recorder.fault("reading a failed attempt", error)
        if not len(executions):
            return
        timed = self.timed(executions)
        for place, key in enumerate(executions.keys):
            run = run_of(key)
            if run is None:
                continue
            _record_activities(run.log, timed, {place})
            run.n_attempts[key] += 1
            text = f"{self._text(executions.errors[place])} (attempt {run.n_attempts[key]})"
            step, lane = int(executions.computed[place]), timed.lanes[place]
            if executions.steps.kind[step] == COMPUTE:
                start, stop = float(timed.start[step]), float(timed.stop[step])
                run.log.activities.append(LaneActivity(key, lane, FAILED_ATTEMPT, start, stop, text))

    def _text(self, error: str) -> str:
        error = error if len(error) <= _MAX_TEXT else f"{error[:_MAX_TEXT]}…"
        if error not in self._texts and len(self._texts) >= _MAX_TEXTS:
            # A recording has each text once, for ever; there must not be one for each of a million tasks.
            error = f"{error.partition(':')[0]}: …"
        self._texts.add(error)
        return error

    def timed(self, executions: Executions, coroutines: Collection[int] = ()) -> TimedExecutions:
        """Put times on the axis of the recorder's clock, as it was last compared, and learn of clocks."""
        numbers: dict[str, int] = {}
        worker = np.array([numbers.setdefault(a, len(numbers)) for a in executions.workers], np.int64)
        workers = [self._workers.get(address) for address in numbers]
        corrections = executions.correction
        for number, known in enumerate(workers):
            mine = corrections[(worker == number) & ~np.isnan(corrections)]
            known.clock.note(mine[-_LATEST:].tolist())
        ahead_s = np.array([w.clock.ahead_s for w in workers])
        unknown_s = np.array([w.clock.shift_s(math.nan) for w in workers])
        steps = executions.steps
        of = worker[steps.owner]
        correction = corrections[steps.owner]
        shift = np.where(np.isnan(correction), unknown_s[of], ahead_s[of] - correction)
        shift = np.where(np.isin(steps.kind, UNCORRECTED), ahead_s[of], shift) + self._shift_s
        start, stop = steps.start + shift, steps.stop + shift
        lanes = [
            workers[w].coroutine_lane(thread, float(start[step]), float(stop[step]))
            if place in coroutines
            else workers[w].lane(thread, float(stop[step]))
            for place, (w, thread, step) in enumerate(
                zip(worker.tolist(), executions.threads, executions.computed, strict=True)
            )
        ]
        return TimedExecutions(executions, lanes, start, stop)

    def compare_clocks(self) -> None:
        """Find the recorder's axis on the wall clock, anew each time, for that one may be set."""
        before, self._shift_s = self._shift_s, self._recorder.clock.shift_s()
        step_s = before - self._shift_s
        if not math.isnan(before) and abs(step_s) > _STEP_S:
            self._recorder.warn(
                f"the clock of this machine was set by {step_s:+.1f} s: times around that are uncertain"
            )


def _coroutines(executions: Executions, places: Mapping[TrackedRun | None, Sequence[int]]) -> set[int]:
    return {
        place
        for run, mine in places.items()
        if run is not None and run.coroutines
        for place in mine
        if executions.keys[place] in run.coroutines
    }


def record_executions(run: TrackedRun, timed: TimedExecutions, places: Sequence[int]) -> None:
    """Record the executions at some places, which are all of one run."""
    executions, log = timed.executions, run.log
    keys = [executions.keys[place] for place in places]
    run.rows.end(
        keys, {n for n, place in enumerate(places) if place in executions.errors} if executions.errors else ()
    )
    run.need(keys)
    _returned(log, keys)
    run.last_stop = max(run.last_stop, float(timed.stop[executions.computed[list(places)]].max()))
    _record_activities(log, timed, set(places))
    if executions.errors or run.failed:
        for place, key in zip(places, keys, strict=True):
            run.failed.pop(key, None)
            if place in executions.errors:
                run.failed[key] = executions.errors[place]
    if executions.errors:
        _record_failed(log, timed, [place for place in places if place in executions.errors])
        places = [place for place in places if place not in executions.errors]
    if places:
        _record_finished(run, timed, places)


def _returned(log: RunLog, keys: Sequence[Hashable]) -> None:
    if log.submitted or log.sent_to:
        for key in keys:
            log.submitted.pop(key, None)
            log.sent_to.pop(key, None)


def _record_failed(log: RunLog, timed: TimedExecutions, places: Sequence[int]) -> None:
    executions = timed.executions
    for place in places:
        key, error, step = executions.keys[place], executions.errors[place], int(executions.computed[place])
        start, stop = float(timed.start[step]), float(timed.stop[step])
        cpu_s = float(executions.cpu[place])
        log.failed.append(FailedTask(key, timed.lanes[place], start, stop, cpu_s, False, error))


def _record_finished(run: TrackedRun, timed: TimedExecutions, places: Sequence[int]) -> None:
    executions, log = timed.executions, run.log
    keys = [executions.keys[place] for place in places]
    steps = executions.computed[list(places)]
    start, stop, size = timed.start[steps], timed.stop[steps], executions.nbytes[list(places)]
    # The first of several that have one key is when it landed.
    landed = {
        key: at
        for key, at in zip(reversed(keys), reversed(stop.tolist()), strict=True)
        if key not in run.landed
    }
    run.landed.update(zip(keys, size.tolist(), strict=True))
    for key in run.given_back.keys() & landed.keys():
        del run.given_back[key]
    log.landed.extend(chain.from_iterable(landed.items()))
    lanes = [timed.lanes[place] for place in places]
    measured = {"cpu_s": executions.cpu[list(places)], "nbytes": size}
    log.reported.append(ReportedTasks([*keys], lanes, start, stop, measured))


def _record_activities(log: RunLog, timed: TimedExecutions, places: set[int]) -> None:
    executions, steps = timed.executions, timed.executions.steps
    for step in np.flatnonzero(steps.kind != COMPUTE).tolist():
        place = int(steps.owner[step])
        if place not in places or not abs(timed.start[step] - timed.stop[executions.computed[place]]) < DAY_S:
            continue
        log.activities.append(
            LaneActivity(
                executions.keys[place],
                timed.lanes[place],
                int(steps.kind[step]),
                float(timed.start[step]),
                float(timed.stop[step]),
                steps.source[step] or "",
                float(steps.nbytes[step]),
            )
        )
