"""Make rows of runs from ended tasks, many at once, with times on the recorder's axis.

A worker corrects its times by its clock's difference to the scheduler's: one unfiltered measurement per
heartbeat, which on a busy machine is off by tens of milliseconds. That correction is taken out, and a
measured one (`ClockProbe`) put in; for workers on the scheduler's host it is 0.

A worker's report of a task has the moment of the report by its own clock, uncorrected, right after the task's
stop. A report may be late and is never early, so the difference is the correction, or more. It is the same
for all tasks between two heartbeats, so reports in time show which were late. Nor is it so much that a task
would have begun before the end of the one before it on its thread.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from taskscope.model.errortext import MAX_ERROR_TEXT
from taskscope.model.guard import Guard
from taskscope.model.tables.activities import ACTIVITIES, FAILED_ATTEMPT
from taskscope.model.tables.columns import possible_sizes
from taskscope.record import LaneActivity, LaneKey, RunLog
from taskscope.record.writers.runlog import FailedTask, ReportedTasks
from taskscope.sources.cluster.runs import TrackedRun
from taskscope.sources.cluster.workers.activity import TransferLogs
from taskscope.sources.cluster.workers.known import DAY_S, Watched, thread_id
from taskscope.sources.cluster.workers.metrics import Ended, WorkerMetrics

_CALL = re.compile(r"([A-Za-z_]\w*)\((.*?),?\)", re.DOTALL)
_Record: TypeAlias = Mapping[str, Any]
_Floats: TypeAlias = NDArray[np.float64]

COMPUTE = len(ACTIVITIES)
"""The code of computing among the kinds of steps; the others are codes of activities."""
_KINDS = {name: code for code, name in enumerate((*ACTIVITIES, "compute"))}
_OTHER = _KINDS["other"]
_MAX_STEPS = 1_000
_MAX_SHOWN = 100_000


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Steps of tasks, in each worker's order, by its clock and with distributed's correction."""

    owner: NDArray[np.int64]
    kind: NDArray[np.uint8]
    start: _Floats
    stop: _Floats
    source: list[str | None]


@dataclass(frozen=True, slots=True, eq=False)
class Executions:
    """Tasks that ended on workers."""

    keys: list[Hashable]
    workers: list[str]
    threads: list[int]
    errors: dict[int, str]
    nbytes: _Floats
    reported: _Floats
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
    failed = [place for place, record in enumerate(records) if record["status"] != "OK"]
    nbytes = np.array([record.get("nbytes", math.nan) for record in records], np.float64)
    nbytes[failed] = math.nan
    # A key that cannot be hashed would raise for all of them later.
    dict.fromkeys(record["key"] for record in records)
    all_steps = [record["startstops"] for record in records]
    steps, stepped = _read_steps([_bounded(steps) for steps in all_steps])
    computed, computed_stop = _computing(steps, len(records))
    return Executions(
        keys=[record["key"] for record in records],
        workers=[str(record["worker"]) for record in records],
        threads=[thread_id(record.get("thread") or 0) for record in records],
        errors={
            place: error_text(str(records[place].get("exception_text") or "unknown error"))
            for place in failed
        },
        nbytes=possible_sizes(nbytes),
        reported=_plausible([reported_at(record) for record in records], steps, computed),
        steps=steps,
        computed=computed,
        computed_stop=computed_stop,
        stepped=sorted(set(steps.owner[stepped].tolist())),
        n_cut=sum(len(steps) > _MAX_STEPS for steps in all_steps),
    )


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
    )
    return steps, np.flatnonzero(stop < start)


def _bounded(steps: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Return the first steps of a task, and the computing that was last."""
    if len(steps) <= _MAX_STEPS:
        return steps
    computed = [step for step in steps[_MAX_STEPS - 1 :] if step["action"] == "compute"]
    return [*steps[: _MAX_STEPS - 1], *computed[-1:]]


def _plausible(reported: Sequence[float], steps: Steps, computed: NDArray[np.int64]) -> _Floats:
    """Return when tasks were reported, NaN where that is a day or more from when they ran."""
    moments = np.array(reported, np.float64)
    moments[np.abs(moments - steps.stop[computed]) > DAY_S] = math.nan
    return moments


def _computing(steps: Steps, n: int) -> tuple[NDArray[np.int64], _Floats]:
    """Return the last computing step of each execution, or its last step, and when computing stopped."""
    last = np.searchsorted(steps.owner, np.arange(n), side="right") - 1
    is_computing = np.flatnonzero(steps.kind == COMPUTE)
    latest = np.full(n, -1)
    np.maximum.at(latest, steps.owner[is_computing], is_computing)
    stop = np.full(n, np.nan)
    np.fmax.at(stop, steps.owner[is_computing], steps.stop[is_computing])
    return np.where(latest < 0, last, latest), stop


def reported_at(record: _Record) -> float:
    """Return when a worker reported a task, by its own clock and uncorrected; NaN where that is missing."""
    try:
        moment = float(str(record.get("stimulus_id")).rpartition("-")[2])
    except ValueError:
        return math.nan
    return moment if math.isfinite(moment) else math.nan


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
_NEIGHBOURS = 8
_NEAR_S = 0.2
_NEXT = 3
_NEXT_S = 0.05
"""A heartbeat, of which there is one in half a second at most, hardly ever changes it within this time."""
_Numbers: TypeAlias = NDArray[np.int64]


class _Reports(NamedTuple):
    """Reports of tasks, a column each; `added` is the correction that was found in their times."""

    worker: _Numbers
    thread: _Numbers
    start: _Floats
    stop: _Floats
    reported: _Floats
    added: _Floats

    def part(self, rows: NDArray[np.bool_] | _Numbers) -> _Reports:
        return _Reports._make(column[rows] for column in self)

    def and_then(self, later: _Reports) -> _Reports:
        return _Reports._make(np.concatenate(both) for both in zip(self, later, strict=True))


class Corrections:
    """The corrections of the workers of one cluster; their last reports are compared with new ones."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        nothing = np.empty(0)
        self._last = _Reports(nothing.astype(np.int64), nothing.astype(np.int64), *(nothing,) * 4)

    def applied(self, batch: Executions) -> _Floats:
        """Return the correction in the times of each task, NaN where it is not known.

        The difference seems too small at times, for some tasks, and changes with a heartbeat. So the
        correction is the difference or, if that is more, the lesser of the largest right before and the
        largest right after. Where one side has none, the nearest of the other side count, as far as no task
        begins before the last one of its thread.
        """
        numbers = self._numbers
        new = _Reports(
            np.array([numbers.setdefault(address, len(numbers)) for address in batch.workers], np.int64),
            np.array(batch.threads, np.int64),
            batch.steps.start[batch.computed],
            batch.computed_stop,
            batch.reported,
            np.full(len(batch), np.nan),
        )
        before = self._last.part(self._last.reported < self._of_each(np.fmin, np.inf, new)[self._last.worker])
        reports = before.and_then(new)
        order = np.argsort(reports.worker, kind="stable")
        seen = reports.stop - reports.reported
        found = np.empty_like(seen)
        found[order] = _by_neighbours(reports.worker[order], reports.stop[order], seen[order])
        found[: len(before.added)] = before.added
        found = _by_threads(reports, seen, found)[len(before.added) :]
        self._remember(new._replace(added=found))
        return found

    def _of_each(self, least: np.ufunc, nothing: float, reports: _Reports) -> _Floats:
        """Return when each worker's first (`np.fmin`) or last (`np.fmax`) of some reports was made."""
        moments = np.full(len(self._numbers), nothing)
        least.at(moments, reports.worker, reports.reported)
        return moments

    def _remember(self, new: _Reports) -> None:
        """Keep the last reports of each worker; one that is read again is recognised."""
        known = self._of_each(np.fmax, -np.inf, self._last)[new.worker]
        reports = self._last.and_then(new.part((new.reported > known) & ~np.isnan(new.added)))
        order = np.argsort(reports.worker, kind="stable")
        worker = reports.worker[order]
        n_later = np.searchsorted(worker, worker, side="right") - 1 - np.arange(len(worker))
        self._last = reports.part(order[n_later < _NEIGHBOURS])


def _by_neighbours(worker: _Numbers, stop: _Floats, seen: _Floats) -> _Floats:
    """Return the corrections of tasks in order of worker and time, as their neighbours show."""
    sides = np.full((2, len(seen)), np.nan)
    next_to = sides.copy()
    for distance in range(1, min(_NEIGHBOURS, len(seen) - 1) + 1):
        apart_s = np.abs(stop[distance:] - stop[:-distance])
        is_near = (worker[distance:] == worker[:-distance]) & (apart_s <= _NEAR_S)
        near = np.where(is_near, (seen[:-distance], seen[distance:]), np.nan)
        _most(sides, near, distance)
        if distance <= _NEXT:
            _most(next_to, np.where(apart_s <= _NEXT_S, near, np.nan), distance)
    both = np.minimum(*sides)
    found: _Floats = np.fmax(seen, np.where(np.isnan(both), np.fmax(*next_to), both))
    return found


def _most(sides: _Floats, near: _Floats, distance: int) -> None:
    """Take the corrections of tasks so many places before and after, where larger."""
    sides[0, distance:] = np.fmax(sides[0, distance:], near[0])
    sides[1, :-distance] = np.fmax(sides[1, :-distance], near[1])


def _by_threads(reports: _Reports, seen: _Floats, found: _Floats) -> _Floats:
    """Return the corrections, smaller where a task would have begun before its thread was free."""
    order = np.lexsort((reports.thread, reports.worker))
    before, after = order[:-1], order[1:]
    is_next = (reports.worker[before] == reports.worker[after]) & (
        reports.thread[before] == reports.thread[after]
    )
    free = reports.stop[before] - found[before]
    most = np.full_like(found, np.nan)
    most[after[is_next]] = (reports.start[after] - free)[is_next]
    return np.where(np.isnan(found), found, np.fmax(seen, np.fmin(found, most)))


_STEP_S = 0.1
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

    def __init__(self, watched: Watched, transfers: TransferLogs, metrics: WorkerMetrics) -> None:
        self._workers = watched.workers
        self._recorder = watched.recorder
        self._transfers = transfers
        self._metrics = metrics
        self._corrections = Corrections()
        self._shift_s = math.nan
        self._texts: set[str] = set()

    def record(
        self,
        records: Sequence[Mapping[str, Any]],
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
        self._meter(timed, runs, coroutines)
        for run, all_places in places.items():
            mine = [place for place in all_places if place not in impossible]
            if run is not None and mine:
                self._warn_of_clocks(timed, mine)
                record_executions(run, timed, mine, self._transfers)

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

    def _meter(
        self, timed: TimedExecutions, runs: Sequence[TrackedRun | None], coroutines: Collection[int]
    ) -> None:
        executions = timed.executions
        start = timed.start[executions.computed]
        seconds = timed.stop[executions.computed] - start
        logs = [None if run is None else run.log for run in runs]
        columns = (logs, executions.keys, start.tolist(), seconds.tolist(), executions.reported.tolist())
        tasks = map(Ended, *columns)
        if not (executions.errors or coroutines):
            self._metrics.end(executions.workers, tasks)
            return
        apart = executions.errors.keys() | coroutines
        mine = [place for place in range(len(executions)) if place not in apart]
        found = list(tasks)
        self._metrics.end([executions.workers[place] for place in mine], [found[place] for place in mine])

    def _warn_of_clocks(self, timed: TimedExecutions, places: Sequence[int]) -> None:
        for place in set(timed.executions.stepped).intersection(places):
            worker = timed.lanes[place].label.rpartition(", thread ")[0]
            self._recorder.warn(f"the clock of {worker} was set back: times of its tasks are uncertain")

    def record_attempts(
        self, records: Sequence[Mapping[str, Any]], run_of: Callable[[Hashable], TrackedRun | None]
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
            _record_activities(run.log, timed, {place}, self._transfers)
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
        corrections = self._corrections.applied(executions)
        known = np.flatnonzero(~np.isnan(corrections))
        stops, found = executions.computed_stop[known].tolist(), corrections[known].tolist()
        for number, stop, correction in zip(worker[known].tolist(), stops, found, strict=True):
            workers[number].clock.note(stop, correction)
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


def record_executions(
    run: TrackedRun, timed: TimedExecutions, places: Sequence[int], transfers: TransferLogs
) -> None:
    """Record the executions at some places, which are all of one run."""
    executions, log = timed.executions, run.log
    keys = [executions.keys[place] for place in places]
    run.rows.end(
        keys, {n for n, place in enumerate(places) if place in executions.errors} if executions.errors else ()
    )
    run.need(keys)
    _returned(log, keys)
    run.last_stop = max(run.last_stop, float(timed.stop[executions.computed[list(places)]].max()))
    _record_activities(log, timed, set(places), transfers)
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
        log.failed.append(FailedTask(key, timed.lanes[place], start, stop, math.nan, False, error))


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
    log.reported.append(ReportedTasks([*keys], lanes, start, stop, {"nbytes": size}))


def _record_activities(
    log: RunLog, timed: TimedExecutions, places: set[int], transfers: TransferLogs
) -> None:
    executions, steps = timed.executions, timed.executions.steps
    for step in np.flatnonzero(steps.kind != COMPUTE).tolist():
        place = int(steps.owner[step])
        if place not in places or not abs(timed.start[step] - timed.stop[executions.computed[place]]) < DAY_S:
            continue
        sized: tuple[int | None, float] = (None, math.nan)
        source = steps.source[step]
        if source is not None:
            start, stop = float(steps.start[step]), float(steps.stop[step])
            sized = transfers.expect(log, executions.workers[place], source, start, stop)
        log.activities.append(
            LaneActivity(
                executions.keys[place],
                timed.lanes[place],
                int(steps.kind[step]),
                float(timed.start[step]),
                float(timed.stop[step]),
                source or "",
                *sized,
            )
        )
