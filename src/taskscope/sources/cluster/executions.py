"""Tasks that ended on workers: columns, put on the axis of the recorder's clock, and written as rows of runs.

A worker corrects its times by its clock's difference to the scheduler's: one unfiltered measurement per
heartbeat, which on a busy machine is off by tens of milliseconds. The worker's plugin sends the correction
with each task; it is taken out, and the measured one (`taskscope.sources.cluster.workers`) put in.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
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
from taskscope.sources.cluster.workers import DAY_S, Workers, amount, thread_id

_CALL = re.compile(r"([A-Za-z_]\w*)\((.*?),?\)", re.DOTALL)
_Record: TypeAlias = Sequence[Any]
"""Key, worker, thread, bytes, error, steps and measurements of an execution: see `plugin`."""
_Floats: TypeAlias = NDArray[np.float64]

COMPUTE = len(ACTIVITIES)
"""The code of computing among the kinds of steps; the others are codes of activities."""
_KINDS = {name: code for code, name in enumerate((*ACTIVITIES, "compute"))}
_OTHER = _KINDS["other"]
MOST_STEPS = 1_000
"""As many steps of a task as plugins send, besides the one that computed."""
_MAX_METRICS = 50
_MAX_SHOWN = 100_000


@dataclass(slots=True, eq=False)
class Executions:
    """Tasks that ended on workers, checked, a column each; times are as workers have them until placed."""

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
    owner: NDArray[np.int64]
    """The place of the task of each step; steps are in each worker's order."""
    kind: NDArray[np.uint8]
    start: _Floats
    stop: _Floats
    source: list[str | None]
    moved: _Floats
    """The bytes of transfers, NaN where unknown."""
    computed: NDArray[np.int64]
    """The step of each task that computed, its last one where none did."""
    set_back: list[int]
    """The tasks with a step that stopped before it started."""
    n_cut: int
    lanes: list[LaneKey] = field(default_factory=list)

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
    all_steps = [(_computing(*steps),) if _is_pair(steps) else steps for steps in all_steps]
    n_steps = np.array([len(steps) for steps in all_steps], np.int64)
    if not n_steps.all():
        raise ValueError("a record without a step")
    owner, last = np.repeat(np.arange(len(records)), n_steps), np.cumsum(n_steps) - 1
    flat = list(chain.from_iterable(all_steps))
    start = np.array([step["start"] for step in flat], np.float64)
    stop = np.array([step["stop"] for step in flat], np.float64)
    if not (np.isfinite(start).all() and np.isfinite(stop).all()):
        raise ValueError("times must be finite")
    kind = np.array([_KINDS.get(step["action"], _OTHER) for step in flat], np.uint8)
    computed = np.full(len(records), -1)
    computing = np.flatnonzero(kind == COMPUTE)
    computed[owner[computing]] = computing
    computed = np.where(computed < 0, last, computed)
    measured = list(map(_read_measured, packed))
    moved = np.full(len(flat), np.nan)
    for first, (_, sizes, _) in zip((last - n_steps + 1).tolist(), measured, strict=True):
        for step, size in sizes:
            moved[first + step] = size
    metered = [
        _metered(total_s, entries, is_failed=place in failed)
        for place, (_, _, (total_s, entries)) in enumerate(measured)
    ]
    cpu = np.array([_cpu_s(entries) for _, _, (_, entries) in measured], np.float64)
    sources = [step.get("source") for step in flat]
    return Executions(
        keys=keys,
        workers=list(map(str, workers)),
        threads=[thread_id(thread or 0) for thread in threads],
        errors={place: error_text(str(error or "unknown error")) for place, error in failed.items()},
        nbytes=possible_sizes(nbytes),
        correction=np.array([correction for correction, _, _ in measured], np.float64),
        cpu=np.minimum(cpu, np.maximum(stop - start, 0.0)[computed]),
        metered=metered,
        owner=owner,
        kind=kind,
        start=start,
        stop=np.maximum(start, stop),
        source=[None if source is None else str(source) for source in sources],
        moved=moved,
        computed=computed,
        set_back=sorted(set(owner[stop < start].tolist())),
        n_cut=int((n_steps > MOST_STEPS).sum()),
    )


def _is_pair(steps: Sequence[Any]) -> bool:
    """Return whether these are start and stop of a task that only computed."""
    return bool(steps) and type(steps[0]) is not dict


def _computing(start: float, stop: float) -> Mapping[str, Any]:
    return {"action": "compute", "start": start, "stop": stop}


_Entries: TypeAlias = Sequence[tuple[str, str, float]]


def _read_measured(packed: bytes | None) -> tuple[float, list[tuple[int, float]], tuple[float, _Entries]]:
    """Return a task's correction, bytes of its transfers by step, and what it was metered."""
    if packed is None:
        return math.nan, [], (math.nan, ())
    delay_s, total_s, sizes, entries = unpacked(packed)
    correction = math.nan if delay_s is None or not abs(delay_s) < DAY_S else float(delay_s)
    moved = [(int(place), amount(size)) for place, size in zip(sizes[::2], sizes[1::2], strict=True)]
    return correction, moved, (amount(total_s), _summed(entries))


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


class ExecutionWriter:
    """Writes records of ended tasks as rows of runs."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._recorder = workers.recorder
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

    def _record(self, executions: Executions, runs: list[TrackedRun | None]) -> None:
        keys = executions.keys
        coroutines = {
            place for place, run in enumerate(runs) if run is not None and run.tasks[keys[place]].is_coroutine
        }
        self.place(executions, coroutines)
        for place in self._impossible(executions, runs):
            self._record_impossible(executions, place, runs[place])
            runs[place] = None
        self._meter(executions, runs)
        places: dict[TrackedRun, list[int]] = {}
        for place, run in enumerate(runs):
            if run is not None:
                places.setdefault(run, []).append(place)
        for run, mine in places.items():
            self._warn_of_clocks(executions, mine)
            record_executions(run, executions, mine)

    def _impossible(self, executions: Executions, runs: Sequence[TrackedRun | None]) -> list[int]:
        """Return the tasks with impossible times."""
        start, stop = executions.start[executions.computed], executions.stop[executions.computed]
        begins = np.array([math.nan if run is None else run.log.start for run in runs])
        latest = self._recorder.clock.perf_counter() + DAY_S
        places: list[int] = np.flatnonzero((start < begins - DAY_S) | (stop > latest)).tolist()
        return places

    def _record_impossible(self, executions: Executions, place: int, run: TrackedRun | None) -> None:
        """Record a task by the scheduler's own events."""
        if run is None:
            return
        key, error = executions.keys[place], executions.errors.get(place)
        now = self._recorder.clock.perf_counter()
        label = self._workers.get(executions.workers[place]).label
        self._recorder.warn(
            f"{label} reported impossible times of tasks: when these ran is known from the scheduler only"
        )
        run.end_task(key, float(executions.nbytes[place]), error)
        run.log.submitted.setdefault(key, now)
        run.log.end_unreported(key, now, "finished" if error is None else "erred", error)

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

    def _warn_of_clocks(self, executions: Executions, places: Sequence[int]) -> None:
        for place in set(executions.set_back).intersection(places):
            worker = executions.lanes[place].label.rpartition(", thread ")[0]
            self._recorder.warn(f"the clock of {worker} was set back: times of its tasks are uncertain")

    def record_attempt(self, record: _Record, run: TrackedRun | None) -> None:
        """Record a failed attempt that is followed by another, and its activities."""
        executions, errors = read_executions([record])
        for error in errors:
            self._recorder.fault("reading a failed attempt", error)
        if run is None or not len(executions):
            return
        self.place(executions)
        _record_activities(run.log, executions, {0})
        key, step = executions.keys[0], int(executions.computed[0])
        run.n_attempts[key] += 1
        text = f"{self._text(executions.errors[0])} (attempt {run.n_attempts[key]})"
        if executions.kind[step] == COMPUTE:
            times = float(executions.start[step]), float(executions.stop[step])
            run.log.activities.append(LaneActivity(key, executions.lanes[0], FAILED_ATTEMPT, *times, text))

    def _text(self, error: str) -> str:
        error = error if len(error) <= _MAX_TEXT else f"{error[:_MAX_TEXT]}…"
        if error not in self._texts and len(self._texts) >= _MAX_TEXTS:
            # A recording has each text once, for ever; there must not be one for each of a million tasks.
            error = f"{error.partition(':')[0]}: …"
        self._texts.add(error)
        return error

    def place(self, executions: Executions, coroutines: Collection[int] = ()) -> None:
        """Put times on the axis of the recorder's clock, as it was last compared, and tasks on lanes."""
        numbers: dict[str, int] = {}
        worker = np.array([numbers.setdefault(a, len(numbers)) for a in executions.workers], np.int64)
        workers = [self._workers.get(address) for address in numbers]
        corrections = executions.correction
        for number, known in enumerate(workers):
            mine = corrections[(worker == number) & ~np.isnan(corrections)]
            known.clock.note(mine[-_LATEST:].tolist())
        ahead_s = np.array([w.clock.ahead_s for w in workers])
        unknown_s = np.array([w.clock.shift_s(math.nan) for w in workers])
        of, correction = worker[executions.owner], corrections[executions.owner]
        shift = np.where(np.isnan(correction), unknown_s[of], ahead_s[of] - correction)
        shift = np.where(np.isin(executions.kind, UNCORRECTED), ahead_s[of], shift) + self._shift_s
        executions.start += shift
        executions.stop += shift
        start, stop = executions.start.tolist(), executions.stop.tolist()
        for place, step in enumerate(executions.computed.tolist()):
            on, thread = workers[worker[place]], executions.threads[place]
            executions.lanes.append(
                on.coroutine_lane(thread, start[step], stop[step])
                if place in coroutines
                else on.lane(thread, stop[step])
            )

    def compare_clocks(self) -> None:
        """Find the recorder's axis on the wall clock, anew each time, for that one may be set."""
        before, self._shift_s = self._shift_s, self._recorder.clock.shift_s()
        step_s = before - self._shift_s
        if not math.isnan(before) and abs(step_s) > _STEP_S:
            self._recorder.warn(
                f"the clock of this machine was set by {step_s:+.1f} s: times around that are uncertain"
            )


def record_executions(run: TrackedRun, executions: Executions, places: Sequence[int]) -> None:
    """Record the executions at some places, which are all of one run."""
    log, keys, errors, lanes = run.log, executions.keys, executions.errors, executions.lanes
    start, stop = executions.start[executions.computed], executions.stop[executions.computed]
    landed: list[object] = []
    nbytes = executions.nbytes.tolist()
    for place in places:
        if run.end_task(keys[place], nbytes[place], errors.get(place)):
            landed += (keys[place], float(stop[place]))
        log.submitted.pop(keys[place], None)
        log.sent_to.pop(keys[place], None)
    run.last_stop = max(run.last_stop, float(stop[list(places)].max()))
    _record_activities(log, executions, set(places))
    for place in [place for place in places if place in errors] if errors else ():
        times = float(start[place]), float(stop[place]), float(executions.cpu[place])
        log.failed.append(FailedTask(keys[place], lanes[place], *times, False, errors[place]))
    done = [place for place in places if place not in errors]
    if done:
        measured = {"cpu_s": executions.cpu[done], "nbytes": executions.nbytes[done]}
        log.landed.extend(landed)
        log.reported.append(
            ReportedTasks(
                [keys[place] for place in done],
                [lanes[place] for place in done],
                start[done],
                stop[done],
                measured,
            )
        )


def _record_activities(log: RunLog, executions: Executions, places: set[int]) -> None:
    start, stop = executions.start, executions.stop
    for step in np.flatnonzero(executions.kind != COMPUTE).tolist():
        place = int(executions.owner[step])
        if place in places and abs(start[step] - stop[executions.computed[place]]) < DAY_S:
            log.activities.append(
                LaneActivity(
                    executions.keys[place],
                    executions.lanes[place],
                    int(executions.kind[step]),
                    float(start[step]),
                    float(stop[step]),
                    executions.source[step] or "",
                    float(executions.moved[step]),
                )
            )
