"""The rows of one compute: plain values in flat lists, written by many threads, taken by one as columns.

A flat ``list.extend`` of numbers is atomic under the interpreter's lock, needs no other lock, and leaves the
garbage collector nothing to track. The reader takes ``n`` items with ``rows[:n]`` and ``del rows[:n]``.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Literal, Protocol, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from taskscope.model.clock import Clock, whole_ticks
from taskscope.model.errortext import describe
from taskscope.model.tables.columns import (
    MEASURED,
    RowBlock,
    possible_sizes,
    round_down_f4,
    stored_measures,
)
from taskscope.model.tables.records import ERRED, FINISHED, INTERRUPTED, flag_of
from taskscope.model.tables.stacks import LineSums
from taskscope.model.tables.workers import Scheduled
from taskscope.options import TaskFacts
from taskscope.record.writers.graph import GraphSource


class Shipped(Protocol):
    """The part of `taskscope.sources.local.shipped.ShippedTimes` that a run's writers use."""

    def ship(self, inner: object, key: object) -> tuple[Callable[..., object], tuple[object, ...]]:
        """Return the pickle recipe of a task that is to be timed in another process."""

    def look(self) -> None:
        """See whether the first process has begun."""

    def read(self) -> None:
        """Read new rows of workers."""

    def landed(self, key: object) -> None:
        """Record the times of a task whose result has arrived."""

    def failed(self, key: object, text: str) -> None:
        """Record the times of a task whose result could not be sent."""

    def close(self) -> None:
        """Stop reading times."""


class LineCounter(Protocol):
    """The part of `taskscope.sources.local.lines.LineSource` that a run's tasks use."""

    def begin(self) -> tuple[Any, Any] | None:
        """Start measuring this thread; None where that is not possible."""

    def end(self, measuring: tuple[Any, Any], run: int, key: object) -> None:
        """Record the lines of this thread's task."""

    def refuse(self, why: str) -> None:
        """Warn why lines cannot be measured."""

    def add(self, run: int, key: object, worker: int | str, measured: Iterable[LineSums]) -> None:
        """Record the line times of a task."""


class Memory(Protocol):
    """The part of `taskscope.sources.local.memory.MemorySource` that a run's tasks use."""

    def calls_as(self, run: int, key: object) -> Callable[..., Any] | None:
        """Return what calls a function with two values, so that stacks name the task; None: nothing does."""


@dataclass(slots=True)
class WorkerCounts:
    """How many workers a cluster has, and how many of them are paused, since a moment of the clock."""

    n: int = 0
    n_paused: int = 0
    since: float = 0.0


Unreported: TypeAlias = Literal["finished", "erred", "interrupted", "lost", "released"]
"""The status of a task whose end no worker reported."""

_Clock: TypeAlias = Callable[[], float]
_Measures: TypeAlias = Mapping[type, Callable[[Any], float]]
_Needed: TypeAlias = tuple[
    dict[int, "LaneBuffer"], _Clock, _Clock, _Measures | None, dict[Any, Any], Callable[[object], object]
]
"""The lanes, the two clocks, how to measure results, the graph that wrappers leave, and what gets these."""


class RunLog:
    """One compute as it is being recorded.

    Sources write through the public attributes; only `Recorder.pull` reads and empties them.
    """

    REMOTE_WIDTH = 5 + len(MEASURED)

    def __init__(  # noqa: PLR0915 - an attribute a line
        self, run: int, clock: Clock, fault: Callable[[str, BaseException], None]
    ) -> None:
        self.run = run
        self.fault = fault
        self.perf_counter = clock.perf_counter
        self.thread_time = clock.thread_time
        self.label: str | None = None
        self.cell: str | None = None
        self.called_from: str | None = None
        """The line of the user's code that computes."""
        self.execution_count: int | None = None
        self.source_crc: int | None = None
        self.thread = threading.get_ident()
        """The thread that began it."""
        self.execution: str | None = None
        """The id of the kernel's request that ran its cell."""
        self.scheduler: str | None = None
        self.n_workers: int | None = None
        self.workers: WorkerCounts | None = None
        """The workers of its cluster; None in this process, and before its scheduler was read."""
        self.n_tasks = 0
        self.start = clock.perf_counter()
        self.stop: float | None = None
        self.status = "running"
        self.error: str | None = None
        self.metric: Callable[[object], object] | None = None
        self.before: dict[str, float | None] = {}
        """Times before its tasks, by names of `BEFORE`; moments are on the clock's axis."""
        self.graph_bytes: float | None = None
        """How large its graphs were as they were sent."""
        self.argument: tuple[str, float] | None = None
        """The task with the largest value in one of them, and the bytes of that value."""
        self.array: str | None = None
        """The user's array that it begins with; see `Run.array`."""
        self.depth_of: Callable[[int], int] = lambda _ident: 0
        """Returns how deep this compute is nested in a thread."""
        self.graph_source: GraphSource | None = None
        self.graph_growth: list[GraphSource] = []
        """New pieces of a graph that grows; a key is in one before any row of it."""
        self.lanes: dict[int, LaneBuffer] = {}
        self.spare: list[Any] = []
        """Wrappers of tasks that have run, for later tasks."""
        self.needed_by_tasks: _Needed = self.lanes, clock.perf_counter, clock.thread_time, None, {}, bool
        self.landed: list[object] = []
        """Flat: key, time at which its result entered the scheduler's cache."""
        self.activities: list[LaneActivity] = []
        self.values: list[object] = []
        """Flat: key, value of the user's cache metric."""
        self.remote: list[object] = []
        """Rows from other processes, flat: key, pid, thread, start, stop, and the values of `MEASURED`."""
        self.reported: list[ReportedTasks] = []
        """Tasks that a cluster's workers finished."""
        self.needs: list[object] = []
        """Flat: key, whether it has to run, a place in `NEEDS`; the last value of a key counts."""
        self.superseded: list[object] = []
        """Flat: key, status code of a row of it that another row or being in flight has replaced."""
        self.failed: list[FailedTask] = []
        self.failed_keys: set[object] = set()
        self.unseen: list[UnseenTask] = []
        self.submitted: dict[object, float] = {}
        """Keys that were sent to unobserved processes and have not returned, with the time they were sent."""
        self.sent_to: dict[object, tuple[str, str]] = {}
        """The address and the label of the cluster's worker that a submitted key was sent to."""
        self.running_on: Mapping[object, tuple[LaneKey, float]] = {}
        """Where, and since when, workers run submitted keys, by the last poll; replaced as a whole."""
        self.sent_counts: Sequence[tuple[object, int]] = ()
        """One key of each group, and how many it had at the last poll; empty unless these are very many."""
        self.scheduled: Mapping[str, Scheduled] = {}
        """A scheduler's counts of tasks that no worker has, by prefix; replaced as a whole."""
        self.is_held_elsewhere = False
        """Whether workers of a cluster hold its results, and not the scheduler of this process."""
        self.shipped: Shipped | None = None
        """The files of tasks in other processes; None where none are."""
        self.lines: LineCounter | None = None
        """The meter of lines of functions in its tasks; None where none are measured."""
        self.memory: Memory | None = None
        """The recorder of allocations by task; None where nothing does."""
        self.lock_looks = (0, 0)
        """How often a sampler wanted the interpreter's lock of its tasks, and how often a thread had it."""
        self.facts = TaskFacts.ALL
        """What is recorded of its tasks."""
        self.kind: type | None = None
        """What its tasks are wrapped in; None where they are not."""
        self.trusts_workers = True
        """Whether the workers can be expected to have taskscope, so that they can time tasks."""

    def forget_graph(self) -> None:
        """Release the graph and the wrappers; tasks may go on."""
        self.needed_by_tasks = (*self.needed_by_tasks[:4], {}, bool)
        self.spare.clear()

    def note_graph(self, n_bytes: float | None, argument: tuple[str, float] | None) -> None:
        """Add up how large graphs were as they were sent, and keep the largest value in one of them."""
        if n_bytes is not None:
            self.graph_bytes = (self.graph_bytes or 0.0) + n_bytes
        if argument is not None and (self.argument is None or argument[1] > self.argument[1]):
            self.argument = argument

    def note_lock(self, n_looks: int, n_held: int) -> None:
        """Add up how often the interpreter's lock was wanted, and how often a thread had it."""
        looks, held = self.lock_looks
        self.lock_looks = looks + n_looks, held + n_held

    def open_lane(self, ident: int) -> LaneBuffer:
        """Return the lane of a thread that runs its first task of this compute."""
        label = next((t.name for t in threading.enumerate() if t.ident == ident), f"thread {ident}")
        key = LaneKey(os.getpid(), ident, self.depth_of(ident), label)
        return self.lanes.setdefault(ident, LaneBuffer(key))

    def fail(
        self, key: object, lane: LaneKey, start: float, stop: float, cpu: float, error: BaseException
    ) -> None:
        """Record a task that raised."""
        self._add_failure(
            FailedTask(key, lane, start, stop, cpu, isinstance(error, KeyboardInterrupt), describe(error))
        )

    def land_failure(
        self,
        key: object,
        worker: tuple[int, int],
        times: tuple[float, float, float],
        text: str,
        *,
        interrupted: bool,
    ) -> None:
        """Record a task that raised in another process; `times` are start, stop and CPU seconds."""
        self._add_failure(FailedTask(key, LaneKey(*worker), *times, interrupted, text))

    def _add_failure(self, task: FailedTask) -> None:
        # Dask may run a failed task a second time, in this process; that is not a second task.
        if task.key not in self.failed_keys:
            self.failed_keys.add(task.key)
            self.failed.append(task)

    def end_unreported(
        self,
        key: object,
        stop: float,
        status: Unreported,
        error: str | None = None,
    ) -> None:
        """End a submitted task with the scheduler's times, unless its worker has reported it."""
        lane, start = self._place_of(key)
        worker = self.sent_to.pop(key, ("", ""))
        if self.submitted.pop(key, None) is not None:
            self.unseen.append(UnseenTask(key, min(start, stop), stop, status, error, *worker, lane))

    def sent(self, limit: int | None = None) -> list[tuple[LaneKey | None, object, float]]:
        """Return lane, key and start of at most so many submitted tasks, those with a lane first.

        A lane is known where a worker reported it, and the start is the worker's then.
        """
        placed = [key for key in self.running_on if key in self.submitted]
        known = set(placed)
        others = (key for key in self.running_keys() if key not in known)
        found = ((key, *self._place_of(key)) for key in islice(chain(placed, others), limit))
        return [(lane, key, start) for key, lane, start in found]

    def _place_of(self, key: object) -> tuple[LaneKey | None, float]:
        lane, start = self.running_on.get(key, (None, math.nan))
        # Since it was seen there it may have been sent to another worker.
        if lane is not None and lane.worker == self.sent_to.get(key, ("", ""))[0]:
            return lane, start
        return None, self.submitted.get(key, math.nan)

    def running_keys(self) -> list[object]:
        """Return the submitted keys that may run: of a pool one for each process, none while it starts."""
        keys = list(self.submitted)
        if self.shipped is None:
            return keys
        return keys[: self.n_workers] if "pool_start_s" in self.before else []

    def discard(self) -> None:
        noted = (self.landed, self.values, self.needs, self.superseded)
        for rows in (*noted, self.remote, *self.lanes.values()):
            rows.clear()
        self.reported.clear()
        self.failed.clear()
        self.unseen.clear()

    def in_flight(self) -> list[tuple[LaneKey, object, float]]:
        """Return lane, key and start of the tasks that threads of this process are running now."""
        found = []
        for lane in list(self.lanes.values()):
            task = lane.running()
            # A worker writes its row before it closes the task, so for a moment it is both.
            if task is not None and task != lane.folded and task[0] not in self.failed_keys:
                found.append((lane.key, *task))
        return found


@dataclass(frozen=True, slots=True)
class LaneKey:
    """The key of a lane: the process, the thread, and how deep this compute is nested in that thread.

    A thread of a cluster's worker has the worker's address instead of a process. Where it runs several tasks
    at a time, each has a slot of its own.
    """

    pid: int
    thread: int
    depth: int = 0
    label: str = ""
    """The thread's name; a later thread with the same identity and another name is another lane."""
    worker: str = ""
    slot: int = 0


class OpenTask(Protocol):
    """The part of `taskscope.sources.local.timing.TimedTask` that readers of its lane use."""

    key: Any
    start: float


class LaneBuffer(list[object]):
    """Rows of one thread in one compute, flat: key, start, stop, and the measures (`MEASURED`)."""

    __slots__ = ("folded", "key", "open")
    WIDTH = 3 + len(MEASURED)

    def __init__(self, key: LaneKey) -> None:
        self.key = key
        self.open: OpenTask | None = None
        """The task that is being run right now."""
        self.folded: tuple[object, float] | None = None
        """The key and start of the last row that was read."""

    def running(self) -> tuple[object, float] | None:
        """Return the key and start of the task that is being run right now."""
        task = self.open
        found = None if task is None else (task.key, task.start)
        return found if self.open is task else None


@dataclass(frozen=True, slots=True, eq=False)
class ReportedTasks:
    """Tasks that a cluster's workers finished, whose lanes may be thousands."""

    keys: list[object]
    lanes: list[LaneKey]
    start: NDArray[np.float64]
    stop: NDArray[np.float64]
    measured: Mapping[str, NDArray[np.float64]]

    def __len__(self) -> int:
        return len(self.keys)


@dataclass(frozen=True, slots=True)
class FailedTask:
    """A task that raised."""

    key: object
    lane: LaneKey
    start: float
    stop: float
    cpu: float
    interrupted: bool
    error: str


@dataclass(frozen=True, slots=True)
class UnseenTask:
    """A task whose end no worker reported: only the scheduler saw it being submitted, and how it ended."""

    key: object
    start: float
    stop: float
    status: Unreported
    error: str | None
    """Its error, as the scheduler has it."""
    worker: str = ""
    """The address of the cluster's worker it was sent to."""
    worker_label: str = ""
    lane: LaneKey | None = None
    """Where its worker last reported it to run."""


@dataclass(frozen=True, slots=True)
class LaneActivity:
    """An activity of a cluster's worker for a task, besides computing it."""

    key: object
    lane: LaneKey
    kind: int
    start: float
    stop: float
    source: str = ""
    nbytes: float = math.nan


# ------------------------------------------------------------------------------------- reading

_MAX_LANES = 200


class UnknownLanes:
    """Puts tasks of unknown threads into lanes in which no two overlap."""

    def __init__(self, free_from: dict[str, list[float]] | None = None) -> None:
        self._free_from = free_from or {}

    def place(self, start: float, stop: float, worker: str = "", label: str = "") -> LaneKey:
        """Return the lane of a task; beyond 200 lanes of a worker all share the last."""
        free = self._free_from.setdefault(worker, [])
        lane = next((i for i, since in enumerate(free) if since <= start), len(free))
        free[lane : lane + 1] = [stop]
        number = 1 + min(lane, _MAX_LANES)
        if worker:
            return LaneKey(0, -number, label=f"{label}, thread unknown {number}", worker=worker)
        return LaneKey(os.getpid(), -number, label=f"worker unknown {number}")

    def copy(self) -> UnknownLanes:
        return UnknownLanes({worker: list(free) for worker, free in self._free_from.items()})


MAX_ROWS = 10_000
"""Most rows that are taken from one list at a time."""

_T = TypeVar("_T")
_Floats: TypeAlias = NDArray[np.float64]
_Rows: TypeAlias = tuple[list[object], NDArray[np.uint16], list[_Floats], NDArray[np.uint8]]


def take(rows: list[_T], width: int, limit: int = MAX_ROWS) -> list[_T]:
    """Remove and return up to `limit` whole rows from the front; safe while others append."""
    count = min(len(rows) // width, limit) * width
    taken = rows[:count]
    del rows[:count]
    return taken


class TakenRows:
    """A bounded number of rows from each of a run's lists, not in columns yet: their keys have no numbers."""

    def __init__(self, log: RunLog) -> None:
        self._log = log
        self._lanes = [
            (lane, flat) for lane in list(log.lanes.values()) if (flat := take(lane, LaneBuffer.WIDTH))
        ]
        for lane, flat in self._lanes:
            lane.folded = (flat[-LaneBuffer.WIDTH], cast("float", flat[1 - LaneBuffer.WIDTH]))
        self._remote = take(log.remote, RunLog.REMOTE_WIDTH)
        self._reported = _take_reported(log.reported)
        self._failed, self._unseen = take(log.failed, 1), take(log.unseen, 1)

    def block(
        self,
        numbers: Callable[[Sequence[object]], NDArray[np.int32]],
        lane_id: Callable[[LaneKey], int],
        unknown: UnknownLanes,
        origin: float,
    ) -> RowBlock | None:
        """Return the rows with tasks as numbers, and times counted from `origin`; None without rows."""
        parts = list(self._rows(lane_id, unknown))
        if not parts:
            return None
        keys, lanes, columns, flags = zip(*parts, strict=True)
        tasks = numbers(list(chain.from_iterable(keys)))
        start, stop, *values = (np.concatenate(column) for column in zip(*columns, strict=True))
        # Each is rounded, so that rounding makes no two overlap.
        start, stop = whole_ticks(start - origin), whole_ticks(stop - origin)
        duration = round_down_f4(np.maximum(stop - start, 0.0))
        measured = dict(zip(MEASURED, values, strict=True))
        measured["nbytes"] = possible_sizes(measured["nbytes"])
        # The CPU clock is read just outside of the other one, so it can be longer by a microsecond.
        measured["cpu_s"] = np.minimum(whole_ticks(measured["cpu_s"]).astype(np.float32), duration)
        stored = stored_measures(measured, len(tasks))
        return RowBlock(
            self._log.run, tasks, start, duration, np.concatenate(lanes), np.concatenate(flags), **stored
        )

    def errors(self) -> dict[object, str]:
        """Return the errors of tasks by their keys."""
        failed = {task.key: task.error for task in self._failed}
        return failed | {task.key: task.error for task in self._unseen if task.error is not None}

    def _rows(self, lane_id: Callable[[LaneKey], int], unknown: UnknownLanes) -> Iterator[_Rows]:
        """Yield keys, lanes, times and measures, and flags, by list."""
        for lane, flat in self._lanes:
            keys, *numbers = _columns(flat, LaneBuffer.WIDTH)
            lanes = np.full(len(keys), lane_id(lane.key), np.uint16)
            yield self._finished(keys, lanes, list(map(_floats, numbers)))
        if self._remote:
            keys, pids, threads, *numbers = _columns(self._remote, RunLog.REMOTE_WIDTH)
            ids = [lane_id(LaneKey(p, t)) for p, t in zip(pids, threads, strict=True)]  # type: ignore[arg-type]  # ints by construction
            yield self._finished(keys, np.array(ids, np.uint16), list(map(_floats, numbers)))
        for rows in self._reported:
            measured = _known_of(len(rows), **rows.measured)
            yield self._finished(
                rows.keys, _lane_ids(rows.lanes, lane_id), [rows.start, rows.stop, *measured]
            )
        if self._failed:
            lanes = np.array([lane_id(f.lane) for f in self._failed], np.uint16)
            flags = [INTERRUPTED if f.interrupted else ERRED for f in self._failed]
            cpu_s = _floats([f.cpu for f in self._failed])
            yield _ended(self._failed, lanes, flags, cpu_s=cpu_s)
        if self._unseen:
            ids = [
                lane_id(u.lane or unknown.place(u.start, u.stop, u.worker, u.worker_label))
                for u in self._unseen
            ]
            seen_by = flag_of("observed_by", "scheduler")
            flags = [flag_of("status", u.status) | seen_by for u in self._unseen]
            yield _ended(self._unseen, np.array(ids, np.uint16), flags)

    def _finished(self, keys: list[object], lanes: NDArray[np.uint16], numbers: list[_Floats]) -> _Rows:
        log = self._log
        if log.failed_keys:
            # With `rerun_exceptions_locally` Dask runs a failed task again; that is not a second task.
            first = np.array([key not in log.failed_keys for key in keys])
            keys = [key for key in keys if key not in log.failed_keys]
            lanes, numbers = lanes[first], [n[first] for n in numbers]
        # Pool threads go on after their compute has failed; the tasks that they end then were interrupted.
        end = np.inf if log.stop is None or log.status == "finished" else log.stop
        return keys, lanes, numbers, np.where(numbers[1] > end, INTERRUPTED, FINISHED).astype(np.uint8)


def _ended(
    ended: Sequence[FailedTask | UnseenTask], lanes: NDArray[np.uint16], flags: list[int], **known: _Floats
) -> _Rows:
    times = [_floats([e.start for e in ended]), _floats([e.stop for e in ended])]
    numbers = [*times, *_known_of(len(ended), **known)]
    return [e.key for e in ended], lanes, numbers, np.array(flags, np.uint8)


def _take_reported(batches: list[ReportedTasks]) -> list[ReportedTasks]:
    """Remove and return batches from the front: one, and those after it while they are few rows in all."""
    n_rows = np.cumsum([len(batch) for batch in batches])
    count = max(int(np.searchsorted(n_rows, MAX_ROWS, side="right")), 1)
    taken = batches[:count]
    del batches[:count]
    return taken


def n_takes(batches: Sequence[ReportedTasks]) -> float:
    """Return an upper bound of the number of reads of these batches: two in a row are many rows."""
    return 2 * sum(map(len, batches)) / MAX_ROWS


def _lane_ids(lanes: list[LaneKey], lane_id: Callable[[LaneKey], int]) -> NDArray[np.uint16]:
    # Few objects represent many lanes, and comparing lanes takes ten times as long as their identities.
    ids = {id(lane): lane for lane in lanes}
    known = {identity: lane_id(lane) for identity, lane in ids.items()}
    return np.array([known[id(lane)] for lane in lanes], np.uint16)


def _columns(flat: list[object], width: int) -> list[list[object]]:
    return [flat[place::width] for place in range(width)]


def _known_of(n: int, **known: _Floats) -> list[_Floats]:
    """Return all measures of `n` tasks, NaN where nothing is known."""
    return [known.get(name, np.full(n, np.nan)) for name in MEASURED]


def _floats(values: Sequence[object]) -> _Floats:
    try:
        return np.fromiter(values, np.float64, len(values))
    except (TypeError, ValueError, OverflowError):
        # A function that the user has given to `dask.sizeof` returned something else than a size.
        return np.array([_float(value) for value in values], np.float64)


def _float(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]  # whatever it is
    except (TypeError, ValueError, OverflowError):
        return math.nan
